/* Matrices. */
#include "import/tflite/tflite.h"

/* [.., K] of as many rows as fit, where the last axis is not K already. */
static tw_value *as_rows(tw_tfl_node *n, tw_value *x, int32_t depth)
{
    int64_t elements = tw_shape_elements(&x->shape);
    if (depth < 1 || elements % depth != 0) {
        TW_TFL_FAIL(n, "weights for %d inputs do not divide the %lld elements of the input",
                    (int)depth, (long long)elements);
        return NULL;
    }
    int64_t dim[2] = {elements / depth, depth};
    return x->shape.rank == 2 && x->shape.dim[1] == depth ? x : tw_build_reshape(n->b, x, 2, dim);
}

static tw_value *multiply(tw_tfl_node *n, tw_value *x, tw_value *w, tw_clamp clamp)
{
    tw_value *bias = tw_tfl_in(n, 2);
    if (!x || n->b->diag->code != TW_CODE_OK)
        return NULL;
    /* Weights that are computed are just another operand. */
    if (!tw_build_is_weight(w) && !bias)
        return tw_tfl_compute(n, 0, "MatMul", (tw_value *const[]){x, w}, 2,
                              TW_SETTINGS(tw_set_int("transpose_b", 1)), clamp);
    const bool asymmetric = tw_tfl_flag(n, TW_FIELD(FullyConnected, asymmetric_quantize_inputs));
    tw_value *in[] = {
        x, tw_tfl_weights(n, x, w, asymmetric ? TW_TFL_HYBRID_ASYMMETRIC : TW_TFL_HYBRID), NULL};
    in[2] = bias ? tw_build_with_quant(n->b, bias, (tw_quant){0, 0, NULL, NULL}) : NULL;
    return tw_tfl_compute(n, 0, "FullyConnected", in, bias ? 3 : 2, NULL, clamp);
}

bool tw_tfl_op_fully_connected(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *w = tw_tfl_in(n, 1);
    tw_clamp clamp;
    if (!x || !w)
        return false;
    if (tw_tfl_byte(n, TW_FIELD(FullyConnected, weights_format), 0) != 0)
        return TW_TFL_UNSUPPORTED(n, "shuffled weights are not supported; convert the model again "
                                     "without them");
    if (w->shape.rank != 2)
        return TW_TFL_FAIL(n, "the weights have rank %d; they must be outputs, inputs",
                           w->shape.rank);
    bool keep = tw_tfl_flag(n, TW_FIELD(FullyConnected, keep_num_dims));
    int32_t depth = w->shape.dim[1];
    if (keep && (x->shape.rank < 1 || x->shape.dim[x->shape.rank - 1] != depth))
        return TW_TFL_FAIL(n, "weights for %d inputs do not match the input's last axis",
                           (int)depth);
    if (!keep)
        x = as_rows(n, x, depth);
    return x &&
           tw_tfl_activation(
               n, tw_tfl_byte(n, TW_FIELD(FullyConnected, fused_activation_function), 0), &clamp) &&
           tw_tfl_set(n, 0, multiply(n, x, w, clamp));
}

static tw_value *swap_last(tw_tfl_node *n, tw_value *x)
{
    int64_t perm[TW_MAX_RANK];
    int rank = x->shape.rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return tw_build_transpose(n->b, x, rank, perm);
}

/* int8 as int16 of the same scale, which is exact. */
static tw_value *as_int16(tw_tfl_node *n, tw_value *y)
{
    const tw_quant quant = y->quant;
    y = tw_build_with_quant(n->b, y, (tw_quant){0, 0, NULL, NULL});
    return tw_build_with_quant(n->b, tw_build_cast(n->b, y, TW_S16), quant);
}

/* One matrix of int8 weights under floats, [K, N] or with adj_y [N, K]: a layer of them, which stay int8 in
 * flash, each row of x quantised as TFLite does it. Null: it is something else, or with a message. */
static tw_value *matrix_layer(tw_tfl_node *n, tw_value *x, tw_value *y, bool adjoint)
{
    const bool asymmetric = tw_tfl_flag(n, TW_FIELD(BatchMatMul, asymmetric_quantize_inputs));
    if (!x || x->shape.dtype != TW_F32 || y->shape.rank != 2 || !tw_tfl_is_symmetric(y) ||
        y->quant.count != 1)
        return NULL;
    if (!adjoint)
        y = swap_last(n, y);
    if (!y || !tw_build_known(n->b, y))
        return NULL;
    y = tw_tfl_weights(n, x, y, asymmetric ? TW_TFL_HYBRID_ASYMMETRIC : TW_TFL_HYBRID);
    return tw_tfl_compute(n, 0, "FullyConnected", (tw_value *const[]){x, y}, 2, NULL,
                          tw_tfl_no_clamp());
}

bool tw_tfl_op_batch_matmul(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *y = tw_tfl_in(n, 1);
    if (!x || !y)
        return false;
    if (x->shape.rank < 2 || y->shape.rank < 2)
        return TW_TFL_FAIL(n, "operands of rank %d and %d; both must be matrices", x->shape.rank,
                           y->shape.rank);
    if (tw_tfl_flag(n, TW_FIELD(BatchMatMul, adj_x)))
        x = swap_last(n, x);
    int transpose = tw_tfl_flag(n, TW_FIELD(BatchMatMul, adj_y));
    tw_value *layer = matrix_layer(n, x, y, transpose != 0);
    if (layer || n->b->diag->code != TW_CODE_OK)
        return tw_tfl_set(n, 0, layer);
    y = tw_tfl_weights(n, x, y, TW_TFL_DEQUANTIZED);
    if (x && x->shape.dtype == TW_S16 && y->shape.dtype == TW_S8 && y->quant.count == 1)
        y = as_int16(n, y);
    return tw_tfl_set(n, 0,
                      tw_tfl_compute(n, 0, "MatMul", (tw_value *const[]){x, y}, 2,
                                     TW_SETTINGS(tw_set_int("transpose_b", transpose)),
                                     tw_tfl_no_clamp()));
}
