/* depthwise: general operators that are special cases become them. Exact.
 *
 *   Conv with as many groups as input channels     DepthwiseConv, weights [O,k..,1] -> [k..,O]
 *   Conv 1x1 of a 1x1 image                        FullyConnected of the same values
 *   MatMul by a constant matrix                    FullyConnected, weights transposed
 *
 * Weights are permuted by nodes on constants, which fold computes. */
#include "normalize/pass.h"
#include "ops/conv.h"

static bool make_depthwise(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    const tw_shape *w = &node->in[1]->shape;
    int spatial = w->rank - 2;
    int32_t perm[TW_MAX_RANK];
    tw_shape squeezed = tw_shape_of(w->dtype, w->rank - 1, w->dim);
    for (int i = 0; i < spatial; i++)
        perm[i] = i + 1;
    perm[spatial] = 0;
    tw_conv_attributes old = *(const tw_conv_attributes *)node->attributes;
    tw_quant quant = node->in[1]->quant;
    tw_value *weights = tw_append_reshape(graph, node->in[1]->name, node->in[1], &squeezed, diag);
    if (weights && quant.count > 1)
        weights->quant = quant; /* the axis of output channels stays the first */
    weights = weights ? tw_append_transpose(graph, node->in[1]->name, weights, perm, diag) : NULL;
    if (!weights)
        return false;
    node->in[1] = weights;
    tw_become(graph, node, TW_OPCODE_depthwise_conv);
    *tw_ints_of(node, "stride") = old.stride;
    *tw_ints_of(node, "dilation") = old.dilation;
    *tw_ints_of(node, "pad_begin") = old.pad_begin;
    *tw_ints_of(node, "pad_end") = old.pad_end;
    return true;
}

/* Every spatial extent of input, kernel and output is 1, nothing is padded. */
static bool is_pointwise_on_point(const tw_node *node)
{
    const tw_shape *x = &node->in[0]->shape, *w = &node->in[1]->shape, *y = &node->out[0]->shape;
    for (int i = 1; i < x->rank - 1; i++)
        if (x->dim[i] != 1 || w->dim[i] != 1 || y->dim[i] != 1 ||
            tw_item(tw_ints_of(node, "pad_begin"), i - 1, 0) != 0)
            return false;
    return *tw_int_of(node, "group") == 1;
}

static bool make_fully_connected(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    const tw_shape *w = &node->in[1]->shape;
    tw_shape flat = tw_shape_of(w->dtype, 2, (int32_t[]){w->dim[0], w->dim[w->rank - 1]});
    tw_quant quant = node->in[1]->quant;
    tw_value *weights = tw_append_reshape(graph, node->in[1]->name, node->in[1], &flat, diag);
    if (!weights)
        return false;
    if (quant.count > 1)
        weights->quant = quant;
    node->in[1] = weights;
    tw_become(graph, node, TW_OPCODE_fully_connected);
    return true;
}

static bool matmul_to_fully_connected(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    tw_value *b = node->in[1];
    if (!*tw_int_of(node, "transpose_b")) {
        b = tw_append_transpose(graph, b->name, b, (int32_t[]){1, 0}, diag);
        if (!b)
            return false;
    }
    tw_become(graph, node, TW_OPCODE_fully_connected);
    node->in[1] = b;
    return true;
}

static bool specialise(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    if (tw_is(node, TW_OPCODE_conv)) {
        const tw_shape *w = &node->in[1]->shape;
        if (is_pointwise_on_point(node))
            return make_fully_connected(graph, node, diag);
        if (*tw_int_of(node, "group") > 1 && w->dim[w->rank - 1] == 1)
            return make_depthwise(graph, node, diag);
    }
    if (tw_is(node, TW_OPCODE_matmul) && tw_constant_behind(node->in[1]) &&
        node->in[1]->shape.rank == 2 && node->in[0]->shape.rank >= 2 &&
        node->in[0]->shape.dtype == TW_F32)
        return matmul_to_fully_connected(graph, node, diag);
    return true;
}

bool tw_pass_depthwise(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    int count = graph->node_count;
    for (int n = 0; n < count; n++)
        if (!specialise(graph, graph->nodes[n], diag))
            return false;
    return tw_graph_sweep(graph, diag);
}
