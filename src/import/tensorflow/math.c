/* Functions of elements, matrices and reductions. */
#include <string.h>

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

bool tw_tf_op_binary(tw_tf_node *n)
{
    if (tw_tf_reads_random(n))
        return tw_tf_random_binary(n, n->row->becomes);
    tw_value *x = tw_tf_in(n, 0), *y = tw_tf_in(n, 1);
    return x && y && tw_tf_set(n, 0, tw_build2(n->b, n->row->becomes, x, y, NULL));
}

/* Bits that are shifted out to the left are the same in every type of their width. */
bool tw_tf_op_left_shift(tw_tf_node *n)
{
    static const struct {
        tw_dtype dtype, bare;
    } types[] = {{TW_S8, TW_U8}, {TW_S16, TW_U16}, {TW_S32, TW_U32}, {TW_S64, TW_U64}};
    tw_value *x = tw_tf_in(n, 0), *by = tw_tf_in(n, 1);
    if (!x || !by)
        return false;
    const tw_dtype dtype = x->shape.dtype;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype) {
            x = tw_build_cast(n->b, x, types[i].bare);
            by = tw_build_cast(n->b, by, types[i].bare);
        }
    x = x && by ? tw_build2(n->b, "ShiftLeft", x, by, NULL) : NULL;
    return x && tw_tf_set(n, 0, tw_build_cast(n->b, x, dtype));
}

/* y, but 0 where `test` is. */
static bool set_unless_zero(tw_tf_node *n, tw_value *test, tw_value *y)
{
    if (!test || !y)
        return false;
    tw_value *zero = tw_build_scalar(n->b, y->shape.dtype, 0);
    tw_value *in[] = {tw_build2(n->b, "Equal", test, zero, NULL), zero, y};
    return in[0] && in[1] && tw_tf_set(n, 0, tw_build(n->b, "Where", in, 3, NULL));
}

bool tw_tf_op_div_no_nan(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *y = tw_tf_in(n, 1);
    return x && y && set_unless_zero(n, y, tw_build2(n->b, "Div", x, y, NULL));
}

bool tw_tf_op_mul_no_nan(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *y = tw_tf_in(n, 1);
    return x && y && set_unless_zero(n, y, tw_build2(n->b, "Mul", x, y, NULL));
}

bool tw_tf_op_x_div_y(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *y = tw_tf_in(n, 1);
    return x && y && set_unless_zero(n, x, tw_build2(n->b, "Div", x, y, NULL));
}

bool tw_tf_op_x_log_y(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *y = tw_build1(n->b, "Log", tw_tf_in(n, 1), NULL);
    return x && y && set_unless_zero(n, x, tw_build2(n->b, "Mul", x, y, NULL));
}

bool tw_tf_op_is_finite(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_value *nan = x ? tw_build1(n->b, "IsNaN", x, NULL) : NULL;
    tw_value *endless = x ? tw_build1(n->b, "IsInf", x, NULL) : NULL;
    tw_value *either = nan && endless ? tw_build2(n->b, "Or", nan, endless, NULL) : NULL;
    return either && tw_tf_set(n, 0, tw_build1(n->b, "Not", either, NULL));
}

/* How many of the boundaries are not above x. */
bool tw_tf_op_bucketize(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, "boundaries");
    int64_t dim[TW_MAX_RANK + 1];
    if (!x)
        return false;
    if (!a || !a->list || x->shape.rank == TW_MAX_RANK || a->list->n_f > TW_BUILD_LIMIT / 8)
        return TW_TF_UNSUPPORTED(n, "an input of rank %d, or no boundaries", x->shape.rank);
    const int32_t count[1] = {(int32_t)a->list->n_f};
    const int rank = x->shape.rank;
    for (int i = 0; i < rank; i++)
        dim[i] = x->shape.dim[i];
    dim[rank] = 1;
    if (count[0] == 0) {
        tw_shape shape = x->shape;
        shape.dtype = TW_S32;
        return tw_tf_set(n, 0, tw_build_full(n->b, shape, 0));
    }
    tw_value *bounds =
        tw_build_data(n->b, tw_shape_of(TW_F32, 1, count),
                      tw_copy(n->b->arena, a->list->f, sizeof(float) * a->list->n_f));
    x = tw_build_reshape(n->b, tw_build_cast(n->b, x, TW_F32), rank + 1, dim);
    x = x ? tw_build2(n->b, "GreaterOrEqual", x, bounds, NULL) : NULL;
    x = tw_build_cast(n->b, x, TW_S32);
    const int64_t axes[] = {rank};
    return x && tw_tf_set(n, 0,
                          tw_build1(n->b, "ReduceSum", x,
                                    TW_SETTINGS(tw_set_ints("axes", 1, axes),
                                                tw_set_int("keepdims", 0))));
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

/* Half the sum of all squares. */
bool tw_tf_op_l2_loss(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    const int64_t all = x ? tw_shape_elements(&x->shape) : 0, axes[] = {0};
    x = tw_build_reshape(n->b, x, 1, &all);
    x = x ? tw_build1(n->b, "ReduceSumSquare", x,
                      TW_SETTINGS(tw_set_ints("axes", 1, axes), tw_set_int("keepdims", 0)))
          : NULL;
    return x &&
           tw_tf_set(n, 0, tw_build2(n->b, "Mul", x, tw_build_scalar(n->b, TW_F32, 0.5), NULL));
}
