/* Errors are values: a function that can fail returns bool and, on false, has left one message in
 * the tw_diag it was given (tilewright/diag.h). The first failure stays; warnings accumulate beside
 * it. */
#ifndef TW_BASE_DIAG_H
#define TW_BASE_DIAG_H

#include <stdbool.h>

#include "tilewright/diag.h"

/* Record a failure and return false. node and op may be null. */
bool tw_fail(tw_diag *diag, tw_code code, const char *node, const char *op, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same, with a result that the compiler knows: where every failing path of a function ends in
 * tw_fail, it sees that results are set whenever true comes back. */
static inline bool tw_false(bool recorded)
{
    (void)recorded;
    return false;
}
#define tw_fail(...) tw_false(tw_fail(__VA_ARGS__))

/* More behind the message of a failure, as far as there is room. */
void tw_fail_more(tw_diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where a failure that names no node happened. */
void tw_fail_within(tw_diag *diag, const char *node, const char *op);

void tw_warn(tw_diag *diag, const char *node, const char *op, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "FILE:LINE:COLUMN: NODE (OPERATOR): message", the parts that are known, into `text`. Control
 * characters of hostile names are shown as '?'. */
void tw_diag_text(const tw_diag *diag, char *text, unsigned bytes);

#endif
