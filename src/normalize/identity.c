/* identity: nodes that change nothing go, pairs that cancel or combine become one node. One walk in
 * order, so that a chain is seen already simplified. Exact. */
#include <math.h>
#include <string.h>

#include "normalize/pass.h"

/* ---- nodes that change nothing ---- */

static bool slice_is_whole(const tw_node *node)
{
    const tw_ints *step = tw_ints_of(node, "step");
    for (int i = 0; step && i < step->count; i++)
        if (step->v[i] != 1)
            return false;
    return tw_shape_equal(&node->in[0]->shape, &node->out[0]->shape);
}

/* A pad that takes away on one side what it adds on the other is none. */
static bool pads_nothing(const tw_node *node)
{
    const tw_ints *before = tw_ints_of(node, "before"), *after = tw_ints_of(node, "after");
    for (int i = 0; i < node->in[0]->shape.rank; i++)
        if (tw_item(before, i, 0) != 0 || tw_item(after, i, 0) != 0)
            return false;
    return true;
}

/* A pool over single elements. */
static bool pools_nothing(const tw_node *node)
{
    const tw_ints *kernel = tw_ints_of(node, "kernel");
    for (int i = 0; i < kernel->count; i++)
        if (kernel->v[i] != 1 || tw_item(tw_ints_of(node, "pad_begin"), i, 0) != 0 ||
            tw_item(tw_ints_of(node, "stride"), i, 1) != 1)
            return false;
    return tw_shape_equal(&node->in[0]->shape, &node->out[0]->shape);
}

static bool is_all(const tw_value *value, double element)
{
    if (!value->data || value->quant.count)
        return false;
    int64_t count = tw_shape_elements(&value->shape);
    for (int64_t i = 0; i < count; i++)
        if (tw_constant_at(value, i) != element || signbit(tw_constant_at(value, i)))
            return false;
    return true;
}

/* x * 1, 1 * x, x / 1, x - 0, where the constant does not widen the shape. -1: no such operand. */
static int neutral_operand(const tw_node *node)
{
    bool commutes = tw_is(node, TW_OPCODE_mul);
    double neutral = tw_is(node, TW_OPCODE_sub) ? 0 : 1;
    if (!commutes && !tw_is(node, TW_OPCODE_div) && !tw_is(node, TW_OPCODE_sub))
        return -1;
    for (int i = commutes ? 0 : 1; i < 2; i++)
        if (is_all(node->in[i], neutral) &&
            tw_shape_equal(&node->in[1 - i]->shape, &node->out[0]->shape))
            return i;
    return -1;
}

/* The operand that the result equals, element for element and in the same shape. Null: none. */
static tw_value *same_as(const tw_node *node)
{
    tw_value *in = node->in[0];
    bool same = tw_is_conversion(node) && in->shape.dtype == node->out[0]->shape.dtype;
    switch (node->op->code) {
    case TW_OPCODE_identity: same = true; break;
    case TW_OPCODE_reshape: same = tw_shape_equal(&in->shape, &node->out[0]->shape); break;
    case TW_OPCODE_transpose: {
        int32_t perm[TW_MAX_RANK];
        tw_perm_of(node, perm);
        same = true;
        for (int i = 0; i < in->shape.rank; i++)
            same = same && perm[i] == i;
        break;
    }
    case TW_OPCODE_slice: same = slice_is_whole(node); break;
    case TW_OPCODE_pad: same = pads_nothing(node); break;
    case TW_OPCODE_concat: same = node->in_count == 1; break;
    case TW_OPCODE_max_pool:
    case TW_OPCODE_average_pool: same = pools_nothing(node); break;
    case TW_OPCODE_clip:
        same = *tw_float_of(node, "alpha") == -INFINITY && *tw_float_of(node, "beta") == INFINITY;
        break;
    case TW_OPCODE_neg: {
        const tw_node *inner = in->producer;
        if (tw_is(inner, TW_OPCODE_neg) && !tw_has_clamp(inner) &&
            tw_quant_equal(&inner->in[0]->quant, &node->out[0]->quant) &&
            node->out[0]->shape.dtype == TW_F32)
            return inner->in[0];
        break;
    }
    default: {
        int neutral = neutral_operand(node);
        if (neutral >= 0)
            return node->in[1 - neutral];
    }
    }
    return same ? in : NULL;
}

static bool remove_same(tw_graph *graph, tw_node *node)
{
    if (node->in_count < 1 || node->out_count != 1 || tw_has_clamp(node))
        return false;
    tw_value *same = same_as(node);
    if (!same || !tw_quant_equal(&same->quant, &node->out[0]->quant) ||
        !tw_forward(graph, node->out[0], same))
        return false;
    tw_remove(node);
    return true;
}

/* ---- pairs ---- */

static void read_past(tw_node *node, tw_value *value)
{
    node->in[0]->index--;
    node->in[0] = value;
    value->index++;
}

/* Reshape of a view: of what the view views. */
static void merge_views(tw_node *node)
{
    const tw_node *inner = node->in[0]->producer;
    if (tw_is(node, TW_OPCODE_reshape) && inner && inner->op->kind == TW_VIEW &&
        tw_quant_equal(&inner->in[0]->quant, &inner->out[0]->quant))
        read_past(node, inner->in[0]);
}

static void merge_transposes(tw_node *node)
{
    const tw_node *inner = node->in[0]->producer;
    if (!tw_is(node, TW_OPCODE_transpose) || !tw_is(inner, TW_OPCODE_transpose))
        return;
    int32_t perm[TW_MAX_RANK], first[TW_MAX_RANK];
    tw_perm_of(node, perm);
    tw_perm_of(inner, first);
    tw_ints *merged = tw_ints_of(node, "perm");
    merged->count = node->in[0]->shape.rank;
    for (int i = 0; i < merged->count; i++)
        merged->v[i] = first[perm[i]];
    read_past(node, inner->in[0]);
}

/* MatMul(a, Transpose(b)) that swaps the last two axes of b reads b. */
static void merge_into_matmul(tw_node *node)
{
    if (!tw_is(node, TW_OPCODE_matmul) || !tw_is(node->in[1]->producer, TW_OPCODE_transpose))
        return;
    const tw_node *inner = node->in[1]->producer;
    int32_t perm[TW_MAX_RANK];
    tw_perm_of(inner, perm);
    int last = node->in[1]->shape.rank - 1;
    for (int i = 0; i <= last; i++)
        if (perm[i] != (i == last ? last - 1 : i == last - 1 ? last : i))
            return;
    int32_t *flag = tw_int_of(node, "transpose_b");
    *flag = !*flag;
    node->in[1]->index--;
    node->in[1] = inner->in[0];
    node->in[1]->index++;
}

/* ---- nodes that only rename axes ---- */

static void become_reshape(tw_graph *graph, tw_node *node)
{
    tw_become(graph, node, TW_OPCODE_reshape);
    tw_ints *shape = tw_ints_of(node, "shape");
    shape->count = node->out[0]->shape.rank;
    memcpy(shape->v, node->out[0]->shape.dim, sizeof(int32_t) * (size_t)shape->count);
}

/* A reduction over axes of extent 1 that gives back the element. */
static bool reduces_nothing(const tw_node *node)
{
    switch (node->op->code) {
    case TW_OPCODE_reduce_sum:
    case TW_OPCODE_reduce_mean:
    case TW_OPCODE_reduce_max:
    case TW_OPCODE_reduce_min:
    case TW_OPCODE_reduce_prod: break;
    default: return false;
    }
    return tw_shape_elements(&node->in[0]->shape) == tw_shape_elements(&node->out[0]->shape) &&
           tw_shape_elements(&node->in[0]->shape) > 0 &&
           node->in[0]->shape.dtype == node->out[0]->shape.dtype && !tw_has_clamp(node) &&
           tw_quant_equal(&node->in[0]->quant, &node->out[0]->quant);
}

bool tw_pass_identity(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    tw_count_reads(graph);
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        tw_follow(node);
        merge_transposes(node);
        merge_into_matmul(node);
        if (remove_same(graph, node))
            continue;
        if (reduces_nothing(node))
            become_reshape(graph, node);
        merge_views(node);
        remove_same(graph, node);
    }
    return tw_finish(graph, diag) && tw_pass_dead(graph, options, diag);
}
