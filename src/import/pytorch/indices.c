/* Elements by index: taken, put, added up. */
#include <math.h>
#include <string.h>

#include "import/pytorch/torch.h"

/* (weight, indices, ...) */
bool tw_torch_op_embedding(tw_torch_call *c)
{
    tw_value *w = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 1);
    return w && index && tw_torch_give(c, tw_build_gather(c->b, w, index, 0, 0));
}

/* (x, dim, index) */
bool tw_torch_op_index_select(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 2);
    int axis;
    if (!index || !tw_torch_axis_of(c, x, 1, &axis))
        return false;
    return tw_torch_give(c, tw_build_gather(c->b, x, index, axis, 0));
}

/* (x, dimension, size, step): windows along an axis, each along a new last one */
bool tw_torch_op_unfold(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int64_t size = tw_torch_int(c, 2), step = tw_torch_int(c, 3);
    int64_t perm[TW_MAX_RANK + 1];
    int axis;
    if (!tw_torch_axis_of(c, x, 1, &axis))
        return false;
    const int rank = x->shape.rank + 1;
    const int32_t extent = x->shape.dim[axis];
    if (size < 1 || size > extent || step < 1)
        return TW_TORCH_FAIL(c, "windows of %lld every %lld elements of %d", (long long)size,
                             (long long)step, (int)extent);
    if (rank > TW_MAX_RANK)
        return TW_TORCH_UNSUPPORTED(c, "a result of more than %d axes", TW_MAX_RANK);
    const int64_t count = (extent - size) / step + 1, dim[2] = {count, size};
    if (count > TW_BUILD_LIMIT / 8 / size)
        return TW_TORCH_UNSUPPORTED(c, "%lld windows of %lld elements", (long long)count,
                                    (long long)size);
    int64_t *at = tw_alloc_array(c->t->scratch, (size_t)(count * size), sizeof *at);
    for (int64_t i = 0; i < count * size; i++)
        at[i] = i / size * step + i % size;
    tw_value *index = tw_build_list(c->b, (int)(count * size), at);
    tw_value *y = tw_build_gather(c->b, x, tw_build_reshape(c->b, index, 2, dim), axis, 0);
    for (int i = 0; i < rank; i++)
        perm[i] = i <= axis ? i : i + 1 < rank ? i + 1 : axis + 1;
    return y && tw_torch_give(c, tw_build_transpose(c->b, y, rank, perm));
}

/* (x, dim, index) */
bool tw_torch_op_gather(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 2);
    int axis;
    if (!index || !tw_torch_axis_of(c, x, 1, &axis))
        return false;
    return tw_torch_give(
        c, tw_build2(c->b, "GatherElements", x, index, TW_SETTINGS(tw_set_int("axis", axis))));
}

static tw_value *scattered(tw_torch_call *c, tw_value *x, tw_value *index, tw_value *source,
                           int axis, const char *reduction)
{
    tw_value *in[] = {x, index, source};
    return x && index && source ? tw_build(c->b, "ScatterElements", in, 3,
                                           TW_SETTINGS(tw_set_int("axis", axis),
                                                       tw_set_word("reduction", reduction)))
                                : NULL;
}

/* The same number in the index' shape. */
static tw_value *filling(tw_torch_call *c, const tw_value *index, tw_dtype dtype, double value)
{
    tw_shape shape = index->shape;
    shape.dtype = dtype;
    return tw_build_full(c->b, shape, value);
}

/* Argument 3 in x's type and the index' shape: a number, or of a larger tensor the first elements. */
static tw_value *source_of(tw_torch_call *c, const tw_value *x, const tw_value *index)
{
    tw_value *source = tw_torch_in_as(c, 3, x->shape.dtype);
    if (source && c->arg[3]->kind != TW_TORCH_TENSOR) {
        tw_shape shape = index->shape;
        shape.dtype = x->shape.dtype;
        return tw_build_expand(c->b, source, &shape);
    }
    for (int k = 0; k < index->shape.rank && source; k++)
        if (source->shape.rank == index->shape.rank && source->shape.dim[k] > index->shape.dim[k])
            source = tw_build_slice(c->b, source, k, 0, index->shape.dim[k], 1);
    return source;
}

/* (x, dim, index, source or value) */
static bool scatter(tw_torch_call *c, const char *reduction)
{
    tw_value *x = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 2);
    int axis;
    return index && tw_torch_axis_of(c, x, 1, &axis) &&
           tw_torch_give(c, scattered(c, x, index, source_of(c, x, index), axis, reduction));
}

bool tw_torch_op_scatter(tw_torch_call *c)
{
    return scatter(c, "none");
}

bool tw_torch_op_scatter_add(tw_torch_call *c)
{
    return scatter(c, "add");
}

/* A reduction by PyTorch's name. */
typedef struct tw_torch_reduction {
    const char *name, *how;
    double neutral;
} tw_torch_reduction;

static const tw_torch_reduction *reduction_of(tw_torch_call *c, int i)
{
    static const tw_torch_reduction known[] = {{"sum", "add", 0},
                                               {"mean", "add", 0},
                                               {"prod", "mul", 1},
                                               {"amax", "max", -INFINITY},
                                               {"amin", "min", INFINITY}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(tw_torch_text(c, i), known[k].name) == 0)
            return &known[k];
    TW_TORCH_UNSUPPORTED(
        c, "the reduction '%.40s' is not supported; sum, mean, prod, amax and amin are",
        tw_torch_text(c, i));
    return NULL;
}

/* (x, dim, index, source, reduce, include_self): where x does not take part, its places begin with what
 * changes nothing. A mean is the sum by the same of ones. */
bool tw_torch_op_scatter_reduce(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 2);
    const tw_torch_reduction *r = reduction_of(c, 4);
    const bool own = tw_torch_flag(c, 5);
    int axis;
    if (!index || !r || !tw_torch_axis_of(c, x, 1, &axis))
        return false;
    const tw_dtype dtype = x->shape.dtype;
    if (dtype != TW_F32 && (strcmp(r->name, "mean") == 0 || (!own && isinf(r->neutral))))
        return TW_TORCH_UNSUPPORTED(c, "the %s of integers; cast them to float32", r->name);
    tw_value *neutral = own ? NULL : filling(c, index, dtype, r->neutral);
    tw_value *start = own ? x : scattered(c, x, index, neutral, axis, "none");
    tw_value *y = scattered(c, start, index, source_of(c, x, index), axis, r->how);
    if (y && strcmp(r->name, "mean") == 0) {
        tw_value *count = tw_build_full(c->b, x->shape, 1);
        count = own ? count : scattered(c, count, index, neutral, axis, "none");
        count = scattered(c, count, index, filling(c, index, dtype, 1), axis, "add");
        y = tw_build2(c->b, "Div", y, count, NULL);
    }
    return tw_torch_give(c, y);
}

/* Item `axis` of the list as indices of x; a mask is the places where it is true. */
static tw_value *index_of(tw_torch_call *c, int axis)
{
    tw_torch_object *all = c->arg[1];
    c->arg[1] = all->items[axis];
    tw_value *index = tw_torch_index_in(c, 1);
    c->arg[1] = all;
    if (!index || index->shape.dtype != TW_BOOL)
        return index;
    if (!tw_build_known(c->b, index) || index->shape.rank != 1) {
        TW_TORCH_UNSUPPORTED(c, "a mask must be constant and have one axis: how many elements it "
                                "takes must be known");
        return NULL;
    }
    index = tw_build_places(c->b, index, true);
    const int64_t count = index ? index->shape.dim[0] : 0;
    return index ? tw_build_reshape(c->b, index, 1, &count) : NULL;
}

/* Indices of axes side by side are indices of one axis, which the axes become: i * extent + j. */
static tw_value *joined_index(tw_torch_call *c, const tw_value *x, int first, int count)
{
    tw_value *sum = NULL;
    for (int axis = first; axis < first + count; axis++) {
        tw_value *index = index_of(c, axis);
        if (!index || count == 1)
            return index;
        if (sum && sum->shape.dtype != index->shape.dtype)
            index = tw_build_cast(c->b, index, sum->shape.dtype);
        tw_value *extent =
            index ? tw_build_scalar(c->b, index->shape.dtype, (double)x->shape.dim[axis]) : NULL;
        index = tw_build2(c->b, "Mod", index, extent, NULL); /* counted from the end if negative */
        sum = sum ? tw_build2(c->b, "Add", tw_build2(c->b, "Mul", sum, extent, NULL), index, NULL)
                  : index;
    }
    return sum;
}

/* Which axes have indices: `count` from `first` on. */
static bool indexed_axes(tw_torch_call *c, const tw_value *x, int *first, int *count)
{
    const tw_torch_object *list = c->arg[1];
    *first = -1;
    *count = 0;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i]->kind != TW_TORCH_TENSOR)
            continue;
        if (*count > 0 && i != *first + *count)
            return TW_TORCH_UNSUPPORTED(c, "indices of axes that do not lie side by side");
        *first = (*count)++ ? *first : i;
    }
    return x && *count > 0 && *first + *count <= x->shape.rank;
}

/* x with `count` axes from `first` on as one. */
static tw_value *with_joined(tw_torch_call *c, tw_value *x, int first, int count)
{
    const int rank = x->shape.rank - count + 1;
    int64_t dim[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    for (int i = 0; i < x->shape.rank; i++)
        dim[i <= first ? i : i < first + count ? first : i - count + 1] *= x->shape.dim[i];
    return count > 1 ? tw_build_reshape(c->b, x, rank, dim) : x;
}

/* (x, indices): a tensor of indices or None for every axis from the first on */
bool tw_torch_op_index(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int first, count;
    if (!indexed_axes(c, x, &first, &count))
        return false;
    tw_value *index = joined_index(c, x, first, count);
    x = index ? with_joined(c, x, first, count) : NULL;
    return x && tw_torch_give(c, tw_build_gather(c->b, x, index, first, 0));
}

/* Broadcast where that is possible. */
static tw_value *broadcast(tw_torch_call *c, tw_value *x, tw_shape shape)
{
    const int lead = x ? shape.rank - x->shape.rank : 0;
    bool fits = lead >= 0;
    for (int i = 0; x && fits && i < x->shape.rank; i++)
        fits = x->shape.dim[i] == 1 || x->shape.dim[i] == shape.dim[lead + i];
    if (!fits)
        TW_TORCH_UNSUPPORTED(c, "a tensor of rank %d does not become the place's shape of rank %d",
                             x->shape.rank, shape.rank);
    return fits ? tw_build_expand(c->b, x, &shape) : NULL;
}

/* Axes `count` from `from` on to the place `to`, the others in order. */
static tw_value *moved(tw_torch_call *c, tw_value *x, int from, int count, int to)
{
    int64_t perm[TW_MAX_RANK] = {0};
    for (int i = 0, other = 0; x && i < x->shape.rank; i++) {
        if (i >= to && i < to + count) {
            perm[i] = from + i - to;
            continue;
        }
        other += other == from ? count : 0;
        perm[i] = other++;
    }
    return from == to ? x : tw_build_transpose(c->b, x, x ? x->shape.rank : 0, perm);
}

/* x with values at the indices of an axis. The values have the index' axes in place of that one. */
static tw_value *put(tw_torch_call *c, tw_value *x, int axis, tw_value *index, tw_value *values,
                     const char *how)
{
    if (!x || !index || !values)
        return NULL;
    tw_shape shape = x->shape;
    const int axes = index->shape.rank;
    shape.rank = x->shape.rank - 1 + axes;
    if (shape.rank > TW_MAX_RANK || axes + 1 > TW_MAX_RANK) {
        TW_TORCH_UNSUPPORTED(c, "values of rank %d; at most %d are supported", shape.rank,
                             TW_MAX_RANK);
        return NULL;
    }
    for (int i = axis; i < shape.rank; i++)
        shape.dim[i] = i < axis + axes ? index->shape.dim[i - axis] : x->shape.dim[i - axes + 1];
    tw_value *extent = tw_build_scalar(c->b, index->shape.dtype, x->shape.dim[axis]);
    index = tw_build2(c->b, "Mod", index, extent, NULL); /* counted from the end if negative */
    tw_value *in[] = {moved(c, x, axis, 1, 0), tw_torch_with_axis(c, index, axes),
                      moved(c, broadcast(c, values, shape), axis, axes, 0)};
    if (!in[0] || !in[1] || !in[2])
        return NULL;
    tw_value *y = tw_build(c->b, "ScatterND", in, 3, TW_SETTINGS(tw_set_word("reduction", how)));
    return moved(c, y, 0, 1, axis);
}

/* x where a mask, which runs along its axes from `first` on, is false, else the one value. */
static tw_value *masked(tw_torch_call *c, tw_value *x, tw_value *mask, int first, tw_value *value)
{
    int64_t dim[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1}, one = 1;
    for (int i = 0; i < mask->shape.rank; i++) {
        if (first + i >= x->shape.rank || mask->shape.dim[i] != x->shape.dim[first + i]) {
            TW_TORCH_FAIL(c, "the mask does not have the shape of the tensor's axes");
            return NULL;
        }
        dim[i] = mask->shape.dim[i];
    }
    mask = tw_build_reshape(c->b, mask, x->shape.rank - first, dim);
    value = tw_build_reshape(c->b, value, 1, &one);
    tw_value *in[] = {mask, value, x};
    return mask && value ? tw_build(c->b, "Where", in, 3, NULL) : NULL;
}

/* (x, indices, values, accumulate) */
bool tw_torch_op_index_put(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    tw_value *values = x ? tw_torch_in_as(c, 2, x->shape.dtype) : NULL;
    const bool add = tw_torch_flag(c, 3);
    int first, count;
    if (!values || !indexed_axes(c, x, &first, &count))
        return false;
    tw_value *mask = tw_torch_value(c->t, ((tw_torch_object *)c->arg[1])->items[first]->tensor);
    if (!mask)
        return false;
    if (mask->shape.dtype == TW_BOOL && count == 1 && tw_shape_elements(&values->shape) == 1) {
        if (add)
            values = tw_build2(c->b, "Add", x, values, NULL);
        return tw_torch_give(c, masked(c, x, mask, first, values));
    }
    if (mask->shape.dtype == TW_BOOL && !tw_build_known(c->b, mask))
        return TW_TORCH_UNSUPPORTED(c, "several values where a mask that is computed is true; use "
                                       "masked_scatter or torch.where");
    int64_t dim[TW_MAX_RANK] = {0};
    for (int i = 0; i < x->shape.rank; i++)
        dim[i] = x->shape.dim[i];
    const int rank = x->shape.rank;
    tw_value *index = joined_index(c, x, first, count);
    x = index ? with_joined(c, x, first, count) : NULL;
    tw_value *y = put(c, x, first, index, values, add ? "add" : "none");
    return y && tw_torch_give(c, count > 1 ? tw_build_reshape(c->b, y, rank, dim) : y);
}

/* (x, dim, index, source, alpha) */
bool tw_torch_op_index_add(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 2);
    int axis;
    if (!index || !tw_torch_axis_of(c, x, 1, &axis))
        return false;
    tw_value *source =
        tw_torch_scaled(c, tw_torch_in_as(c, 3, x->shape.dtype), tw_torch_real(c, 4));
    return tw_torch_give(c, put(c, x, axis, index, source, "add"));
}

/* (x, dim, index, source or value) */
bool tw_torch_op_index_copy(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 2);
    int axis;
    return index && tw_torch_axis_of(c, x, 1, &axis) &&
           tw_torch_give(c, put(c, x, axis, index, tw_torch_in_as(c, 3, x->shape.dtype), "none"));
}

/* (x, mask, source): elements of the source in order where the mask is true. The k-th true place takes the
 * k-th element, and how many are true before a place is a sum. */
bool tw_torch_op_masked_scatter(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0), *mask = tw_torch_in_as(c, 1, TW_BOOL);
    tw_value *source = x ? tw_torch_in_as(c, 2, x->shape.dtype) : NULL;
    if (!mask || !source)
        return false;
    tw_shape shape = x->shape;
    shape.dtype = TW_BOOL;
    int64_t all = tw_shape_elements(&shape), dim[TW_MAX_RANK] = {0};
    const int64_t given = tw_shape_elements(&source->shape);
    for (int i = 0; i < shape.rank; i++)
        dim[i] = shape.dim[i];
    if (given < 1)
        return TW_TORCH_FAIL(c, "a source without elements");
    mask = broadcast(c, mask, shape);
    tw_value *at = tw_build_cast(c->b, tw_build_reshape(c->b, mask, 1, &all), TW_S64);
    at = tw_build1(c->b, "CumSum", at,
                   TW_SETTINGS(tw_set_int("axis", 0), tw_set_int("exclusive", 1)));
    at = tw_build2(c->b, "Min", at, tw_build_scalar(c->b, TW_S64, (double)(given - 1)), NULL);
    source = tw_build_reshape(c->b, source, 1, &given);
    tw_value *chosen = at && source ? tw_build_gather(c->b, source, at, 0, 0) : NULL;
    chosen = chosen ? tw_build_reshape(c->b, chosen, shape.rank, dim) : NULL;
    return chosen &&
           tw_torch_give(c, tw_build(c->b, "Where", (tw_value *const[]){mask, chosen, x}, 3, NULL));
}

/* (x): the places of a constant's elements that are not zero, a row each */
bool tw_torch_op_nonzero(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    if (!x)
        return false;
    if (!tw_build_known(c->b, x) || x->shape.rank < 1)
        return TW_TORCH_UNSUPPORTED(c, "how many rows it has depends on what is computed while the "
                                       "network runs; keep the mask and use torch.where");
    return tw_torch_give(c, tw_build_places(c->b, x, true));
}

/* (x, boundaries, out_int32, right): how many of the boundaries lie below, or not above */
bool tw_torch_op_bucketize(tw_torch_call *c)
{
    const int64_t axis[] = {-1};
    tw_value *x = tw_torch_real_in(c, 0), *limits = tw_torch_real_in(c, 1);
    const tw_dtype dtype = tw_torch_flag(c, 2) ? TW_S32 : TW_S64;
    if (!x || !limits || limits->shape.rank != 1)
        return x && limits && TW_TORCH_FAIL(c, "the boundaries are not a list");
    tw_value *above = tw_build2(c->b, tw_torch_flag(c, 3) ? "GreaterOrEqual" : "Greater",
                                tw_torch_with_axis(c, x, x->shape.rank), limits, NULL);
    return tw_torch_give(
        c, tw_build1(c->b, "ReduceSum", tw_build_cast(c->b, above, dtype),
                     TW_SETTINGS(tw_set_ints("axes", 1, axis), tw_set_int("keepdims", 0))));
}

/* (x, classes) */
bool tw_torch_op_one_hot(tw_torch_call *c)
{
    tw_value *x = tw_torch_index_in(c, 0);
    const int64_t classes = tw_torch_int(c, 1);
    if (!x || classes < 1 || classes > INT32_MAX)
        return x && TW_TORCH_UNSUPPORTED(c, "the number of classes must be given");
    tw_value *hot = tw_build_hot(c->b, c->name, x, x->shape.rank, classes);
    return tw_torch_give(c, tw_build_cast(c->b, hot, TW_S64));
}
