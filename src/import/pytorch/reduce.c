/* Reductions, searches and what runs along an axis. */
#include <math.h>
#include <string.h>

#include "import/pytorch/torch.h"

static tw_value *reduced(tw_torch_call *c, const char *op, tw_value *x, const bool *flag, bool keep)
{
    int64_t axes[TW_MAX_RANK];
    int count = 0;
    for (int k = 0; x && k < x->shape.rank; k++)
        if (flag[k])
            axes[count++] = k;
    if (!x || count == 0)
        return x;
    return tw_build1(c->b, op, x,
                     TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_int("keepdims", keep)));
}

static tw_value *over(tw_torch_call *c, const char *op, tw_value *x, int axes, bool keep)
{
    bool flag[TW_MAX_RANK];
    return x && tw_torch_axes(c, axes, x->shape.rank, flag) ? reduced(c, op, x, flag, keep) : NULL;
}

static const char *operator_of(const tw_torch_call *c)
{
    return tw_strndup(c->t->scratch, c->row->becomes, strcspn(c->row->becomes, " "));
}

/* Sums of integers are int64. */
static tw_value *summable(tw_torch_call *c, int type)
{
    tw_value *x = tw_torch_in(c, 0);
    tw_dtype dtype;
    if (!x || !tw_torch_type(c, type, x->shape.dtype == TW_F32 ? TW_F32 : TW_S64, &dtype))
        return NULL;
    return tw_build_cast(c->b, x, dtype);
}

/* (x, dim, keepdim, dtype) */
bool tw_torch_op_sum(tw_torch_call *c)
{
    return tw_torch_give(c, over(c, operator_of(c), summable(c, 3), 1, tw_torch_flag(c, 2)));
}

/* (x, dtype): all axes */
bool tw_torch_op_sum_all(tw_torch_call *c)
{
    bool flag[TW_MAX_RANK] = {true, true, true, true, true, true};
    return tw_torch_give(c, reduced(c, operator_of(c), summable(c, 1), flag, false));
}

/* (x, dim, keepdim): the type stays */
bool tw_torch_op_fold(tw_torch_call *c)
{
    return tw_torch_give(c, over(c, operator_of(c), tw_torch_in(c, 0), 1, tw_torch_flag(c, 2)));
}

bool tw_torch_op_fold_all(tw_torch_call *c)
{
    bool flag[TW_MAX_RANK] = {true, true, true, true, true, true};
    return tw_torch_give(c, reduced(c, operator_of(c), tw_torch_in(c, 0), flag, false));
}

bool tw_torch_op_fold_real(tw_torch_call *c)
{
    return tw_torch_give(c,
                         over(c, operator_of(c), tw_torch_real_in(c, 0), 1, tw_torch_flag(c, 2)));
}

bool tw_torch_op_any_of(tw_torch_call *c)
{
    return tw_torch_give(
        c, over(c, operator_of(c), tw_torch_in_as(c, 0, TW_BOOL), 1, tw_torch_flag(c, 2)));
}

bool tw_torch_op_any_of_all(tw_torch_call *c)
{
    bool flag[TW_MAX_RANK] = {true, true, true, true, true, true};
    return tw_torch_give(c, reduced(c, operator_of(c), tw_torch_in_as(c, 0, TW_BOOL), flag, false));
}

/* --- variance ---------------------------------------------------------------------------------- */

/* correction: what is taken from the number of elements. */
static tw_value *variance(tw_torch_call *c, tw_value *x, const bool *flag, double correction,
                          bool keep, tw_value **mean)
{
    double count = 1;
    for (int k = 0; x && k < x->shape.rank; k++)
        count *= flag[k] ? x->shape.dim[k] : 1;
    tw_value *centre = reduced(c, "ReduceMean", x, flag, true);
    tw_value *squares = tw_build1(c->b, "Square", tw_build2(c->b, "Sub", x, centre, NULL), NULL);
    *mean = keep ? centre : reduced(c, "ReduceMean", x, flag, false);
    tw_value *y = reduced(c, "ReduceMean", squares, flag, keep);
    return tw_torch_scaled(c, y, count / (count - correction));
}

static bool spread(tw_torch_call *c, int axes, double correction, bool keep, bool root, bool both)
{
    tw_value *x = tw_torch_real_in(c, 0), *mean;
    bool flag[TW_MAX_RANK] = {true, true, true, true, true, true};
    if (!x || (axes && !tw_torch_axes(c, axes, x->shape.rank, flag)))
        return false;
    tw_value *y = variance(c, x, flag, correction, keep, &mean);
    if (root)
        y = tw_build1(c->b, "Sqrt", y, NULL);
    return both ? tw_torch_give_all(c, (tw_value *const[]){y, mean}, 2) : tw_torch_give(c, y);
}

static bool is_root(const tw_torch_call *c)
{
    return c->row->name[0] == 's';
}

static bool has_mean(const tw_torch_call *c)
{
    return strstr(c->row->name, "_mean") != NULL;
}

/* (x, unbiased) */
bool tw_torch_op_spread_all(tw_torch_call *c)
{
    return spread(c, 0, tw_torch_flag(c, 1), false, is_root(c), has_mean(c));
}

/* (x, dim, unbiased, keepdim) */
bool tw_torch_op_spread_unbiased(tw_torch_call *c)
{
    return spread(c, 1, tw_torch_flag(c, 2), tw_torch_flag(c, 3), is_root(c), has_mean(c));
}

/* (x, dim, correction, keepdim) */
bool tw_torch_op_spread(tw_torch_call *c)
{
    return spread(c, 1, tw_torch_has(c, 2) ? tw_torch_real(c, 2) : 1, tw_torch_flag(c, 3),
                  is_root(c), has_mean(c));
}

static tw_value *norm(tw_torch_call *c, tw_value *x, double p, const bool *flag, bool keep)
{
    if (p == 1 || p == 2)
        return reduced(c, p == 1 ? "ReduceL1" : "ReduceL2", x, flag, keep);
    x = tw_build1(c->b, "Abs", x, NULL);
    if (isinf(p))
        return reduced(c, p > 0 ? "ReduceMax" : "ReduceMin", x, flag, keep);
    if (p <= 0) {
        TW_TORCH_UNSUPPORTED(c, "the norm of order %g is not supported", p);
        return NULL;
    }
    x = tw_build2(c->b, "Pow", x, tw_build_scalar(c->b, TW_F32, p), NULL);
    x = reduced(c, "ReduceSum", x, flag, keep);
    return tw_build2(c->b, "Pow", x, tw_build_scalar(c->b, TW_F32, 1 / p), NULL);
}

/* (x, p, dim, keepdim) */
bool tw_torch_op_norm(tw_torch_call *c)
{
    const double p = tw_torch_has(c, 1) ? tw_torch_real(c, 1) : 2;
    tw_value *x = tw_torch_real_in(c, 0);
    bool flag[TW_MAX_RANK];
    return x && tw_torch_axes(c, 2, x->shape.rank, flag) &&
           tw_torch_give(c, norm(c, x, p, flag, tw_torch_flag(c, 3)));
}

/* The norm of a difference along its last axis. */
static bool give_distance(tw_torch_call *c, tw_value *x, tw_value *y, double p)
{
    bool flag[TW_MAX_RANK] = {false};
    tw_value *difference = tw_build2(c->b, "Sub", x, y, NULL);
    if (!difference)
        return false;
    flag[difference->shape.rank - 1] = true;
    return tw_torch_give(c, norm(c, difference, p, flag, false));
}

/* (x, y, p, ...): of every row of one to every row of the other */
bool tw_torch_op_cdist(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0), *y = tw_torch_real_in(c, 1);
    if (!x || !y)
        return false;
    if (x->shape.rank < 2 || y->shape.rank < 2)
        return TW_TORCH_FAIL(c, "operands of rank %d and %d; they must be matrices", x->shape.rank,
                             y->shape.rank);
    return give_distance(c, tw_torch_with_axis(c, x, x->shape.rank - 1),
                         tw_torch_with_axis(c, y, y->shape.rank - 2), tw_torch_real(c, 2));
}

/* (x, p): of every row to every later one */
bool tw_torch_op_pdist(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0);
    if (!x)
        return false;
    const int64_t rows = x->shape.rank == 2 ? x->shape.dim[0] : 0;
    if (rows < 2 || rows > 4096)
        return TW_TORCH_UNSUPPORTED(c, "2 to 4096 rows are supported");
    const int64_t count = rows * (rows - 1) / 2;
    int64_t *at[2];
    for (int k = 0; k < 2; k++)
        at[k] = tw_alloc_array(c->t->scratch, (size_t)count, sizeof **at);
    for (int64_t i = 0, made = 0; i < rows; i++)
        for (int64_t j = i + 1; j < rows; j++, made++) {
            at[0][made] = i;
            at[1][made] = j;
        }
    tw_value *pair[2];
    for (int k = 0; k < 2; k++)
        pair[k] = tw_build_gather(c->b, x, tw_build_list(c->b, (int)count, at[k]), 0, 0);
    return give_distance(c, pair[0], pair[1], tw_torch_real(c, 1));
}

/* --- search ------------------------------------------------------------------------------------ */

static tw_value *flat(tw_torch_call *c, tw_value *x)
{
    const int64_t all = x ? tw_shape_elements(&x->shape) : 0;
    return x ? tw_build_reshape(c->b, x, 1, &all) : NULL;
}

static tw_value *top(tw_torch_call *c, tw_value *x, int axis, int64_t k, bool largest)
{
    return tw_build1(
        c->b, "TopIndices", x,
        TW_SETTINGS(tw_set_int("axis", axis), tw_set_int("k", k), tw_set_int("largest", largest)));
}

/* (x, dim, keepdim) to values and indices: max.dim and min.dim */
bool tw_torch_op_extreme(tw_torch_call *c)
{
    const bool largest = c->row->name[1] == 'a', keep = tw_torch_flag(c, 2);
    tw_value *x = tw_torch_in(c, 0);
    int axis;
    if (!x || !tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &axis))
        return false;
    bool flag[TW_MAX_RANK] = {false};
    flag[axis] = true;
    tw_value *index = top(c, x, axis, 1, largest);
    if (!keep)
        index = tw_torch_without_axis(c, index, axis);
    return tw_torch_give_all(
        c,
        (tw_value *const[]){reduced(c, largest ? "ReduceMax" : "ReduceMin", x, flag, keep), index},
        2);
}

/* (x, dim, keepdim): argmax and argmin; of all elements where dim is None */
bool tw_torch_op_arg_extreme(tw_torch_call *c)
{
    const bool largest = c->row->name[4] == 'a';
    tw_value *x = tw_torch_in(c, 0);
    if (!x)
        return false;
    if (!tw_torch_has(c, 1)) {
        tw_value *y = top(c, flat(c, x), 0, 1, largest);
        return tw_torch_give(c, tw_build_reshape(c->b, y, 0, NULL));
    }
    int axis;
    if (!tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &axis))
        return false;
    tw_value *y = top(c, x, axis, 1, largest);
    return tw_torch_give(c, tw_torch_flag(c, 2) ? y : tw_torch_without_axis(c, y, axis));
}

static bool ordered(tw_torch_call *c, int64_t axis_given, int64_t k, bool largest, bool indices)
{
    tw_value *x = tw_torch_in(c, 0);
    int axis;
    if (!x || !tw_torch_axis(c, axis_given, x->shape.rank, &axis))
        return false;
    if (k < 0)
        k = x->shape.rank ? x->shape.dim[axis] : 1;
    tw_value *index = top(c, x, axis, k, largest);
    if (indices)
        return tw_torch_give(c, index);
    tw_value *y =
        tw_build2(c->b, "GatherElements", x, index, TW_SETTINGS(tw_set_int("axis", axis)));
    return tw_torch_give_all(c, (tw_value *const[]){y, index}, 2);
}

/* (x, k, dim, largest, sorted) */
bool tw_torch_op_topk(tw_torch_call *c)
{
    return ordered(c, tw_torch_int(c, 2), tw_torch_int(c, 1), tw_torch_flag(c, 3), false);
}

/* (x, dim, descending) */
bool tw_torch_op_sort(tw_torch_call *c)
{
    return ordered(c, tw_torch_int(c, 1), -1, tw_torch_flag(c, 2), false);
}

bool tw_torch_op_argsort(tw_torch_call *c)
{
    return ordered(c, tw_torch_int(c, 1), -1, tw_torch_flag(c, 2), true);
}

/* --- along an axis ----------------------------------------------------------------------------- */

/* (x, dim, dtype) */
bool tw_torch_op_cumulate(tw_torch_call *c)
{
    tw_value *x = summable(c, 2);
    int axis;
    return x && tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &axis) &&
           tw_torch_give(c,
                         tw_build1(c->b, operator_of(c), x, TW_SETTINGS(tw_set_int("axis", axis))));
}

/* (x, dim, ...) */
bool tw_torch_op_softmax(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0);
    int axis;
    if (!x || !tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &axis))
        return false;
    return tw_torch_give(c,
                         tw_build1(c->b, operator_of(c), x, TW_SETTINGS(tw_set_int("axis", axis))));
}

/* (x, dim): over all up to each. What lies behind takes no part: running sums of exponentials would lose
 * what is far below the greatest. */
bool tw_torch_op_log_cumulate(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0);
    int64_t perm[TW_MAX_RANK] = {0, 1, 2, 3, 4, 5};
    bool flag[TW_MAX_RANK] = {false};
    int axis;
    if (!tw_torch_axis_of(c, x, 1, &axis))
        return false;
    const int rank = x->shape.rank;
    const int32_t extent = x->shape.dim[axis];
    perm[axis] = rank - 1;
    perm[rank - 1] = axis;
    x = tw_torch_with_axis(c, tw_build_transpose(c->b, x, rank, perm), rank - 1);
    tw_value *in[] = {tw_build_band(c->b, extent, extent, -INT32_MAX, 0), x,
                      tw_build_scalar(c->b, TW_F32, -INFINITY)};
    if (!in[0] || !x)
        return false;
    flag[rank] = true;
    tw_value *y = reduced(c, "ReduceLogSumExp", tw_build(c->b, "Where", in, 3, NULL), flag, false);
    return y && tw_torch_give(c, tw_build_transpose(c->b, y, rank, perm));
}
