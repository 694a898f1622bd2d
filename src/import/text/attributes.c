/* Attributes of the text IR: read by the operator's own table, or as written for foreign ones. */
#include "import/text/parse.h"

#include <stdio.h>
#include <string.h>

/* "a|b|c: meaning": the position of the name, or -1. */
static int enum_value(const tw_attribute *attribute, const char *name)
{
    size_t n = strlen(name);
    int value = 0;
    for (const char *at = attribute->meaning;; value++) {
        size_t m = strcspn(at, "|: ");
        if (m == n && memcmp(at, name, n) == 0)
            return value;
        at += m;
        if (*at++ != '|')
            return -1;
    }
}

static bool parse_enum(tw_lexer *lexer, const tw_attribute *attribute, int32_t *value)
{
    char what[200];
    if (lexer->token.kind == TW_TOKEN_NUMBER)
        return tw_lex_int32(lexer, value);
    *value = lexer->token.kind == TW_TOKEN_WORD ? enum_value(attribute, lexer->token.text) : -1;
    if (*value >= 0)
        return tw_lex_next(lexer);
    snprintf(what, sizeof what, "one of %.*s", (int)strcspn(attribute->meaning, ": "),
             attribute->meaning);
    return tw_lex_expected(lexer, what);
}

static bool parse_dtype(tw_lexer *lexer, int32_t *value)
{
    *value = lexer->token.kind == TW_TOKEN_WORD ? (int32_t)tw_dtype_from_name(lexer->token.text)
                                                : (int32_t)TW_NO_DTYPE;
    return *value == (int32_t)TW_NO_DTYPE
               ? tw_lex_expected(lexer, "an element type such as f32 or s8")
               : tw_lex_next(lexer);
}

/* A list into a structure of a count and up to TW_MAX_RANK elements of four bytes. */
static bool parse_list(tw_lexer *lexer, const tw_attribute *attribute, tw_dtype dtype,
                       int32_t *count, char *elements)
{
    bool more;
    *count = 0;
    if (!tw_lex_mark(lexer, '['))
        return false;
    more = !tw_lex_is_mark(lexer, ']');
    while (more) {
        if (*count == TW_MAX_RANK)
            return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                                  "%s holds more than %d numbers", attribute->name, TW_MAX_RANK);
        if (!tw_lex_number(lexer, dtype, elements + 4 * (*count)++) ||
            !tw_lex_accept(lexer, ',', &more))
            return false;
    }
    return tw_lex_mark(lexer, ']');
}

static bool parse_value(tw_lexer *lexer, const tw_attribute *attribute, char *field)
{
    int32_t word = 0;
    float real = 0;
    tw_ints ints = {0, {0}};
    tw_floats floats = {0, {0}};
    switch (attribute->kind) {
    case TW_ATTRIBUTE_INT:
    case TW_ATTRIBUTE_BOOL: return tw_lex_int32(lexer, &word) && memcpy(field, &word, sizeof word);
    case TW_ATTRIBUTE_ENUM:
        return parse_enum(lexer, attribute, &word) && memcpy(field, &word, sizeof word);
    case TW_ATTRIBUTE_DTYPE: return parse_dtype(lexer, &word) && memcpy(field, &word, sizeof word);
    case TW_ATTRIBUTE_FLOAT:
        return tw_lex_number(lexer, TW_F32, &real) && memcpy(field, &real, sizeof real);
    case TW_ATTRIBUTE_INTS:
        return parse_list(lexer, attribute, TW_S32, &ints.count, (char *)ints.v) &&
               memcpy(field, &ints, sizeof ints);
    case TW_ATTRIBUTE_FLOATS:
        return parse_list(lexer, attribute, TW_F32, &floats.count, (char *)floats.v) &&
               memcpy(field, &floats, sizeof floats);
    }
    return false;
}

static void attribute_names(const tw_opdef *op, char *text, size_t bytes)
{
    size_t at = 0;
    snprintf(text, bytes, "no attributes");
    for (int i = 0; i < op->attribute_count && at < bytes; i++)
        at +=
            (size_t)snprintf(text + at, bytes - at, "%s%s", at ? ", " : "", op->attributes[i].name);
}

static bool parse_named(tw_lexer *lexer, const tw_opdef *op, void *attributes, uint64_t *seen)
{
    tw_token at = lexer->token;
    const char *name;
    char known[400];
    if (!tw_lex_text(lexer, TW_TOKEN_WORD, "the name of an attribute", &name))
        return false;
    int i = 0;
    while (i < op->attribute_count && strcmp(op->attributes[i].name, name) != 0)
        i++;
    if (i == op->attribute_count) {
        attribute_names(op, known, sizeof known);
        return tw_lex_fail_at(lexer, &at, TW_CODE_UNSUPPORTED,
                              "%s has no attribute %.60s; it has %s", op->name, name, known);
    }
    if (i < 64 && (*seen >> i & 1))
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED, "%s is given twice", name);
    *seen |= i < 64 ? UINT64_C(1) << i : 0;
    if (tw_lex_mark(lexer, '=') &&
        parse_value(lexer, &op->attributes[i], (char *)attributes + op->attributes[i].offset))
        return true;
    tw_fail_more(lexer->diag, ", in the attribute %s", name);
    return false;
}

bool tw_text_attributes(tw_text_parser *parser, const tw_opdef *op, void *attributes)
{
    tw_lexer *lexer = &parser->lexer;
    bool more;
    uint64_t seen = 0;
    if (!tw_lex_mark(lexer, '{'))
        return false;
    more = !tw_lex_is_mark(lexer, '}');
    while (more)
        if (!parse_named(lexer, op, attributes, &seen) || !tw_lex_accept(lexer, ',', &more))
            return false;
    return tw_lex_mark(lexer, '}');
}

/* ---- foreign ---- */

static bool is_text(const tw_lexer *lexer)
{
    if (lexer->token.kind == TW_TOKEN_STRING)
        return true;
    return lexer->token.kind == TW_TOKEN_WORD && !tw_lex_is_word(lexer, "true") &&
           !tw_lex_is_word(lexer, "false") && !tw_lex_is_word(lexer, "inf") &&
           !tw_lex_is_word(lexer, "nan");
}

/* What an attribute is written as, while it grows. */
typedef struct tw_written {
    double *numbers;
    const char **texts;
    int count, capacity;
} tw_written;

/* One number or text; all of a list are of one kind. */
static bool parse_item(tw_lexer *lexer, const char *name, tw_written *w)
{
    const bool text = is_text(lexer);
    if (w->count && text != !w->numbers)
        return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                              "%.60s holds both numbers and words", name);
    if (text) {
        tw_grow(lexer->arena, &w->texts, w->count, &w->capacity, sizeof *w->texts);
        w->texts[w->count++] = lexer->token.text;
        return tw_lex_next(lexer);
    }
    tw_grow(lexer->arena, &w->numbers, w->count, &w->capacity, sizeof *w->numbers);
    return tw_lex_double(lexer, &w->numbers[w->count++]);
}

static bool parse_foreign(tw_text_parser *parser, tw_foreign_attribute *attribute)
{
    static const double none[1] = {0};
    tw_lexer *lexer = &parser->lexer;
    tw_written w = {NULL, NULL, 0, 0};
    bool list, more;
    if (lexer->token.kind == TW_TOKEN_VALUE) {
        attribute->count = 1;
        return tw_text_value(parser, &attribute->value);
    }
    if (!tw_lex_accept(lexer, '[', &list))
        return false;
    more = !list || !tw_lex_is_mark(lexer, ']');
    while (more) {
        more = false;
        if (!parse_item(lexer, attribute->name, &w) || (list && !tw_lex_accept(lexer, ',', &more)))
            return false;
    }
    attribute->count = w.count;
    attribute->texts = w.texts;
    attribute->numbers = w.count ? w.numbers : none;
    return !list || tw_lex_mark(lexer, ']');
}

bool tw_text_foreign_attributes(tw_text_parser *parser, tw_foreign_attribute **attributes,
                                int *count)
{
    tw_lexer *lexer = &parser->lexer;
    int capacity = 0;
    bool more;
    *attributes = NULL;
    *count = 0;
    if (!tw_lex_mark(lexer, '{'))
        return false;
    more = !tw_lex_is_mark(lexer, '}');
    while (more) {
        tw_grow(lexer->arena, attributes, *count, &capacity, sizeof **attributes);
        tw_foreign_attribute *attribute = &(*attributes)[(*count)++];
        *attribute = (tw_foreign_attribute){NULL, NULL, NULL, NULL, 0};
        if (!tw_lex_text(lexer, TW_TOKEN_WORD, "the name of an attribute", &attribute->name) ||
            !tw_lex_mark(lexer, '=') || !parse_foreign(parser, attribute) ||
            !tw_lex_accept(lexer, ',', &more))
            return false;
    }
    return tw_lex_mark(lexer, '}');
}
