/* A TensorFlow Lite file to a graph: its first subgraph, operator by operator. */
#include <string.h>

#include "import/tflite/tflite.h"

bool tw_recognise_tflite(const void *data, size_t bytes)
{
    return bytes >= 8 && memcmp((const char *)data + 4, TW_TFL_IDENTIFIER, 4) == 0;
}

/* The rows by builtin code; custom operators are looked for by name. */
struct tw_tfl_ledger {
    tw_tfl_row *rows;
    int count;
    const tw_tfl_row *by_code[TW_TFL_BUILTIN_LIMIT];
};
typedef struct tw_tfl_ledger tw_tfl_ledger;

enum { MOST_DEPTH = 16, MOST_OPERATORS = 1 << 20 };

static void read_ledger(tw_tfl_import *import, tw_tfl_ledger *ledger)
{
    tw_tfl_row row;
    int capacity = 0;
    *ledger = (tw_tfl_ledger){.rows = NULL};
    while (tw_tfl_row_at(ledger->count, &row)) {
        tw_grow(import->scratch, &ledger->rows, ledger->count, &capacity, sizeof *ledger->rows);
        ledger->rows[ledger->count++] = row;
    }
    for (int i = 0; i < ledger->count; i++)
        if (ledger->rows[i].code != TW_TFL_BUILTIN_CUSTOM)
            ledger->by_code[ledger->rows[i].code] = &ledger->rows[i];
}

static const tw_tfl_row *find_row(const tw_tfl_ledger *ledger, const tw_tfl_code *code)
{
    if (code->builtin != TW_TFL_BUILTIN_CUSTOM)
        return code->builtin < TW_TFL_BUILTIN_LIMIT ? ledger->by_code[code->builtin] : NULL;
    for (int i = 0; i < ledger->count; i++)
        if (ledger->rows[i].code == TW_TFL_BUILTIN_CUSTOM &&
            strcmp(ledger->rows[i].name, code->custom) == 0)
            return &ledger->rows[i];
    return NULL;
}

/* What the messages call a node: its first named result, or its place. */
static const char *node_name(tw_tfl_import *import, const tw_tfl_operator *operator)
{
    for (uint32_t i = 0; i < operator->out_count; i++)
        if (operator->out[i] >= 0 && * import->subgraph->tensors[operator->out[i]].name)
            return import->subgraph->tensors[operator->out[i]].name;
    char place[256];
    tw_fb_path_text(operator->path, NULL, place, sizeof place);
    return tw_strdup(import->scratch, place);
}

/* The operator is one we know, in a form we know. */
static bool check_row(const tw_tfl_node *n, const tw_tfl_code *code)
{
    const tw_tfl_operator *o = n->operator;
    if (code->builtin == TW_TFL_BUILTIN_CUSTOM && !n->row)
        return TW_TFL_UNSUPPORTED(n, "the custom operator %.64s is not supported", code->custom);
    if (!n->row)
        return TW_TFL_UNSUPPORTED(n, "builtin operator %d is not known", (int)code->builtin);
    if (!n->row->import)
        return TW_TFL_UNSUPPORTED(n, "the operator is not supported; leave it out of the model or "
                                     "replace it");
    if (n->row->version && code->version > n->row->version)
        return TW_TFL_UNSUPPORTED(n, "version %d of the operator is newer than what is known (%d)",
                                  (int)code->version, (int)n->row->version);
    int most = n->row->most_in;
    if (o->in_count < (uint32_t)n->row->least_in || (most >= 0 && o->in_count > (uint32_t)most))
        return TW_TFL_FAIL(n, "it has %u inputs, it takes %d to %d", o->in_count, n->row->least_in,
                           most);
    /* Operators with many inputs say themselves which they need. */
    for (int i = 0; i < n->row->least_in && n->row->least_in <= 4; i++)
        if (o->in[i] < 0)
            return TW_TFL_FAIL(n, "input %d is missing", i);
    if (n->row->options && o->options_type && o->options_type != n->row->options)
        return TW_TFL_FAIL(n, "it has the options of another operator (%d, not %d)",
                           o->options_type, (int)n->row->options);
    return true;
}

static bool import_operator(tw_tfl_import *import, const tw_tfl_operator *operator)
{
    const tw_tfl_code *code = &import->model->codes[operator->code];
    tw_tfl_node n = {.import = import, .b = &import->b, .operator= operator};
    n.row = find_row(import->ledger, code);
    n.op = n.row ? n.row->name : *code->custom ? code->custom : "CUSTOM";
    import->b.node = node_name(import, operator);
    import->b.graph->spelling = tw_strdup(import->b.arena, n.op);
    if (!check_row(&n, code))
        return false;
    if (++import->operators > MOST_OPERATORS)
        return TW_TFL_UNSUPPORTED(&n, "more than %d operators", MOST_OPERATORS);
    bool ok = n.row && n.row->import(&n) && import->b.diag->code == TW_CODE_OK;
    if (!ok && import->b.diag->code == TW_CODE_OK)
        return TW_TFL_FAIL(&n, "the operator could not be imported");
    return ok;
}

static void enter(tw_tfl_import *import, const tw_tfl_subgraph *subgraph)
{
    size_t count = (size_t)subgraph->tensor_count + 1;
    import->subgraph = subgraph;
    import->values = tw_alloc_array(import->scratch, count, sizeof *import->values);
    import->handles = tw_alloc_array(import->scratch, count, sizeof *import->handles);
}

static bool import_operators(tw_tfl_import *import)
{
    for (uint32_t i = 0; i < import->subgraph->operator_count; i++)
        if (!import_operator(import, &import->subgraph->operators[i]))
            return false;
    return true;
}

bool tw_tfl_call(tw_tfl_node *n, int32_t subgraph, const tw_tfl_arguments *arguments,
                 tw_value **out, uint32_t out_count)
{
    const uint32_t in_count = arguments->count;
    tw_tfl_import *import = n->import;
    const tw_tfl_import before = *import;
    if (subgraph < 0 || (uint32_t)subgraph >= import->model->subgraph_count)
        return TW_TFL_FAIL(n, "subgraph %d does not exist, there are %u", (int)subgraph,
                           import->model->subgraph_count);
    if (import->depth == MOST_DEPTH)
        return TW_TFL_FAIL(n, "more than %d subgraphs inside one another", MOST_DEPTH);
    const tw_tfl_subgraph *g = &import->model->subgraphs[subgraph];
    if (g->in_count != in_count || g->out_count != out_count)
        return TW_TFL_FAIL(n, "subgraph %d takes %u and gives %u tensors, not %u and %u",
                           (int)subgraph, g->in_count, g->out_count, in_count, out_count);
    enter(import, g);
    import->depth++;
    for (uint32_t i = 0; i < in_count; i++) {
        import->values[g->in[i]] = arguments->in[i];
        import->handles[g->in[i]] = arguments->handle[i];
    }
    bool ok = import_operators(import);
    for (uint32_t i = 0; ok && i < out_count; i++) {
        const tw_tfl_tensor *tensor = &g->tensors[g->out[i]];
        out[i] = import->values[g->out[i]];
        if (!out[i] && tw_tfl_has_data(import, tensor))
            out[i] = tw_tfl_constant(import, tensor);
        ok = out[i] || import->handles[g->out[i]] ||
             TW_TFL_FAIL(n, "nothing computes output %u of subgraph %d", i, (int)subgraph);
    }
    import->b.node = before.b.node;
    import->subgraph = before.subgraph;
    import->values = before.values;
    import->handles = before.handles;
    import->depth = before.depth;
    return ok;
}

static bool import_model(tw_tfl_import *import)
{
    tw_tfl_ledger ledger;
    if (import->model->subgraph_count == 0)
        return tw_fail(import->b.diag, TW_CODE_FAILED, NULL, NULL, "the model holds no graph");
    read_ledger(import, &ledger);
    import->ledger = &ledger;
    enter(import, &import->model->subgraphs[0]);
    tw_tfl_notes(import);
    return tw_tfl_inputs(import) && import_operators(import) && tw_tfl_finish_states(import) &&
           tw_tfl_hold_outputs(import) && tw_tfl_outputs(import);
}

/* Unused nodes of folded shapes go; what is left must be a sound graph. */
static bool finish(tw_tfl_import *import)
{
    return tw_graph_sweep(import->b.graph, import->b.diag) &&
           tw_graph_check(import->b.graph, import->b.diag);
}

tw_graph *tw_import_tflite(tw_arena *arena, const void *data, size_t bytes, const char *path,
                           const tw_import_options *options, tw_diag *diag)
{
    (void)path; /* a model is one file */
    tw_arena *scratch = tw_arena_new();
    tw_tfl_model model;
    tw_graph *graph = NULL;
    if (tw_tfl_read(&model, scratch, data, bytes, diag)) {
        const char *name = model.subgraph_count ? model.subgraphs[0].name : "";
        tw_tfl_import import = {.scratch = scratch, .model = &model};
        graph = tw_graph_new(arena, *name ? name : "main");
        tw_builder_init(&import.b, graph, options, diag);
        if (!import_model(&import) || !finish(&import))
            graph = NULL;
    }
    tw_arena_free(scratch);
    return graph;
}
