/* merge_scale: Mul, Div, Add and Sub of a layer's result by a constant of its channels go into the
 * layer's weights and bias, where nothing else reads the result. Computed in double and rounded once:
 * results may differ in the last bits. */
#include <math.h>

#include "normalize/scale_layer.h"

/* The constant holds one element, or one for each channel on its last axis. */
static bool is_by_channel(const tw_value *constant, int32_t channels, int rank)
{
    const tw_shape *shape = &constant->shape;
    int64_t count = tw_shape_elements(shape);
    if (!constant->data || shape->dtype != TW_F32 || shape->rank > rank)
        return false;
    return count == 1 || (count == channels && shape->dim[shape->rank - 1] == channels);
}

/* The node as y * k + t of operand 0 or 1. False: it is not that. */
static bool as_factor_and_term(const tw_node *node, int layer, int32_t channels, double *k,
                               double *t, bool *factor)
{
    const tw_value *constant = node->in[1 - layer];
    int64_t count = tw_shape_elements(&constant->shape);
    for (int32_t c = 0; c < channels; c++) {
        double v = tw_constant_at(constant, count == 1 ? 0 : c);
        k[c] = 1;
        t[c] = 0;
        switch (node->op->code) {
        case TW_OPCODE_mul: k[c] = v; break;
        case TW_OPCODE_add: t[c] = v; break;
        case TW_OPCODE_div: k[c] = 1 / v; break;
        case TW_OPCODE_sub:
            t[c] = layer == 0 ? -v : v;
            k[c] = layer == 0 ? 1 : -1;
            break;
        default: return false;
        }
        if (!isfinite(k[c]) || !isfinite(t[c]))
            return false;
    }
    *factor = !(tw_is(node, TW_OPCODE_add) || (tw_is(node, TW_OPCODE_sub) && layer == 0));
    return !(tw_is(node, TW_OPCODE_div) && layer == 1);
}

/* The node goes into the layer that produces operand `operand`; true when it did. *ok becomes false
 * after a failure. */
static bool merge(tw_graph *graph, tw_node *node, int operand, tw_arena *scratch, bool *ok,
                  tw_diag *diag)
{
    tw_value *y = node->in[operand];
    tw_node *layer = y->producer;
    if (!layer || y->index != 1 || !tw_layer_takes_term(layer) ||
        !tw_shape_equal(&y->shape, &node->out[0]->shape))
        return false;
    int32_t channels = tw_layer_channels(layer);
    if (!is_by_channel(node->in[1 - operand], channels, y->shape.rank))
        return false;
    double *k = tw_alloc_array(scratch, (size_t)channels + 1, sizeof *k);
    double *t = tw_alloc_array(scratch, (size_t)channels + 1, sizeof *t);
    bool factor = false;
    if (!as_factor_and_term(node, operand, channels, k, t, &factor) ||
        (factor && !tw_layer_takes_factor(layer, k)) || !tw_forward(graph, node->out[0], y))
        return false;
    *ok = tw_scale_layer(graph, layer, factor ? k : NULL, t, diag);
    layer->clamp = node->clamp;
    tw_remove(node);
    return true;
}

bool tw_pass_merge_scale(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    tw_arena *scratch = tw_arena_new();
    tw_count_reads(graph);
    bool ok = true;
    int count = graph->node_count;
    for (int n = 0; ok && n < count; n++) {
        tw_node *node = graph->nodes[n];
        tw_follow(node);
        if (tw_is_binary(node) && !merge(graph, node, 0, scratch, &ok, diag))
            merge(graph, node, 1, scratch, &ok, diag);
    }
    tw_arena_free(scratch);
    return ok && tw_finish(graph, diag);
}
