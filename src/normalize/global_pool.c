/* global_pool: a pooling whose one window covers the whole input is a reduction, which takes its input
 * row by row where a pooling needs all rows of its window at once. Exact for int8; a float average is
 * summed in the same order.
 *
 *   AveragePool over all of every spatial axis     ReduceMean, rounded as the pooling rounds
 *   MaxPool over all of every spatial axis         ReduceMax
 */
#include "normalize/pass.h"
#include "ops/pool.h"
#include "ops/reduce.h"

/* One window, exactly the input: no padding, no dilation, one output pixel. */
static bool is_global(const tw_node *node)
{
    const tw_pool_attributes *a = node->attributes;
    const tw_shape *x = &node->in[0]->shape, *y = &node->out[0]->shape;
    for (int i = 0; i < x->rank - 2; i++)
        if (y->dim[i + 1] != 1 || tw_item(&a->kernel, i, 0) != x->dim[i + 1] ||
            tw_item(&a->dilation, i, 1) != 1 || tw_item(&a->pad_begin, i, 0) != 0 ||
            tw_item(&a->pad_end, i, 0) != 0)
            return false;
    return x->rank >= 3;
}

static void reduce(tw_graph *graph, tw_node *node)
{
    bool average = tw_is(node, TW_OPCODE_average_pool);
    const tw_pool_attributes old = *(const tw_pool_attributes *)node->attributes;
    tw_become(graph, node, average ? TW_OPCODE_reduce_mean : TW_OPCODE_reduce_max);
    tw_ints *axes = tw_ints_of(node, "axes");
    axes->count = node->in[0]->shape.rank - 2;
    for (int i = 0; i < axes->count; i++)
        axes->v[i] = i + 1;
    *tw_int_of(node, "keepdims") = 1;
    if (average)
        *tw_int_of(node, "rounding") =
            old.rounding == TW_POOL_HALF_EVEN ? TW_MEAN_HALF_EVEN : TW_MEAN_HALF_AWAY;
}

bool tw_pass_global_pool(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    (void)diag;
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        if ((tw_is(node, TW_OPCODE_average_pool) || tw_is(node, TW_OPCODE_max_pool)) &&
            !tw_has_clamp(node) && is_global(node) &&
            (node->in[0]->shape.dtype == TW_F32 || node->in[0]->shape.dtype == TW_S8) &&
            tw_quant_equal(&node->in[0]->quant, &node->out[0]->quant))
            reduce(graph, node);
    }
    return true;
}
