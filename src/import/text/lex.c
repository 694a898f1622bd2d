/* Tokens of the text IR: what lex.h promises, whatever the bytes. */
#include "import/text/lex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/number.h"

bool tw_lex_fail_at(tw_lexer *lexer, const tw_token *at, tw_code code, const char *format, ...)
{
    char message[sizeof lexer->diag->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (lexer->diag->code == TW_CODE_OK) {
        lexer->diag->line = at->line;
        lexer->diag->column = at->column;
    }
    return tw_fail(lexer->diag, code, NULL, NULL, "%s", message);
}

bool tw_lex_expected(tw_lexer *lexer, const char *what)
{
    const tw_token *t = &lexer->token;
    if (t->kind == TW_TOKEN_END)
        return tw_lex_fail_at(lexer, t, TW_CODE_FAILED, "expected %s, found the end of the file",
                              what);
    const char *before = t->kind == TW_TOKEN_VALUE    ? "%"
                         : t->kind == TW_TOKEN_STRING ? "the string "
                                                      : "";
    return tw_lex_fail_at(lexer, t, TW_CODE_FAILED, "expected %s, found %s'%.40s'", what, before,
                          t->text);
}

/* ---- characters ---- */

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_word(int c)
{
    return is_letter(c) || is_digit(c) || c == '.';
}

static bool is_value(int c)
{
    return is_word(c) || c == '$' || c == '/' || c == ':' || c == '-';
}

static bool is_number(int c)
{
    return is_word(c) || c == '+' || c == '-';
}

static int peek(const tw_lexer *lexer, size_t ahead)
{
    return ahead < lexer->bytes - lexer->at ? (unsigned char)lexer->text[lexer->at + ahead] : -1;
}

static void skip_space(tw_lexer *lexer)
{
    for (int c; (c = peek(lexer, 0)) >= 0; lexer->at++) {
        if (c == '#') {
            while (peek(lexer, 1) >= 0 && peek(lexer, 1) != '\n')
                lexer->at++;
        } else if (c == '\n') {
            lexer->line++;
            lexer->line_start = lexer->at + 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

/* ---- tokens ---- */

static bool take_run(tw_lexer *lexer, tw_token_kind kind, bool (*belongs)(int))
{
    size_t n = 0;
    while (belongs(peek(lexer, n)))
        n++;
    lexer->token.kind = kind;
    lexer->token.text = tw_strndup(lexer->arena, lexer->text + lexer->at, n);
    lexer->at += n;
    return true;
}

static int hex_digit(int c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The character behind a backslash at `at`; -1 when there is none. Moves past it. */
static int take_escape(tw_lexer *lexer)
{
    int c = peek(lexer, 0);
    lexer->at++;
    switch (c) {
    case '"':
    case '\\': return c;
    case 'n': return '\n';
    case 't': return '\t';
    case 'x': break;
    default: return -1;
    }
    int high = hex_digit(peek(lexer, 0)), low = hex_digit(peek(lexer, 1));
    lexer->at += 2;
    return high < 0 || low < 0 || high + low == 0 ? -1 : high * 16 + low;
}

static bool take_string(tw_lexer *lexer, tw_token_kind kind)
{
    char *text = NULL;
    size_t n = 0, room = 0;
    lexer->at++;
    for (;;) {
        int c = peek(lexer, 0);
        if (c < 0 || c == '\n')
            return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                                  "the string does not end on its line; close it with '\"'");
        lexer->at++;
        if (c == '"')
            break;
        if (c == '\\' && (c = take_escape(lexer)) < 0)
            return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                                  "unknown escape in the string; use \\\" \\\\ \\n \\t or \\xHH "
                                  "(not \\x00)");
        if (c == 0)
            return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                                  "a string cannot hold a zero byte");
        if (n == room) {
            size_t larger = room ? room * 2 : 32;
            char *moved = tw_alloc(lexer->arena, larger + 1);
            if (n)
                memcpy(moved, text, n);
            text = moved;
            room = larger;
        }
        text[n++] = (char)c;
    }
    lexer->token.kind = kind;
    lexer->token.text = tw_strndup(lexer->arena, text ? text : "", n);
    return true;
}

static bool take_value(tw_lexer *lexer)
{
    lexer->at++;
    if (peek(lexer, 0) == '"') {
        if (!take_string(lexer, TW_TOKEN_VALUE))
            return false;
    } else {
        take_run(lexer, TW_TOKEN_VALUE, is_value);
    }
    return lexer->token.text[0] ||
           tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                          "a value needs a name behind '%%'; quote one with unusual characters: "
                          "%%\"any name\"");
}

static bool take_number(tw_lexer *lexer)
{
    /* A sign belongs to the number at its start and behind an exponent letter. */
    bool hex = false;
    size_t n = 1;
    for (int c, before = 0; is_number(c = peek(lexer, n)); n++) {
        before = peek(lexer, n - 1);
        hex = hex || c == 'x' || c == 'X';
        bool exponent = hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
        if ((c == '+' || c == '-') && !exponent)
            break;
    }
    if (n >= sizeof lexer->number)
        return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                              "the number has more than %zu characters", sizeof lexer->number - 1);
    memcpy(lexer->number, lexer->text + lexer->at, n);
    lexer->number[n] = 0;
    lexer->token.kind = TW_TOKEN_NUMBER;
    lexer->token.text = lexer->number;
    lexer->at += n;
    return true;
}

bool tw_lex_next(tw_lexer *lexer)
{
    skip_space(lexer);
    lexer->token =
        (tw_token){TW_TOKEN_END, "", lexer->line, (int)(lexer->at - lexer->line_start) + 1};
    int c = peek(lexer, 0);
    if (c < 0)
        return true;
    if (c == '%')
        return take_value(lexer);
    if (c == '"')
        return take_string(lexer, TW_TOKEN_STRING);
    if (is_letter(c))
        return take_run(lexer, TW_TOKEN_WORD, is_word);
    if (is_digit(c) || c == '-' || c == '+' || c == '.')
        return take_number(lexer);
    static const char marks[][2] = {"{", "}", "(", ")", "[", "]", ",", ":", "="};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (c != marks[i][0])
            continue;
        lexer->token.kind = TW_TOKEN_MARK;
        lexer->token.text = marks[i];
        lexer->at++;
        return true;
    }
    return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                          "the character 0x%02x means nothing here", (unsigned)c);
}

bool tw_lex_start(tw_lexer *lexer, tw_arena *arena, const char *text, size_t bytes,
                  const char *path, tw_diag *diag)
{
    *lexer = (tw_lexer){.arena = arena,
                        .text = text,
                        .bytes = bytes,
                        .line = 1,
                        .path = path,
                        .diag = diag,
                        .token = {TW_TOKEN_END, "", 1, 1}};
    if (bytes > INT32_MAX)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "the text is larger than 2 GB; keep large constants in .npy files");
    return tw_lex_next(lexer);
}

/* ---- taking what is expected ---- */

bool tw_lex_is_word(const tw_lexer *lexer, const char *word)
{
    return lexer->token.kind == TW_TOKEN_WORD && strcmp(lexer->token.text, word) == 0;
}

bool tw_lex_is_mark(const tw_lexer *lexer, char mark)
{
    return lexer->token.kind == TW_TOKEN_MARK && lexer->token.text[0] == mark;
}

bool tw_lex_accept(tw_lexer *lexer, char mark, bool *taken)
{
    *taken = tw_lex_is_mark(lexer, mark);
    return !*taken || tw_lex_next(lexer);
}

bool tw_lex_mark(tw_lexer *lexer, char mark)
{
    const char what[] = {'\'', mark, '\'', 0};
    return tw_lex_is_mark(lexer, mark) ? tw_lex_next(lexer) : tw_lex_expected(lexer, what);
}

bool tw_lex_word(tw_lexer *lexer, const char *word)
{
    char what[48];
    snprintf(what, sizeof what, "'%s'", word);
    return tw_lex_is_word(lexer, word) ? tw_lex_next(lexer) : tw_lex_expected(lexer, what);
}

bool tw_lex_text(tw_lexer *lexer, tw_token_kind kind, const char *what, const char **text)
{
    if (lexer->token.kind != kind)
        return tw_lex_expected(lexer, what);
    *text = lexer->token.text;
    return tw_lex_next(lexer);
}

/* ---- numbers ---- */

/* The text of the number at hand, which may be several tokens: nan ( BITS ). */
static bool number_text(tw_lexer *lexer, const char *form, char text[sizeof lexer->number])
{
    bool word = lexer->token.kind == TW_TOKEN_WORD;
    if (lexer->token.kind != TW_TOKEN_NUMBER &&
        !(word && strlen(lexer->token.text) < sizeof "false"))
        return tw_lex_expected(lexer, form);
    bool nan = tw_lex_is_word(lexer, "nan"), bits = false;
    snprintf(text, sizeof lexer->number, "%s", lexer->token.text);
    if (!tw_lex_next(lexer) || (nan && !tw_lex_accept(lexer, '(', &bits)))
        return false;
    if (!bits)
        return true;
    if (lexer->token.kind != TW_TOKEN_NUMBER || strlen(lexer->token.text) > 24)
        return tw_lex_expected(lexer, "the bits of the NaN, such as 0x7fc00001");
    snprintf(text, sizeof lexer->number, "nan(%.24s)", lexer->token.text);
    return tw_lex_next(lexer) && tw_lex_mark(lexer, ')');
}

bool tw_lex_number(tw_lexer *lexer, tw_dtype dtype, void *element)
{
    char text[sizeof lexer->number];
    tw_token at = lexer->token;
    if (!number_text(lexer, tw_number_form(dtype), text))
        return false;
    switch (tw_number_parse(dtype, text, element)) {
    case TW_NUMBER_OK: return true;
    case TW_NUMBER_RANGE:
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED, "%.60s is out of the range of %s", text,
                              tw_dtype_name(dtype));
    default:
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED, "expected %s, found '%.60s'",
                              tw_number_form(dtype), text);
    }
}

bool tw_lex_int32(tw_lexer *lexer, int32_t *number)
{
    return tw_lex_number(lexer, TW_S32, number);
}

bool tw_lex_double(tw_lexer *lexer, double *number)
{
    return tw_lex_number(lexer, TW_F64, number);
}
