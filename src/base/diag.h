/* Errors are values: a function that can fail returns bool and, on false, has left one message in
 * the tw_diag it was given. The first failure stays; warnings accumulate beside it. */
#ifndef TW_BASE_DIAG_H
#define TW_BASE_DIAG_H

#include <stdbool.h>

/* The exit status of the command line. */
typedef enum tw_code {
    TW_CODE_OK = 0,
    TW_CODE_FAILED = 1,      /* wrong result, does not fit, bad file */
    TW_CODE_USAGE = 2,
    TW_CODE_UNSUPPORTED = 3  /* operator, attribute or type */
} tw_code;

typedef struct tw_diag {
    tw_code code;
    char file[512];
    char node[256];          /* node name, or its first output's name; may be empty */
    char operator_name[64];  /* as the model spells it; may be empty */
    char message[1024];      /* what, and what to do */
    /* Called with each warning when not null: "file: node (Op): text". */
    void (*warn)(void *user, const char *text);
    void *warn_user;
    int warnings;
} tw_diag;

/* Record a failure and return false. node and op may be null. */
bool tw_fail(tw_diag *diag, tw_code code, const char *node, const char *op, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void tw_warn(tw_diag *diag, const char *node, const char *op, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "FILE: NODE (OPERATOR): message" with the parts that are known, into `text`. Control characters
 * of hostile names are shown as '?'. */
void tw_diag_text(const tw_diag *diag, char *text, unsigned bytes);

#endif
