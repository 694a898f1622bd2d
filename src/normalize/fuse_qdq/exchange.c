/* Dequantize and Quantize move towards the arithmetic, past operators for which storing and moving
 * commute. See qdq.h. */
#include <math.h>
#include <string.h>

#include "normalize/fuse_qdq/qdq.h"
#include "ops/pad.h"

/* ---- which operators ---- */

/* Is a real number one that the scale stores, or (as a bound) one that no stored value passes? */
static bool is_stored_exactly(float real, const tw_quant *quant, bool as_bound)
{
    double scale = (double)quant->scale[0];
    double stored = round((double)real / scale) + quant->zero_point[0];
    if (stored < INT8_MIN || stored > INT8_MAX)
        return as_bound;
    return (float)((stored - quant->zero_point[0]) * scale) == real;
}

/* Do the numbers in the operator itself mean the same on stored elements? */
static bool has_exact_numbers(const tw_node *node, const tw_quant *quant)
{
    bool fills = tw_is(node, TW_OPCODE_pad) && *tw_int_of(node, "mode") == TW_PAD_CONSTANT;
    return is_stored_exactly(node->clamp.low, quant, true) &&
           is_stored_exactly(node->clamp.high, quant, true) &&
           (!fills || is_stored_exactly(*tw_float_of(node, "value"), quant, false));
}

/* Bit i: operand i holds elements that the result consists of; the others say where from. 0: the result
 * consists of something else. */
static unsigned moved_operands(const tw_node *node)
{
    if (node->out_count != 1 || node->in_count < 1)
        return 0;
    switch (node->op->code) {
    case TW_OPCODE_concat:
    case TW_OPCODE_slice:
    case TW_OPCODE_pad:
    case TW_OPCODE_transpose:
    case TW_OPCODE_copy:
    case TW_OPCODE_tile:
    case TW_OPCODE_resize_nearest:
    case TW_OPCODE_depth_to_space:
    case TW_OPCODE_space_to_depth:
    case TW_OPCODE_max_pool: return ~0u; /* the largest stored value is the largest real one */
    case TW_OPCODE_gather:
    case TW_OPCODE_gather_elements:
    case TW_OPCODE_gather_nd:
    case TW_OPCODE_reverse_sequence: return 1u;
    case TW_OPCODE_update_slice: return 3u;
    default: return node->op->kind == TW_VIEW ? ~0u : 0;
    }
}

static bool is_moved(const tw_node *node, int operand)
{
    return operand >= 32 || (moved_operands(node) >> operand & 1) != 0;
}

/* ---- Dequantize behind ---- */

/* The quantisation that all moved operands are dequantised from; null: there is no such one. */
static const tw_quant *common_quant(const tw_node *node)
{
    const tw_quant *common = NULL;
    for (int i = 0; i < node->in_count; i++) {
        const tw_node *d = node->in[i] ? node->in[i]->producer : NULL;
        if (!is_moved(node, i))
            continue;
        if (!tw_is(d, TW_OPCODE_dequantize) || d->in[0]->shape.dtype != TW_S8 ||
            d->in[0]->quant.count != 1 || (common && !tw_quant_equal(common, &d->in[0]->quant)))
            return NULL;
        common = &d->in[0]->quant;
    }
    return common;
}

static bool sink_dequantize(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    const tw_quant *quant = moved_operands(node) ? common_quant(node) : NULL;
    if (!quant || !has_exact_numbers(node, quant))
        return true;
    tw_value *real = node->out[0];
    tw_shape shape = real->shape;
    shape.dtype = TW_S8;
    tw_value *stored = tw_graph_value(graph, real->name, shape);
    stored->quant = *quant;
    const char *name = node->in[0]->producer->name;
    for (int i = 0; i < node->in_count; i++)
        if (is_moved(node, i))
            node->in[i] = node->in[i]->producer->in[0];
    tw_set_output(node, stored);
    tw_node *after = tw_append(graph, TW_OPCODE_dequantize, name, &stored, 1, NULL, diag);
    if (!after)
        return false;
    tw_set_output(after, real);
    return true;
}

/* ---- Quantize in front ---- */

static bool hoist_quantize(tw_graph *graph, tw_node *quantize, tw_diag *diag)
{
    tw_value *real = quantize->in[0], *stored = quantize->out[0];
    tw_node *node = real->producer;
    if (!node || node->removed || real->index != 1 || stored->shape.dtype != TW_S8 ||
        stored->quant.count != 1 || !moved_operands(node) ||
        (tw_has_clamp(node) && !has_exact_numbers(node, &stored->quant)))
        return true;
    for (int i = 0; i < node->in_count; i++) {
        if (!is_moved(node, i))
            continue;
        tw_node *before = tw_append(graph, TW_OPCODE_quantize, quantize->name, &node->in[i], 1,
                                    quantize->attributes, diag);
        if (!before)
            return false;
        before->out[0]->quant = stored->quant;
        before->out[0]->index = 1;
        node->in[i] = before->out[0];
    }
    tw_set_output(node, stored);
    quantize->removed = true;
    real->producer = NULL;
    return true;
}

/* ---- one Quantize for one value and scale ---- */

static bool is_same_quantize(const tw_node *a, const tw_node *b)
{
    return a->in[0] == b->in[0] && tw_quant_equal(&a->out[0]->quant, &b->out[0]->quant) &&
           memcmp(a->attributes, b->attributes, a->op->attribute_bytes) == 0;
}

/* first[v]: a Quantize of value v; next[n]: another of the same value. */
static bool merge_equal(tw_graph *graph, tw_diag *diag)
{
    tw_arena *scratch = tw_arena_new();
    int *first = tw_alloc_array(scratch, (size_t)graph->value_count + 1, sizeof(int));
    int *next = tw_alloc_array(scratch, (size_t)graph->node_count + 1, sizeof(int));
    for (int v = 0; v < graph->value_count; v++) {
        graph->values[v]->index = v;
        first[v] = -1;
    }
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        tw_follow(node);
        if (!tw_is(node, TW_OPCODE_quantize))
            continue;
        int *list = &first[node->in[0]->index], at = *list;
        while (at >= 0 && !is_same_quantize(graph->nodes[at], node))
            at = next[at];
        int index = node->out[0]->index, kept = at >= 0 ? graph->nodes[at]->out[0]->index : 0;
        if (at >= 0 && tw_forward(graph, node->out[0], graph->nodes[at]->out[0])) {
            node->removed = true;
            node->out[0]->index = index; /* positions here, not counts */
            graph->nodes[at]->out[0]->index = kept;
        } else {
            next[n] = *list;
            *list = n;
        }
    }
    tw_arena_free(scratch);
    return tw_finish(graph, diag);
}

bool tw_qdq_exchange(tw_graph *graph, tw_diag *diag)
{
    int count = graph->node_count;
    for (int n = 0; n < count; n++)
        if (!sink_dequantize(graph, graph->nodes[n], diag))
            return false;
    if (!tw_graph_sweep(graph, diag) || !merge_equal(graph, diag))
        return false;
    tw_count_reads(graph);
    /* Those put in front of an operator are looked at in their turn. */
    for (int n = 0; n < graph->node_count; n++)
        if (tw_is(graph->nodes[n], TW_OPCODE_quantize) && !graph->nodes[n]->removed &&
            !hoist_quantize(graph, graph->nodes[n], diag))
            return false;
    return tw_graph_sweep(graph, diag) && merge_equal(graph, diag);
}
