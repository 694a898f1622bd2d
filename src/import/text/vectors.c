/* Test vectors: cases, each a graph with what goes in and what must come out. */
#include "import/text/vectors.h"

#include <stdio.h>
#include <string.h>

#include "base/locale.h"
#include "import/text/parse.h"

/* { "oracle" STRING | "rtol" NUMBER | "atol" NUMBER | "ulp" INT } */
static bool parse_options(tw_lexer *lexer, tw_vector_case *one)
{
    for (;;) {
        int32_t ulp;
        bool rtol = tw_lex_is_word(lexer, "rtol");
        if (tw_lex_is_word(lexer, "oracle")) {
            if (!tw_lex_next(lexer) ||
                !tw_lex_text(lexer, TW_TOKEN_STRING, "the oracle's name and version in quotes",
                             &one->oracle))
                return false;
        } else if (rtol || tw_lex_is_word(lexer, "atol")) {
            tw_token at = lexer->token;
            double *bound = rtol ? &one->rtol : &one->atol;
            if (!tw_lex_next(lexer) || !tw_lex_double(lexer, bound))
                return false;
            if (!(*bound >= 0 && *bound <= 1))
                return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED, "a tolerance lies from 0 to 1");
        } else if (tw_lex_is_word(lexer, "ulp")) {
            if (!tw_lex_next(lexer) || !tw_lex_int32(lexer, &ulp))
                return false;
            one->ulp = ulp;
        } else {
            return true;
        }
    }
}

/* VALUE "=" data, of one of the `count` values. */
static bool parse_vector(tw_text_parser *parser, tw_value *const *values, int count,
                         const char *what, tw_vector *vectors)
{
    tw_lexer *lexer = &parser->lexer;
    const char *name;
    bool found = false;
    tw_token at;
    if (!tw_lex_next(lexer))
        return false;
    at = lexer->token;
    if (!tw_lex_text(lexer, TW_TOKEN_VALUE, what, &name) || !tw_lex_mark(lexer, '='))
        return false;
    const tw_value *value = tw_map_get(&parser->values, name);
    const void *data;
    for (int i = 0; i < count && !found; i++)
        found = values[i] == value;
    if (!found)
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED, "%%%.60s is not %s of the graph", name,
                              what);
    if (!tw_text_data(parser, &value->shape, &data))
        return false;
    for (int i = 0; i < count; i++)
        if (values[i] == value)
            vectors[i] = (tw_vector){value, data};
    return true;
}

static bool check_complete(tw_lexer *lexer, const tw_token *at, tw_value *const *values, int count,
                           const tw_vector *vectors, const char *what)
{
    for (int i = 0; i < count; i++)
        if (!vectors[i].value)
            return tw_lex_fail_at(lexer, at, TW_CODE_FAILED, "%%%.60s has no %s in this case",
                                  values[i]->name, what);
    return true;
}

static bool parse_case(tw_text_parser *parser, tw_vector_case *one)
{
    tw_lexer *lexer = &parser->lexer;
    tw_token at = lexer->token;
    *one = (tw_vector_case){.line = at.line, .rtol = 1e-3, .atol = 1e-7};
    if (!tw_lex_word(lexer, "case") ||
        !tw_lex_text(lexer, TW_TOKEN_STRING, "the case's name in quotes", &one->name) ||
        !parse_options(lexer, one))
        return false;
    if (!one->oracle)
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                              "the case names no oracle; add: oracle \"NAME VERSION\"");
    if (!tw_text_graph(parser))
        return false;
    tw_graph *graph = one->graph = parser->graph;
    one->feeds = tw_alloc_array(lexer->arena, (size_t)graph->input_count, sizeof *one->feeds);
    one->expects = tw_alloc_array(lexer->arena, (size_t)graph->output_count, sizeof *one->expects);
    while (tw_lex_is_word(lexer, "feed"))
        if (!parse_vector(parser, graph->inputs, graph->input_count, "an input", one->feeds))
            return false;
    while (tw_lex_is_word(lexer, "expect"))
        if (!parse_vector(parser, graph->outputs, graph->output_count, "an output", one->expects))
            return false;
    return check_complete(lexer, &at, graph->inputs, graph->input_count, one->feeds, "feed") &&
           check_complete(lexer, &at, graph->outputs, graph->output_count, one->expects, "expect");
}

static bool parse_cases(tw_text_parser *parser, tw_vector_file *file)
{
    tw_lexer *lexer = &parser->lexer;
    int capacity = 0;
    while (lexer->token.kind != TW_TOKEN_END) {
        tw_grow(lexer->arena, &file->cases, file->count, &capacity, sizeof *file->cases);
        if (!parse_case(parser, &file->cases[file->count++]))
            return false;
    }
    return true;
}

bool tw_vectors_parse(tw_arena *arena, const char *text, size_t bytes, const char *path,
                      tw_vector_file *file, tw_diag *diag)
{
    tw_text_parser *parser = tw_alloc(arena, sizeof *parser);
    tw_locale locale = tw_locale_enter();
    *file = (tw_vector_file){NULL, 0};
    if (path && !diag->file[0])
        snprintf(diag->file, sizeof diag->file, "%s", path);
    bool ok =
        tw_lex_start(&parser->lexer, arena, text, bytes, path, diag) && parse_cases(parser, file);
    tw_locale_leave(locale);
    return ok;
}
