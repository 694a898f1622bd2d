/* Products, and what goes by the diagonals of matrices. */
#include "import/product.h"
#include "import/tensorflow/tensorflow.h"

/* --- products ---------------------------------------------------------------------------------- */

static tw_value *swap_last(tw_tf_node *n, tw_value *x)
{
    int64_t perm[TW_MAX_RANK];
    int rank = x->shape.rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return tw_build_transpose(n->b, x, rank, perm);
}

static bool multiply(tw_tf_node *n, bool transpose_a, bool transpose_b)
{
    tw_value *a = tw_tf_in(n, 0), *b = tw_tf_in(n, 1);
    if (!a || !b)
        return false;
    if (a->shape.rank < 2 || b->shape.rank < 2)
        return TW_TF_FAIL(n, "operands of rank %d and %d; both must be matrices", a->shape.rank,
                          b->shape.rank);
    if (transpose_a)
        a = swap_last(n, a);
    const bool whole = b->shape.dtype != TW_F32;
    if (!transpose_b || whole || (b->shape.rank == 2 && tw_build_is_weight(b)))
        return tw_tf_set(n, 0, tw_build_matmul(n->b, n->op, a, transpose_b ? swap_last(n, b) : b));
    return tw_tf_set(n, 0,
                     tw_build2(n->b, "MatMul", a, b, TW_SETTINGS(tw_set_int("transpose_b", 1))));
}

bool tw_tf_op_matmul(tw_tf_node *n)
{
    return multiply(n, tw_tf_flag(n, "transpose_a"), tw_tf_flag(n, "transpose_b"));
}

bool tw_tf_op_batch_matmul(tw_tf_node *n)
{
    return multiply(n, tw_tf_flag(n, "adj_x"), tw_tf_flag(n, "adj_y"));
}

bool tw_tf_op_einsum(tw_tf_node *n)
{
    tw_value **in = tw_alloc_array(n->import->scratch, (size_t)n->in_count + 1, sizeof *in);
    for (int i = 0; i < n->in_count; i++) {
        in[i] = tw_tf_in(n, i);
        if (!in[i])
            return false;
    }
    return tw_tf_set(n, 0,
                     tw_build_einsum(n->b, n->op, tw_tf_text(n, "equation", ""), in, n->in_count));
}

/* --- diagonals --------------------------------------------------------------------------------- */

/* x where the place is true, `rest` elsewhere. */
static tw_value *choose(tw_tf_node *n, tw_value *place, tw_value *x, tw_value *rest)
{
    tw_value *in[] = {place, x, rest};
    return place && x && rest ? tw_build(n->b, "Where", in, 3, NULL) : NULL;
}

/* So many diagonals below and above the main one are kept; a negative number: all. */
bool tw_tf_op_band_part(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t below, above;
    if (!x || !tw_tf_int_in(n, 1, "the diagonals below", &below) ||
        !tw_tf_int_in(n, 2, "the diagonals above", &above))
        return false;
    if (x->shape.rank < 2)
        return TW_TF_FAIL(n, "an input of rank %d; it must be matrices", x->shape.rank);
    const int32_t rows = x->shape.dim[x->shape.rank - 2], columns = x->shape.dim[x->shape.rank - 1];
    if ((int64_t)rows * columns > TW_BUILD_LIMIT)
        return TW_TF_UNSUPPORTED(n, "matrices of %d by %d", (int)rows, (int)columns);
    below = below < 0 || below > rows ? rows : below;
    above = above < 0 || above > columns ? columns : above;
    return tw_tf_set(n, 0,
                     choose(n, tw_build_band(n->b, rows, columns, -below, above), x,
                            tw_build_scalar(n->b, x->shape.dtype, 0)));
}

/* Of the later forms: which diagonal, and extents, of which only the usual ones are read. */
static bool usual_diagonal(tw_tf_node *n, int inputs)
{
    for (int i = 1; i < inputs && i < n->in_count; i++) {
        tw_tf_ints list;
        if (!tw_tf_list_in(n, i, i == 1 ? "the diagonal" : "the extents", &list))
            return false;
        if (list.count != 1 || (i == 1 ? list.v[0] != 0 : list.v[0] != -1))
            return TW_TF_UNSUPPORTED(n, "only the main diagonal of squares is supported");
    }
    return true;
}

/* Each row of the last axis as a diagonal. */
bool tw_tf_op_diag(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *rest = NULL;
    int64_t dim[TW_MAX_RANK + 1];
    if (!x || !usual_diagonal(n, 4))
        return false;
    const int rank = x->shape.rank;
    if (rank < 1 || rank == TW_MAX_RANK)
        return TW_TF_UNSUPPORTED(n, "diagonals of rank %d; 1 to %d are supported", rank,
                                 TW_MAX_RANK - 1);
    const int32_t extent = x->shape.dim[rank - 1];
    if ((int64_t)extent * extent > TW_BUILD_LIMIT)
        return TW_TF_UNSUPPORTED(n, "a diagonal of %d elements", (int)extent);
    rest = n->in_count > 4 ? tw_tf_in(n, 4) : tw_build_scalar(n->b, x->shape.dtype, 0);
    for (int i = 0; i < rank; i++)
        dim[i + (i == rank - 1)] = x->shape.dim[i];
    dim[rank - 1] = 1;
    return rest && tw_tf_set(n, 0,
                             choose(n, tw_build_band(n->b, extent, extent, 0, 0),
                                    tw_build_reshape(n->b, x, rank + 1, dim), rest));
}

/* The diagonal of each matrix: elements that lie one more than a row apart. */
bool tw_tf_op_diag_part(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t dim[TW_MAX_RANK];
    if (!x || !usual_diagonal(n, 2))
        return false;
    const int rank = x->shape.rank;
    if (rank < 2)
        return TW_TF_FAIL(n, "an input of rank %d; it must be matrices", rank);
    const int64_t rows = x->shape.dim[rank - 2], columns = x->shape.dim[rank - 1];
    const int64_t size = rows < columns ? rows : columns;
    for (int i = 0; i < rank - 2; i++)
        dim[i] = x->shape.dim[i];
    dim[rank - 2] = size * columns;
    x = tw_build_slice(n->b, x, rank - 2, 0, size, 1);
    x = tw_build_reshape(n->b, x, rank - 1, dim);
    return tw_tf_set(n, 0, tw_build_slice(n->b, x, rank - 2, 0, size, columns + 1));
}
