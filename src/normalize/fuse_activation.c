/* fuse_activation: Relu, Clip and the Min and Max by one constant that alone read the result of an
 * operator with bounds become its bounds (tw_node.clamp, in real terms). The operator keeps its
 * name. Exact. Activations that bend what they let through stay operators: they are tables in int8. */
#include <math.h>

#include "normalize/pass.h"

/* The bounds of an activation that computes min(max(x, low), high) of operand *data. */
static bool bounds_of(const tw_node *node, tw_clamp *bounds, int *data)
{
    float constant;
    *data = 0;
    *bounds = (tw_clamp){-INFINITY, INFINITY};
    switch (node->op->code) {
    case TW_OPCODE_relu: bounds->low = 0; break;
    case TW_OPCODE_clip:
        bounds->low = *tw_float_of(node, "alpha");
        bounds->high = *tw_float_of(node, "beta");
        break;
    case TW_OPCODE_max:
    case TW_OPCODE_min:
        if (!tw_is_elementwise(node, data) || !tw_is_uniform(node->in[1 - *data], &constant))
            return false;
        *(tw_is(node, TW_OPCODE_max) ? &bounds->low : &bounds->high) = constant;
        break;
    default: return false;
    }
    return !isnan(bounds->low) && !isnan(bounds->high);
}

/* Operators whose kernels bound what they store (call->clamp_low, clamp_high). */
static bool takes_bounds(const tw_node *node)
{
    if (tw_is_weighted(node) || tw_is(node, TW_OPCODE_matmul) || tw_is(node, TW_OPCODE_max_pool) ||
        tw_is(node, TW_OPCODE_average_pool) || tw_is_reduce(node) || tw_is_norm(node))
        return true;
    switch (node->op->code) {
    case TW_OPCODE_add:
    case TW_OPCODE_sub:
    case TW_OPCODE_mul:
    case TW_OPCODE_div:
    case TW_OPCODE_max:
    case TW_OPCODE_min: return true;
    default: return false;
    }
}

/* f32, or int8 of one scale on both sides: what the activation does to stored values is then to
 * bound them. */
static bool is_same_scale(const tw_value *x, const tw_value *y)
{
    return x->shape.dtype == y->shape.dtype && tw_quant_equal(&x->quant, &y->quant) &&
           (x->shape.dtype == TW_F32 || (x->shape.dtype == TW_S8 && x->quant.count == 1));
}

static float bounded(float x, const tw_clamp *bounds)
{
    float low = x > bounds->low ? x : bounds->low;
    return low < bounds->high ? low : bounds->high;
}

bool tw_pass_fuse_activation(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    tw_count_reads(graph);
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        tw_clamp outer;
        int data;
        tw_follow(node);
        if (!bounds_of(node, &outer, &data))
            continue;
        tw_value *x = node->in[data];
        tw_node *inner = x->producer;
        if (!inner || x->index != 1 || !takes_bounds(inner) || tw_has_clamp(node) ||
            !is_same_scale(x, node->out[0]) || !tw_shape_equal(&x->shape, &node->out[0]->shape) ||
            !tw_forward(graph, node->out[0], x))
            continue;
        inner->clamp.low = bounded(inner->clamp.low, &outer);
        inner->clamp.high = bounded(inner->clamp.high, &outer);
        tw_remove(node);
    }
    return tw_finish(graph, diag);
}
