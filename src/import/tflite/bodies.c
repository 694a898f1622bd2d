/* Subgraphs as bodies of If and While. In: a subgraph and what it is given. Out: a graph of its own, and
 * what it does to the variables around it. */
#include "import/bodies.h"
#include "import/tflite/tflite.h"

static int depth_of(const tw_tfl_body *body)
{
    int depth = 0;
    for (; body; body = body->around)
        depth++;
    return depth;
}

static void begin(tw_tfl_node *n, const tw_tfl_arguments *arguments, uint32_t out_count,
                  tw_tfl_body *body)
{
    tw_tfl_import *import = n->import;
    tw_arena *scratch = import->scratch;
    *body = (tw_tfl_body){.around = import->body, .variables = import->variable_count};
    body->graph = tw_graph_new(import->b.arena, n->b->node);
    body->in = tw_alloc_array(scratch, (size_t)arguments->count + 1, sizeof *body->in);
    body->out = tw_alloc_array(scratch, (size_t)out_count + 1, sizeof *body->out);
    body->before = tw_tfl_variables_now(import);
    body->taken = tw_alloc_array(scratch, TW_TFL_VARIABLES, sizeof *body->taken);
    body->after = tw_alloc_array(scratch, TW_TFL_VARIABLES, sizeof *body->after);
    import->body = body;
    tw_tfl_variables_restore(import, NULL, 0);
}

static void end(tw_tfl_import *import, tw_tfl_body *body)
{
    tw_value **now = tw_tfl_variables_now(import);
    for (int i = 0; i < import->variable_count; i++)
        body->after[i] = now[i] != body->taken[i] ? now[i] : NULL;
    import->body = body->around;
    tw_tfl_variables_restore(import, body->before, body->variables);
}

bool tw_tfl_body_of(tw_tfl_node *n, int32_t subgraph, const tw_tfl_arguments *arguments,
                    const bool *carried, uint32_t out_count, tw_tfl_body *body)
{
    tw_builder *b = n->b;
    const int gates = n->import->gate_count;
    if (depth_of(n->import->body) == TW_MAX_DEPTH)
        return TW_TFL_UNSUPPORTED(n, "more than %d branches and loops inside each other",
                                  TW_MAX_DEPTH);
    begin(n, arguments, out_count, body);
    tw_tfl_arguments own = *arguments;
    own.in = tw_alloc_array(n->import->scratch, (size_t)own.count + 1, sizeof *own.in);
    for (uint32_t i = 0; i < own.count; i++)
        if (arguments->in[i])
            own.in[i] =
                tw_body_value(body->graph, arguments->in[i], carried && carried[i], &body->in[i]);
    const tw_outside outside = tw_body_enter(b, body->graph);
    n->import->gate_count = 0; /* they hold for what the body changes, outside */
    bool ok = tw_tfl_call(n, subgraph, &own, body->out, out_count);
    tw_body_leave(b, &outside);
    n->import->gate_count = gates;
    end(n->import, body);
    return ok;
}

tw_value *tw_tfl_body_relabel(tw_tfl_node *n, tw_tfl_body *body, tw_value *value, tw_quant quant)
{
    tw_graph *around = n->b->graph;
    n->b->graph = body->graph;
    value = tw_build_with_quant(n->b, value, quant);
    n->b->graph = around;
    return value;
}
