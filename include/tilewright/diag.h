/* What went wrong, as a value. A function that can fail returns bool and, on false, has left one
 * message in the tw_diag it was given. Start with `tw_diag diag = {0}`. */
#ifndef TILEWRIGHT_DIAG_H
#define TILEWRIGHT_DIAG_H

/* The exit status of the command line. */
typedef enum tw_code {
    TW_CODE_OK = 0,
    TW_CODE_FAILED = 1, /* wrong result, does not fit, bad file */
    TW_CODE_USAGE = 2,
    TW_CODE_UNSUPPORTED = 3 /* operator, attribute or type */
} tw_code;

typedef struct tw_diag {
    tw_code code;
    char file[512];
    int line, column;       /* in the file, from 1, where it is a text; 0: unknown */
    char node[256];         /* node name, or its first output's name; may be empty */
    char operator_name[64]; /* as the model spells it; may be empty */
    char message[1024];     /* what, and what to do */
    /* Called with each warning when not null: "file: node (Op): text". */
    void (*warn)(void *user, const char *text);
    void *warn_user;
    int warnings;
} tw_diag;

#endif
