/* Numbers are read and written with a decimal point, whatever locale the host program has set. */
#ifndef TW_BASE_LOCALE_H
#define TW_BASE_LOCALE_H

typedef struct tw_locale {
    void *plain, *before;
} tw_locale;

tw_locale tw_locale_enter(void);
void tw_locale_leave(tw_locale locale);

#endif
