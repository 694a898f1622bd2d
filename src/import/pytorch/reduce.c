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

/* (x, p, dim, keepdim) */
bool tw_torch_op_norm(tw_torch_call *c)
{
    const double p = tw_torch_has(c, 1) ? tw_torch_real(c, 1) : 2;
    tw_value *x = tw_torch_real_in(c, 0);
    const bool keep = tw_torch_flag(c, 3);
    if (p == 1 || p == 2)
        return tw_torch_give(c, over(c, p == 1 ? "ReduceL1" : "ReduceL2", x, 2, keep));
    x = tw_build1(c->b, "Abs", x, NULL);
    if (isinf(p))
        return tw_torch_give(c, over(c, p > 0 ? "ReduceMax" : "ReduceMin", x, 2, keep));
    if (p <= 0)
        return TW_TORCH_UNSUPPORTED(c, "the norm of order %g is not supported", p);
    x = tw_build2(c->b, "Pow", x, tw_build_scalar(c->b, TW_F32, p), NULL);
    x = over(c, "ReduceSum", x, 2, keep);
    return tw_torch_give(c, tw_build2(c->b, "Pow", x, tw_build_scalar(c->b, TW_F32, 1 / p), NULL));
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
