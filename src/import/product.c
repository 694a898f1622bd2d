/* Products of matrices. Constant right-hand sides become weights of FullyConnected. */
#include "import/product.h"

/* Reshape with one axis of extent 1 added or dropped. */
static tw_value *with_axis(tw_builder *b, tw_value *x, int axis, bool add)
{
    int64_t dim[TW_MAX_RANK + 1];
    int rank = 0;
    for (int i = 0; i <= x->shape.rank; i++) {
        if (add && i == axis)
            dim[rank++] = 1;
        if (i < x->shape.rank && (add || i != axis))
            dim[rank++] = x->shape.dim[i];
    }
    return tw_build_reshape(b, x, rank, dim);
}

/* The weights of a layer are [results, inputs]. */
static tw_value *layer(tw_builder *b, tw_value *x, tw_value *w)
{
    static const int64_t swap[] = {1, 0};
    return tw_build2(b, "FullyConnected", x, tw_build_weight(b, w, swap, 0, NULL), NULL);
}

tw_value *tw_build_matmul(tw_builder *b, const char *op, tw_value *x, tw_value *y)
{
    if (!x || !y)
        return NULL;
    const int x_rank = x->shape.rank, y_rank = y->shape.rank;
    if (x_rank < 1 || y_rank < 1) {
        tw_fail(b->diag, TW_CODE_FAILED, b->node, op,
                "operands of rank %d and %d cannot be multiplied; ranks start at 1", x_rank,
                y_rank);
        return NULL;
    }
    const int depth = x->shape.dim[x_rank - 1], rows = y->shape.dim[y_rank > 1 ? y_rank - 2 : 0];
    if (depth != rows) {
        tw_fail(b->diag, TW_CODE_FAILED, b->node, op, "%d columns meet %d rows", depth, rows);
        return NULL;
    }
    if (y_rank == 2 && tw_build_is_weight(y) && !tw_is_integer_matrix(y))
        return layer(b, x, y);
    /* A vector on the left is a row, on the right a column; its axis goes again afterwards. */
    if (x_rank == 1)
        x = with_axis(b, x, 0, true);
    if (y_rank == 1)
        y = with_axis(b, y, 1, true);
    if (!x || !y)
        return NULL;
    tw_value *z = tw_build2(b, tw_is_integer_matrix(y) ? "IntegerMatMul" : "MatMul", x, y, NULL);
    if (z && y_rank == 1)
        z = with_axis(b, z, z->shape.rank - 1, false);
    if (z && x_rank == 1)
        z = with_axis(b, z, z->shape.rank - (y_rank == 1 ? 1 : 2), false);
    return z;
}
