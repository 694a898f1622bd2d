/* Runs that end early: where the reference stops a run in its middle (CIRCULAR_BUFFER, in all runs but
 * one in so many), what stands behind keeps the states and the outputs that it had. Everything is computed
 * and picked, as with IF. */
#include <string.h>

#include "import/tflite/tflite.h"

/* `yes` where the gate is open, else `no`, both of one shape and quantisation. */
static tw_value *pick(tw_builder *b, tw_value *gate, tw_value *yes, tw_value *no)
{
    tw_value *in[] = {gate, yes, no};
    tw_node *node = yes ? tw_build_node(b, "Where", in, 3, NULL) : NULL;
    if (!node)
        return NULL;
    node->out[0]->quant = no->quant;
    return node->out[0];
}

bool tw_tfl_gate(tw_tfl_node *n, tw_value *open)
{
    tw_tfl_import *import = n->import;
    if (import->gate_count == TW_TFL_MOST_GATES || import->depth > 0)
        return TW_TFL_UNSUPPORTED(n,
                                  "more than %d operators that end a run early, or one inside "
                                  "a subgraph, are not supported",
                                  TW_TFL_MOST_GATES);
    if (import->gate_count)
        open = tw_build2(n->b, "And", import->gates[import->gate_count - 1].open, open, NULL);
    if (!open)
        return false;
    import->gates[import->gate_count++] = (tw_tfl_gate_record){n->b->graph->node_count, open};
    return true;
}

static tw_value *last_gate(const tw_tfl_import *import)
{
    return import->gate_count ? import->gates[import->gate_count - 1].open : NULL;
}

tw_value *tw_tfl_gated(tw_tfl_node *n, tw_value *next, tw_value *before)
{
    tw_value *gate = last_gate(n->import);
    return gate ? pick(n->b, gate, next, before) : next;
}

bool tw_tfl_state_becomes(tw_tfl_node *n, tw_value *state, tw_value *next)
{
    next = next ? tw_tfl_gated(n, next, state) : NULL;
    return next && tw_graph_state_next(n->b->graph, state, next, n->b->diag);
}

/* The gate that a value stands behind; null: none. */
static tw_value *gate_before(const tw_tfl_import *import, const tw_value *value)
{
    const tw_graph *graph = import->b.graph;
    int at = 0, gate = import->gate_count;
    while (at < graph->node_count && graph->nodes[at] != value->producer)
        at++;
    while (gate > 0 && (at == graph->node_count || import->gates[gate - 1].nodes > at))
        gate--;
    return gate ? import->gates[gate - 1].open : NULL;
}

bool tw_tfl_hold_outputs(tw_tfl_import *import)
{
    for (uint32_t i = 0; import->gate_count && i < import->subgraph->out_count; i++) {
        tw_value **value = &import->values[import->subgraph->out[i]];
        tw_value *gate = *value && (*value)->producer ? gate_before(import, *value) : NULL;
        if (!gate)
            continue;
        tw_value *last = tw_graph_state(import->b.graph, "held", (*value)->shape, NULL);
        last->quant = (*value)->quant;
        *value = pick(&import->b, gate, *value, last);
        if (!*value || !tw_graph_state_next(import->b.graph, last, *value, import->b.diag))
            return false;
    }
    return true;
}

const void *tw_tfl_zeros(tw_tfl_import *import, const tw_shape *shape, const tw_quant *quant)
{
    if (shape->dtype != TW_S8 || quant->count != 1 || quant->zero_point[0] == 0)
        return NULL;
    const uint32_t bytes = tw_shape_bytes(shape);
    uint8_t *zeros = tw_alloc(import->b.arena, bytes + 1);
    memset(zeros, quant->zero_point[0], bytes);
    return zeros;
}
