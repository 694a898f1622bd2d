/* Tokens of the text IR. In: bytes (any bytes). Out: one token at a time, with its place. */
#ifndef TW_IMPORT_TEXT_LEX_H
#define TW_IMPORT_TEXT_LEX_H

#include "graph/graph.h"

typedef enum tw_token_kind {
    TW_TOKEN_END,
    TW_TOKEN_WORD,   /* name, keyword, element type: letters, digits, `_`, `.` */
    TW_TOKEN_VALUE,  /* %name; text without the percent sign */
    TW_TOKEN_STRING, /* text decoded */
    TW_TOKEN_NUMBER, /* as it stands in the file, not yet converted */
    TW_TOKEN_MARK    /* one of { } ( ) [ ] , : = */
} tw_token_kind;

typedef struct tw_token {
    tw_token_kind kind;
    const char *text; /* zero-terminated; a number's lives until the next token is read */
    int line, column; /* from 1; the column counts bytes */
} tw_token;

typedef struct tw_lexer {
    tw_arena *arena;
    const char *text;
    size_t bytes, at, line_start;
    int line;
    const char *path; /* of the file, or null */
    tw_diag *diag;
    tw_token token;   /* the one not yet taken */
    char number[136]; /* its text when it is a number */
} tw_lexer;

/* Sets up the lexer and reads the first token. */
bool tw_lex_start(tw_lexer *lexer, tw_arena *arena, const char *text, size_t bytes,
                  const char *path, tw_diag *diag);

/* Drop the current token and read the next. */
bool tw_lex_next(tw_lexer *lexer);

/* Is the current token this word, or this mark? Nothing is taken. */
bool tw_lex_is_word(const tw_lexer *lexer, const char *word);
bool tw_lex_is_mark(const tw_lexer *lexer, char mark);

/* Take the mark if it is there. */
bool tw_lex_accept(tw_lexer *lexer, char mark, bool *taken);

/* Take it or fail. `what` ends the sentence "expected ...". */
bool tw_lex_mark(tw_lexer *lexer, char mark);
bool tw_lex_word(tw_lexer *lexer, const char *word);
bool tw_lex_text(tw_lexer *lexer, tw_token_kind kind, const char *what, const char **text);

/* Record a failure at a token. */
bool tw_lex_fail_at(tw_lexer *lexer, const tw_token *at, tw_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "expected WHAT, found TOKEN". */
bool tw_lex_expected(tw_lexer *lexer, const char *what);

/* Take a number and store it as one element of the type; the number must be in its range. */
bool tw_lex_number(tw_lexer *lexer, tw_dtype dtype, void *element);
bool tw_lex_int32(tw_lexer *lexer, int32_t *number);
bool tw_lex_double(tw_lexer *lexer, double *number);

#endif
