/* Matrix products. Constant right-hand sides become weights of FullyConnected. */
#include "import/onnx/onnx.h"
#include "import/product.h"

static const int64_t swap[] = {1, 0};

/* x . w with w [K, N], or [N, K] when `transposed`. */
static tw_value *fully_connected(tw_onnx_node *n, tw_value *x, tw_value *w, tw_value *bias,
                                 bool transposed)
{
    tw_value *in[] = {x, transposed ? w : tw_build_weight(n->b, w, swap, 0, NULL), bias};
    return tw_build(n->b, "FullyConnected", in, bias ? 3 : 2, NULL);
}

tw_value *tw_onnx_matmul(tw_onnx_node *n, tw_value *a, tw_value *b)
{
    return tw_build_matmul(n->b, n->op, a, b);
}

bool tw_onnx_op_einsum(tw_onnx_node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (!tw_onnx_need(n, i))
            return false;
    return tw_onnx_bind(
        n, 0, tw_build_einsum(n->b, n->op, tw_onnx_text(n, "equation", ""), n->in, n->in_count));
}

bool tw_onnx_op_matmul(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, tw_onnx_matmul(n, n->in[0], n->in[1]));
}

static tw_value *scaled(tw_onnx_node *n, tw_value *x, float factor)
{
    if (!x || factor == 1)
        return x;
    if (tw_is_integer_matrix(x) && (float)(int32_t)factor != factor) {
        TW_ONNX_UNSUPPORTED(n, "alpha and beta of integers must be whole numbers, not %g",
                            (double)factor);
        return NULL;
    }
    return tw_build2(n->b, "Mul", x, tw_build_scalar(n->b, x->shape.dtype, (double)factor), NULL);
}

/* A constant that is one number a column, as a list of them; null for anything else. */
static tw_value *as_bias(tw_onnx_node *n, tw_value *c, int64_t columns)
{
    int rank = c->shape.rank;
    if (!tw_build_is_weight(c) || rank < 1 || c->shape.dim[rank - 1] != columns ||
        tw_shape_elements(&c->shape) != columns)
        return NULL;
    return rank == 1 ? c : tw_build_reshape(n->b, c, 1, &columns);
}

tw_value *tw_onnx_gemm(tw_onnx_node *n, tw_value *a, tw_value *b, tw_value *c)
{
    bool trans_a = tw_onnx_int(n, "transA", 0) != 0, trans_b = tw_onnx_int(n, "transB", 0) != 0;
    float alpha = tw_onnx_float(n, "alpha", 1), beta = tw_onnx_float(n, "beta", 1);
    if (n->opset < 7)
        tw_onnx_ignore(n, "broadcast"); /* C is broadcast where its shape asks for it */
    if (!a || !b)
        return NULL;
    if (a->shape.rank != 2 || b->shape.rank != 2) {
        TW_ONNX_FAIL(n, "matrices are needed, the operands have rank %d and %d", a->shape.rank,
                     b->shape.rank);
        return NULL;
    }
    int k = a->shape.dim[trans_a ? 0 : 1], k_b = b->shape.dim[trans_b ? 1 : 0];
    int columns = b->shape.dim[trans_b ? 0 : 1];
    if (k != k_b) {
        TW_ONNX_FAIL(n, "%d columns meet %d rows; check transA and transB", k, k_b);
        return NULL;
    }
    bool integer = tw_is_integer_matrix(b), weights = !integer && tw_build_is_weight(b);
    tw_value *bias = weights && c && alpha == 1 && beta == 1 ? as_bias(n, c, columns) : NULL;
    if (trans_a)
        a = tw_build_transpose(n->b, a, 2, swap);
    if (integer && trans_b)
        b = tw_build_transpose(n->b, b, 2, swap);
    tw_value *y = integer   ? tw_build2(n->b, "IntegerMatMul", a, b, NULL)
                  : weights ? fully_connected(n, a, b, bias, trans_b)
                            : tw_build2(n->b, "MatMul", a, b,
                                        TW_SETTINGS(tw_set_int("transpose_b", trans_b)));
    y = scaled(n, y, alpha);
    if (!c || bias || beta == 0)
        return y;
    return tw_build2(n->b, "Add", y, scaled(n, c, beta), NULL);
}

bool tw_onnx_op_gemm(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, tw_onnx_gemm(n, n->in[0], n->in[1], tw_onnx_in(n, 2)));
}
