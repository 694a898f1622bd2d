/* Functions of elements, matrices and reductions. */
#include <string.h>

#include "import/product.h"
#include "import/tensorflow/random.h"

/* --- elements ---------------------------------------------------------------------------------- */

/* The row names the one IR operator that it is. */
bool tw_tf_op_unary(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    return x && tw_tf_set(n, 0, tw_build1(n->b, n->row->becomes, x, NULL));
}

bool tw_tf_op_floor(tw_tf_node *n)
{
    return tw_tf_reads_random(n) ? tw_tf_random_floor(n) : tw_tf_op_unary(n);
}

bool tw_tf_op_relu6(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    return x &&
           tw_tf_set(n, 0,
                     tw_build1(n->b, "Clip", x,
                               TW_SETTINGS(tw_set_float("alpha", 0), tw_set_float("beta", 6))));
}

bool tw_tf_op_leaky_relu(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    float alpha = tw_tf_float(n, "alpha", 0.2f);
    return x &&
           tw_tf_set(n, 0,
                     tw_build1(n->b, "LeakyRelu", x, TW_SETTINGS(tw_set_float("alpha", alpha))));
}

/* log(1 + x) and e^x - 1 as they are written: near 0 a float less exact than TensorFlow's. */
bool tw_tf_op_log1p(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *one = tw_build_scalar(n->b, TW_F32, 1);
    return x && tw_tf_set(n, 0, tw_build1(n->b, "Log", tw_build2(n->b, "Add", x, one, NULL), NULL));
}

bool tw_tf_op_expm1(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *one = tw_build_scalar(n->b, TW_F32, 1);
    return x && tw_tf_set(n, 0, tw_build2(n->b, "Sub", tw_build1(n->b, "Exp", x, NULL), one, NULL));
}

bool tw_tf_op_binary(tw_tf_node *n)
{
    if (tw_tf_reads_random(n))
        return tw_tf_random_binary(n, n->row->becomes);
    tw_value *x = tw_tf_in(n, 0), *y = tw_tf_in(n, 1);
    return x && y && tw_tf_set(n, 0, tw_build2(n->b, n->row->becomes, x, y, NULL));
}

/* 0 where the divisor is. */
bool tw_tf_op_div_no_nan(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *y = tw_tf_in(n, 1);
    if (!x || !y)
        return false;
    tw_value *zero = tw_build_scalar(n->b, y->shape.dtype, 0);
    tw_value *in[] = {tw_build2(n->b, "Equal", y, zero, NULL), zero,
                      tw_build2(n->b, "Div", x, y, NULL)};
    return in[0] && in[2] && tw_tf_set(n, 0, tw_build(n->b, "Where", in, 3, NULL));
}

bool tw_tf_op_add_n(tw_tf_node *n)
{
    tw_value *sum = tw_tf_in(n, 0);
    for (int i = 1; sum && i < n->in_count; i++) {
        tw_value *next = tw_tf_in(n, i);
        sum = next ? tw_build2(n->b, "Add", sum, next, NULL) : NULL;
    }
    return tw_tf_set(n, 0, sum);
}

/* Of the first form a list of conditions is one for each element of the first axis. */
bool tw_tf_op_select(tw_tf_node *n)
{
    tw_value *in[] = {tw_tf_in(n, 0), tw_tf_in(n, 1), tw_tf_in(n, 2)};
    if (!in[0] || !in[1] || !in[2])
        return false;
    if (strcmp(n->op, "Select") == 0 && in[0]->shape.rank == 1 && in[1]->shape.rank > 1) {
        int64_t dim[TW_MAX_RANK] = {in[0]->shape.dim[0], 1, 1, 1, 1, 1};
        in[0] = tw_build_reshape(n->b, in[0], in[1]->shape.rank, dim);
    }
    return in[0] && tw_tf_set(n, 0, tw_build(n->b, "Where", in, 3, NULL));
}

bool tw_tf_op_clip(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *low = tw_tf_in(n, 1), *high = tw_tf_in(n, 2);
    if (!x || !low || !high)
        return false;
    x = tw_build2(n->b, "Max", x, low, NULL);
    return tw_tf_set(n, 0, x ? tw_build2(n->b, "Min", x, high, NULL) : NULL);
}

bool tw_tf_op_cast(tw_tf_node *n)
{
    if (n->in[0].kind == TW_TF_RANDOM)
        return tw_tf_set_item(n, 0, n->in[0]);
    tw_value *x = tw_tf_in(n, 0);
    tw_dtype dtype = tw_tf_type(n, "DstT");
    return x && dtype != TW_NO_DTYPE && tw_tf_set(n, 0, tw_build_cast(n->b, x, dtype));
}

/* --- rows -------------------------------------------------------------------------------------- */

bool tw_tf_op_softmax(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    return x && tw_tf_set(n, 0,
                          tw_build1(n->b, n->row->becomes, x, TW_SETTINGS(tw_set_int("axis", -1))));
}

/* The axes of input 1, in order; none: nothing is reduced. */
bool tw_tf_op_reduce(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t axes[TW_MAX_RANK];
    bool seen[TW_MAX_RANK] = {false};
    tw_tf_ints list;
    int count = 0;
    if (!x || !tw_tf_list_in(n, 1, "the axes", &list))
        return false;
    for (int i = 0; i < list.count; i++) {
        int axis;
        if (!tw_tf_axis(n, list.v[i], x->shape.rank, &axis))
            return false;
        seen[axis] = true;
    }
    for (int i = 0; i < x->shape.rank; i++)
        if (seen[i])
            axes[count++] = i;
    int keep = tw_tf_flag(n, "keep_dims");
    if (count == 0)
        return tw_tf_set(n, 0, x);
    return tw_tf_set(
        n, 0,
        tw_build1(n->b, n->row->becomes, x,
                  TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_int("keepdims", keep))));
}

static tw_value *top_indices(tw_tf_node *n, tw_value *x, int axis, int64_t k, bool largest)
{
    return tw_build1(n->b, "TopIndices", x,
                     TW_SETTINGS(tw_set_int("axis", axis), tw_set_int("k", k),
                                 tw_set_int("largest", largest), tw_set_int("dtype", TW_S32)));
}

bool tw_tf_op_arg_extreme(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t given, dim[TW_MAX_RANK];
    int axis, rank = 0;
    if (!x || !tw_tf_int_in(n, 1, "the axis", &given) ||
        !tw_tf_axis(n, given, x->shape.rank, &axis))
        return false;
    for (int i = 0; i < x->shape.rank; i++)
        if (i != axis)
            dim[rank++] = x->shape.dim[i];
    tw_dtype dtype = tw_tf_type(n, "output_type");
    tw_value *where = top_indices(n, x, axis, 1, strcmp(n->op, "ArgMax") == 0);
    where = tw_build_reshape(n->b, where, rank, dim);
    return tw_tf_set(n, 0, tw_build_cast(n->b, where, dtype == TW_NO_DTYPE ? TW_S64 : dtype));
}

bool tw_tf_op_top_k(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t k;
    if (!x || !tw_tf_int_in(n, 1, "the number of elements", &k))
        return false;
    int last = x->shape.rank - 1;
    if (last < 0 || k < 0 || k > x->shape.dim[last])
        return TW_TF_FAIL(n, "%lld elements of the last axis are asked for", (long long)k);
    tw_value *where = top_indices(n, x, last, k, true);
    tw_value *best =
        tw_build2(n->b, "GatherElements", x, where, TW_SETTINGS(tw_set_int("axis", last)));
    return tw_tf_set(n, 0, best) && tw_tf_set(n, 1, where);
}

bool tw_tf_op_cumulate(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t given;
    int axis;
    if (!x || !tw_tf_int_in(n, 1, "the axis", &given) ||
        !tw_tf_axis(n, given, x->shape.rank, &axis))
        return false;
    return tw_tf_set(n, 0,
                     tw_build1(n->b, n->row->becomes, x,
                               TW_SETTINGS(tw_set_int("axis", axis),
                                           tw_set_int("exclusive", tw_tf_flag(n, "exclusive")),
                                           tw_set_int("reverse", tw_tf_flag(n, "reverse")))));
}

/* --- matrices ---------------------------------------------------------------------------------- */

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
