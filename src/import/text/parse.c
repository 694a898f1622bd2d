/* Statements of the text IR. In: tokens. Out: a checked graph, or one message with its place. */
#include "import/text/parse.h"

#include <stdio.h>
#include <string.h>

#include "base/locale.h"
#include "import/text/text.h"

/* ---- values ---- */

static bool take_new_name(tw_text_parser *parser, const char **name)
{
    tw_lexer *lexer = &parser->lexer;
    tw_token at = lexer->token;
    if (!tw_lex_text(lexer, TW_TOKEN_VALUE, "a value such as %x", name))
        return false;
    return !tw_map_get(&parser->values, *name) ||
           tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                          "%%%.80s is defined twice; give each value its own name", *name);
}

bool tw_text_value(tw_text_parser *parser, tw_value **value)
{
    tw_lexer *lexer = &parser->lexer;
    tw_token at = lexer->token;
    const char *name;
    if (!tw_lex_text(lexer, TW_TOKEN_VALUE, "a value such as %x", &name))
        return false;
    *value = tw_map_get(&parser->values, name);
    return *value ||
           tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                          "%%%.80s is not defined above; define it before it is read", name);
}

static bool define(tw_text_parser *parser, const tw_token *at, const char *name, tw_value *value)
{
    if (strcmp(value->name, name) != 0)
        return tw_lex_fail_at(&parser->lexer, at, TW_CODE_FAILED,
                              "%%%.80s cannot be used as a name", name);
    tw_map_put(parser->lexer.arena, &parser->values, value->name, value);
    return true;
}

static bool parse_input(tw_text_parser *parser)
{
    tw_token at = parser->lexer.token;
    const char *name;
    tw_shape shape;
    tw_quant quant;
    if (!tw_lex_next(&parser->lexer) || !take_new_name(parser, &name) ||
        !tw_text_type(parser, &shape, &quant))
        return false;
    tw_value *value = tw_graph_input(parser->graph, name, shape);
    value->quant = quant;
    return define(parser, &at, name, value);
}

static bool parse_const(tw_text_parser *parser)
{
    tw_token at = parser->lexer.token;
    const char *name;
    tw_shape shape;
    tw_quant quant;
    const void *data;
    if (!tw_lex_next(&parser->lexer) || !take_new_name(parser, &name) ||
        !tw_text_type(parser, &shape, &quant) || !tw_lex_mark(&parser->lexer, '=') ||
        !tw_text_data(parser, &shape, &data))
        return false;
    tw_value *value = tw_graph_constant(parser->graph, name, shape, data);
    value->quant = quant;
    return define(parser, &at, name, value);
}

/* state %name type [= data]: without data it starts as zero bytes. */
static bool parse_state(tw_text_parser *parser)
{
    tw_token at = parser->lexer.token;
    const char *name;
    tw_shape shape;
    tw_quant quant;
    const void *initial = NULL;
    bool given;
    if (!tw_lex_next(&parser->lexer) || !take_new_name(parser, &name) ||
        !tw_text_type(parser, &shape, &quant) || !tw_lex_accept(&parser->lexer, '=', &given) ||
        (given && !tw_text_data(parser, &shape, &initial)))
        return false;
    tw_value *value = tw_graph_state(parser->graph, name, shape, initial);
    value->quant = quant;
    return define(parser, &at, name, value);
}

/* next %state = %value */
static bool parse_next(tw_text_parser *parser)
{
    tw_token at = parser->lexer.token;
    tw_value *current, *next;
    if (!tw_lex_next(&parser->lexer) || !tw_text_value(parser, &current) ||
        !tw_lex_mark(&parser->lexer, '=') || !tw_text_value(parser, &next))
        return false;
    if (tw_graph_state_next(parser->graph, current, next, parser->lexer.diag))
        return true;
    parser->lexer.diag->line = at.line;
    parser->lexer.diag->column = at.column;
    return false;
}

static bool parse_output(tw_text_parser *parser)
{
    tw_value *value;
    if (!tw_lex_next(&parser->lexer) || !tw_text_value(parser, &value))
        return false;
    tw_graph_output(parser->graph, value);
    return true;
}

/* ---- nodes ---- */

/* A node as it is read. */
typedef struct tw_draft {
    tw_token at;
    const char *operator_name, *node;
    const char *out_name[TW_MAX_NODE_OPERANDS]; /* null: `_` */
    tw_shape type[TW_MAX_NODE_OPERANDS];
    tw_quant quant[TW_MAX_NODE_OPERANDS];
    bool typed[TW_MAX_NODE_OPERANDS];
    int out_count;
    tw_value *in[TW_MAX_NODE_OPERANDS];
    int in_count;
    tw_clamp clamp;
    bool clamped;
} tw_draft;

static bool parse_result(tw_text_parser *parser, tw_draft *draft)
{
    tw_lexer *lexer = &parser->lexer;
    int i = draft->out_count++;
    if (tw_lex_is_word(lexer, "_"))
        return tw_lex_next(lexer);
    tw_token at = lexer->token;
    if (!take_new_name(parser, &draft->out_name[i]))
        return false;
    for (int k = 0; k < i; k++)
        if (draft->out_name[k] && strcmp(draft->out_name[k], draft->out_name[i]) == 0)
            return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                                  "%%%.80s is defined twice; give each value its own name",
                                  draft->out_name[i]);
    draft->typed[i] = tw_lex_is_mark(lexer, ':');
    return !draft->typed[i] || tw_text_type(parser, &draft->type[i], &draft->quant[i]);
}

static bool parse_operand(tw_text_parser *parser, tw_draft *draft)
{
    if (tw_lex_is_word(&parser->lexer, "_")) {
        draft->in_count++;
        return tw_lex_next(&parser->lexer);
    }
    return tw_text_value(parser, &draft->in[draft->in_count++]);
}

/* item { "," item } */
static bool parse_items(tw_text_parser *parser, tw_draft *draft, const int *count,
                        bool (*item)(tw_text_parser *, tw_draft *))
{
    bool more = true;
    while (more) {
        if (*count == TW_MAX_NODE_OPERANDS)
            return tw_lex_fail_at(&parser->lexer, &parser->lexer.token, TW_CODE_UNSUPPORTED,
                                  "more than %d operands; split the node", TW_MAX_NODE_OPERANDS);
        if (!item(parser, draft) || !tw_lex_accept(&parser->lexer, ',', &more))
            return false;
    }
    return true;
}

/* results "=" NAME [STRING] "(" operands ")" */
static bool parse_head(tw_text_parser *parser, tw_draft *draft)
{
    tw_lexer *lexer = &parser->lexer;
    draft->at = lexer->token;
    if (!parse_items(parser, draft, &draft->out_count, parse_result) || !tw_lex_mark(lexer, '='))
        return false;
    draft->at = lexer->token;
    if (!tw_lex_text(lexer, TW_TOKEN_WORD, "an operator", &draft->operator_name))
        return false;
    for (int i = draft->out_count - 1; i >= 0; i--)
        if (draft->out_name[i])
            draft->node = draft->out_name[i];
    if (!draft->node)
        draft->node = draft->operator_name;
    if (lexer->token.kind == TW_TOKEN_STRING &&
        !tw_lex_text(lexer, TW_TOKEN_STRING, "the node's name", &draft->node))
        return false;
    if (!tw_lex_mark(lexer, '('))
        return false;
    if (tw_lex_is_mark(lexer, ')'))
        return tw_lex_next(lexer);
    return parse_items(parser, draft, &draft->in_count, parse_operand) && tw_lex_mark(lexer, ')');
}

static bool parse_clamp(tw_text_parser *parser, tw_draft *draft)
{
    tw_lexer *lexer = &parser->lexer;
    draft->clamped = tw_lex_is_word(lexer, "clamp");
    return !draft->clamped ||
           (tw_lex_next(lexer) && tw_lex_mark(lexer, '(') &&
            tw_lex_number(lexer, TW_F32, &draft->clamp.low) && tw_lex_mark(lexer, ',') &&
            tw_lex_number(lexer, TW_F32, &draft->clamp.high) && tw_lex_mark(lexer, ')'));
}

/* A failure inside the graph's own functions happened at this node. */
static bool fail_node(tw_text_parser *parser, const tw_draft *draft)
{
    tw_diag *diag = parser->lexer.diag;
    if (diag->line == 0) {
        diag->line = draft->at.line;
        diag->column = draft->at.column;
    }
    tw_fail_within(diag, draft->node, draft->operator_name);
    return false;
}

/* The same, of what the node's attributes led to: they stand behind `written`. */
static bool fail_attributes(tw_text_parser *parser, const tw_draft *draft, const char *written)
{
    const size_t bytes = written ? strcspn(written, "}") : 0;
    if (bytes)
        tw_fail_more(parser->lexer.diag, "; its attributes are %.*s",
                     (int)(bytes < 400 ? bytes : 400), written);
    return fail_node(parser, draft);
}

/* The type that was written is the one computed. */
static bool check_type(tw_text_parser *parser, const tw_draft *draft, int i, const tw_value *value)
{
    char want[96], have[96];
    if (!draft->typed[i] || tw_shape_equal(&draft->type[i], &value->shape))
        return true;
    tw_shape_text(&draft->type[i], have, sizeof have);
    tw_shape_text(&value->shape, want, sizeof want);
    return tw_fail(parser->lexer.diag, TW_CODE_FAILED, draft->node, draft->operator_name,
                   "the type of %%%.60s is written as %s but is %s", draft->out_name[i], have,
                   want);
}

static void forget_value(tw_graph *graph, const tw_value *value)
{
    int i = graph->value_count - 1;
    while (graph->values[i] != value)
        i--;
    graph->value_count--;
    memmove(&graph->values[i], &graph->values[i + 1],
            sizeof *graph->values * (size_t)(graph->value_count - i));
}

static bool finish_results(tw_text_parser *parser, const tw_draft *draft, tw_node *node)
{
    for (int i = 0; i < draft->out_count; i++) {
        tw_value *value = node->out[i];
        if (!draft->out_name[i]) {
            forget_value(parser->graph, value);
            node->out[i] = NULL;
            continue;
        }
        if (!check_type(parser, draft, i, value))
            return fail_node(parser, draft);
        if (draft->typed[i])
            value->quant = draft->quant[i];
        if (!define(parser, &draft->at, draft->out_name[i], value))
            return false;
    }
    return true;
}

/* The graphs under a node with bodies: "graph" STRING "{" ... "}" for each. */
static bool parse_bodies(tw_text_parser *parser, const tw_draft *draft, const tw_opdef *op,
                         tw_graph **body)
{
    tw_graph *around = parser->graph;
    const tw_builder builder = parser->builder;
    const tw_map values = parser->values;
    if (op->bodies && parser->depth == TW_MAX_DEPTH)
        return tw_lex_fail_at(&parser->lexer, &draft->at, TW_CODE_UNSUPPORTED,
                              "more than %d branches and loops inside each other", TW_MAX_DEPTH);
    parser->depth++;
    for (int i = 0; i < op->bodies; i++) {
        if (!tw_text_graph(parser))
            return false;
        body[i] = parser->graph;
    }
    parser->depth--;
    parser->graph = around;
    parser->builder = builder;
    parser->values = values;
    return true;
}

static bool parse_known(tw_text_parser *parser, tw_draft *draft, const tw_opdef *op)
{
    tw_lexer *lexer = &parser->lexer;
    void *attributes = NULL;
    const char *names[TW_MAX_NODE_OPERANDS];
    if (op->attribute_bytes) {
        attributes = tw_alloc(lexer->arena, op->attribute_bytes);
        tw_attributes_default(op, attributes);
    }
    const char *written = tw_lex_is_mark(lexer, '{') ? lexer->text + lexer->at : NULL;
    if (written && !tw_text_attributes(parser, op, attributes))
        return fail_node(parser, draft);
    tw_graph *body[TW_MAX_BODIES] = {NULL};
    if (!parse_clamp(parser, draft) || !parse_bodies(parser, draft, op, body))
        return false;
    for (int i = 0; i < draft->out_count; i++) /* a name no text is likely to hold */
        names[i] = draft->out_name[i] ? draft->out_name[i] : "\x02";
    tw_node *node = tw_graph_control(parser->graph, op, draft->node, draft->in, draft->in_count,
                                     draft->out_count, names, attributes, body, lexer->diag);
    if (!node)
        return fail_attributes(parser, draft, written);
    if (draft->clamped)
        node->clamp = draft->clamp;
    return finish_results(parser, draft, node);
}

static bool refuse_vocabulary(tw_text_parser *parser, const tw_draft *draft, size_t length)
{
    char known[200];
    tw_vocabulary_names(known, sizeof known);
    return tw_lex_fail_at(&parser->lexer, &draft->at, TW_CODE_UNSUPPORTED,
                          "the vocabulary %.*s of %.60s is not one that can be read (%s); use "
                          "operators of the IR, listed by: tilewright ops",
                          (int)(length < 40 ? length : 40), draft->operator_name,
                          draft->operator_name, known);
}

/* The value under the name that the text gives it, with the scales that the text wants. A value that
 * has a name in the text already gets a second through Identity. */
static tw_value *named_result(tw_text_parser *parser, const tw_draft *draft, int i, tw_value *value,
                              const char *rounding)
{
    tw_builder *b = &parser->builder;
    if (!value) {
        tw_fail(b->diag, TW_CODE_FAILED, draft->node, draft->operator_name,
                "the operator has no result %d", i);
        return NULL;
    }
    const tw_quant *quant = &draft->quant[i];
    if (draft->typed[i] && quant->count && value->shape.dtype == TW_F32)
        value = tw_build_quantize(b, value, draft->type[i].dtype, *quant, rounding);
    else if (value->is_input || value->is_state || value->data ||
             tw_map_get(&parser->values, value->name) == value)
        value = tw_build1(b, "Identity", value, NULL);
    if (value)
        value->name = draft->out_name[i];
    return value;
}

/* Results have their names before anything is named after them. */
static bool reserve_names(tw_text_parser *parser, const tw_draft *draft)
{
    for (int i = 0; i < draft->out_count; i++)
        if (draft->out_name[i] &&
            strcmp(tw_unique_name(parser->graph, draft->out_name[i]), draft->out_name[i]) != 0)
            return tw_lex_fail_at(&parser->lexer, &draft->at, TW_CODE_FAILED,
                                  "%%%.80s cannot be used as a name", draft->out_name[i]);
    return true;
}

static bool parse_foreign(tw_text_parser *parser, tw_draft *draft, const char *dot)
{
    tw_lexer *lexer = &parser->lexer;
    size_t n = (size_t)(dot - draft->operator_name);
    tw_foreign_attribute *attributes = NULL;
    tw_value *out[TW_MAX_NODE_OPERANDS] = {NULL};
    int attribute_count = 0;
    const tw_vocabulary *vocabulary = tw_vocabulary_by_name(draft->operator_name, n);
    if (!vocabulary)
        return refuse_vocabulary(parser, draft, n);
    if (tw_lex_is_mark(lexer, '{') &&
        !tw_text_foreign_attributes(parser, &attributes, &attribute_count))
        return false;
    tw_foreign_node node = {.b = &parser->builder,
                            .vocabulary = vocabulary,
                            .row = tw_foreign_find(vocabulary, dot + 1),
                            .op = draft->operator_name,
                            .in = draft->in,
                            .in_count = draft->in_count,
                            .out = out,
                            .out_count = draft->out_count,
                            .attributes = attributes,
                            .attribute_count = attribute_count};
    parser->builder.node = draft->node;
    parser->foreign = true;
    if (!reserve_names(parser, draft))
        return false;
    if (!tw_foreign_lower(&node))
        return fail_node(parser, draft);
    for (int i = 0; i < draft->out_count; i++) {
        if (!draft->out_name[i])
            continue;
        tw_value *value = named_result(parser, draft, i, out[i], vocabulary->rounding);
        if (!value || !check_type(parser, draft, i, value))
            return fail_node(parser, draft);
        tw_map_put(lexer->arena, &parser->values, value->name, value);
    }
    return true;
}

static bool parse_node(tw_text_parser *parser)
{
    tw_draft draft = {.out_count = 0};
    if (!parse_head(parser, &draft))
        return false;
    const char *dot = strchr(draft.operator_name, '.');
    if (dot)
        return parse_foreign(parser, &draft, dot);
    const tw_opdef *op = tw_op_by_name(draft.operator_name);
    return op ? parse_known(parser, &draft, op)
              : tw_lex_fail_at(&parser->lexer, &draft.at, TW_CODE_UNSUPPORTED,
                               "%.60s is not an operator; they are listed by: tilewright ops",
                               draft.operator_name);
}

/* ---- the graph ---- */

static bool parse_statement(tw_text_parser *parser)
{
    tw_lexer *lexer = &parser->lexer;
    if (tw_lex_is_word(lexer, "input"))
        return parse_input(parser);
    if (tw_lex_is_word(lexer, "const"))
        return parse_const(parser);
    if (tw_lex_is_word(lexer, "output"))
        return parse_output(parser);
    if (tw_lex_is_word(lexer, "state"))
        return parse_state(parser);
    if (tw_lex_is_word(lexer, "next"))
        return parse_next(parser);
    if (lexer->token.kind == TW_TOKEN_VALUE || tw_lex_is_word(lexer, "_"))
        return parse_node(parser);
    return tw_lex_expected(lexer,
                           "input, const, state, next, output, %value = Operator(...), or '}'");
}

bool tw_text_graph(tw_text_parser *parser)
{
    tw_lexer *lexer = &parser->lexer;
    const char *name;
    if (!tw_lex_word(lexer, "graph") ||
        !tw_lex_text(lexer, TW_TOKEN_STRING, "the graph's name in quotes", &name) ||
        !tw_lex_mark(lexer, '{'))
        return false;
    parser->graph = tw_graph_new(lexer->arena, name);
    parser->values = (tw_map){NULL, 0, 0};
    parser->foreign = false;
    tw_builder_init(&parser->builder, parser->graph, NULL, lexer->diag);
    while (!tw_lex_is_mark(lexer, '}'))
        if (!parse_statement(parser))
            return false;
    if (parser->graph->output_count == 0)
        return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                              "the graph has no output; add one: output %%name");
    /* What foreign operators computed at once has left nodes behind. */
    return tw_lex_next(lexer) && (!parser->foreign || tw_graph_sweep(parser->graph, lexer->diag)) &&
           tw_graph_check(parser->graph, lexer->diag);
}

tw_graph *tw_text_parse(tw_arena *arena, const char *text, size_t bytes, const char *path,
                        tw_diag *diag)
{
    tw_text_parser *parser = tw_alloc(arena, sizeof *parser);
    tw_locale locale = tw_locale_enter();
    if (path && !diag->file[0])
        snprintf(diag->file, sizeof diag->file, "%s", path);
    bool ok = tw_lex_start(&parser->lexer, arena, text, bytes, path, diag) &&
              tw_text_graph(parser) &&
              (parser->lexer.token.kind == TW_TOKEN_END ||
               tw_lex_expected(&parser->lexer, "the end of the file"));
    tw_locale_leave(locale);
    return ok ? parser->graph : NULL;
}

bool tw_text_recognise(const char *text, size_t bytes)
{
    static const char word[] = "graph";
    size_t at = 0;
    while (at < bytes && strchr(" \t\r\n#", text[at]) && text[at]) {
        if (text[at] == '#')
            while (at < bytes && text[at] != '\n')
                at++;
        else
            at++;
    }
    return bytes - at >= sizeof word - 1 && memcmp(text + at, word, sizeof word - 1) == 0;
}
