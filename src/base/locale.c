/* The "C" locale for the calling thread, for as long as text is read or written. */
#define _POSIX_C_SOURCE 200809L
#include "base/locale.h"

#include <locale.h>

tw_locale tw_locale_enter(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (tw_locale){plain, plain ? uselocale(plain) : NULL};
}

void tw_locale_leave(tw_locale locale)
{
    if (!locale.plain)
        return;
    uselocale(locale.before);
    freelocale(locale.plain);
}
