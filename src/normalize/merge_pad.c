/* merge_pad: a Pad of spatial axes that only one convolution or pooling reads becomes that
 * operator's own padding, where the two mean the same:
 *
 *   Conv, DepthwiseConv   pads of zero (int8: of the zero point, which is what kernels pad with)
 *   AveragePool           pads of zero, when the pool counts padding, or has none of its own
 *   MaxPool               pads of -infinity; or pads that the smallest possible input is not below
 *
 * Exact. */
#include <math.h>
#include <string.h>

#include "normalize/pass.h"

/* Is every element of the value known to be at least `bound`? */
static bool is_at_least(const tw_value *value, float bound)
{
    const tw_node *node = value->producer;
    while (node) {
        if (node->clamp.low >= bound)
            return true;
        if (bound <= 0 && (tw_is(node, TW_OPCODE_relu) || tw_is(node, TW_OPCODE_sigmoid)))
            return true;
        if (!tw_is(node, TW_OPCODE_max_pool) && !tw_is(node, TW_OPCODE_transpose) &&
            node->op->kind != TW_VIEW)
            return false;
        node = node->in[0]->producer;
    }
    return false;
}

/* int8 stores real values in steps: a pad of the least stored value is as good as -infinity. */
static bool is_least(const tw_value *x, float value)
{
    if (value == -INFINITY)
        return true;
    if (x->quant.count != 1 || x->shape.dtype != TW_S8)
        return false;
    double stored = round((double)value / (double)x->quant.scale[0]) + x->quant.zero_point[0];
    return stored <= INT8_MIN;
}

static bool has_no_padding(const tw_node *node)
{
    const tw_ints *begin = tw_ints_of(node, "pad_begin"), *end = tw_ints_of(node, "pad_end");
    for (int i = 0; i < node->in[0]->shape.rank - 2; i++)
        if (tw_item(begin, i, 0) != 0 || tw_item(end, i, 0) != 0)
            return false;
    return true;
}

/* May the operator's own padding stand for pads of this value? */
static bool pads_alike(const tw_node *pad, tw_node *node)
{
    const tw_value *x = pad->in[0];
    float value = *tw_float_of(pad, "value");
    switch (node->op->code) {
    case TW_OPCODE_conv:
    case TW_OPCODE_depthwise_conv: return value == 0;
    case TW_OPCODE_average_pool:
        return value == 0 && *tw_int_of(node, "ceil") == 0 &&
               (*tw_int_of(node, "count_include_pad") || has_no_padding(node));
    case TW_OPCODE_max_pool: return is_least(x, value) || is_at_least(x, value);
    default: return false;
    }
}

/* Only the spatial axes, and nothing cut away. */
static bool pads_space_only(const tw_node *pad)
{
    const tw_ints *before = tw_ints_of(pad, "before"), *after = tw_ints_of(pad, "after");
    int rank = pad->in[0]->shape.rank;
    for (int i = 0; i < rank; i++) {
        int32_t b = tw_item(before, i, 0), a = tw_item(after, i, 0);
        if (b < 0 || a < 0 || ((i == 0 || i == rank - 1) && (a != 0 || b != 0)))
            return false;
    }
    return *tw_int_of(pad, "mode") == 0; /* constant */
}

static void add_padding(tw_node *node, const tw_node *pad)
{
    tw_ints *begin = tw_ints_of(node, "pad_begin"), *end = tw_ints_of(node, "pad_end");
    const tw_ints *before = tw_ints_of(pad, "before"), *after = tw_ints_of(pad, "after");
    int spatial = node->in[0]->shape.rank - 2;
    for (int i = 0; i < spatial; i++) {
        begin->v[i] = tw_item(begin, i, 0) + tw_item(before, i + 1, 0);
        end->v[i] = tw_item(end, i, 0) + tw_item(after, i + 1, 0);
    }
    /* Items beyond a list's count were read as 0 above, and every one is set now. */
    begin->count = end->count = spatial;
}

/* Does every window hold an element? (One that does not is the pad's value, or the least one.) */
static bool reaches_inside(const tw_node *node)
{
    const tw_ints *kernel = tw_ints_of(node, "kernel");
    for (int i = 0; i < node->in[0]->shape.rank - 2; i++)
        if (tw_item(tw_ints_of(node, "dilation"), i, 1) != 1 ||
            tw_item(tw_ints_of(node, "pad_begin"), i, 0) >= tw_item(kernel, i, 1) ||
            tw_item(tw_ints_of(node, "pad_end"), i, 0) >= tw_item(kernel, i, 1))
            return false;
    return true;
}

/* Merge, look whether the operator takes it, take it back if not. */
static void merge(tw_graph *graph, tw_node *node)
{
    tw_node *pad = node->in[0]->producer;
    if (!tw_is(pad, TW_OPCODE_pad) || node->in[0]->index != 1 || !tw_ints_of(node, "pad_begin") ||
        !pads_space_only(pad) || !pads_alike(pad, node))
        return;
    void *old = node->attributes;
    tw_value *padded = node->in[0];
    node->attributes = tw_copy(graph->arena, old, node->op->attribute_bytes);
    add_padding(node, pad);
    if (tw_is(node, TW_OPCODE_average_pool))
        *tw_int_of(node, "count_include_pad") = 1;
    node->in[0] = pad->in[0];
    if (!tw_shape_holds(node) || (tw_is(node, TW_OPCODE_max_pool) && !reaches_inside(node))) {
        node->attributes = old;
        node->in[0] = padded;
        return;
    }
    pad->in[0]->index++;
    padded->index--;
    tw_remove(pad);
}

bool tw_pass_merge_pad(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    tw_count_reads(graph);
    for (int n = 0; n < graph->node_count; n++)
        if (graph->nodes[n]->in_count > 0 && graph->nodes[n]->in[0])
            merge(graph, graph->nodes[n]);
    return tw_graph_sweep(graph, diag);
}
