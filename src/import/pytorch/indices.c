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

/* (x, dim, index, source or value) */
static bool scatter(tw_torch_call *c, const char *reduction)
{
    tw_value *x = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 2);
    int axis;
    if (!index || !tw_torch_axis_of(c, x, 1, &axis))
        return false;
    tw_value *source = tw_torch_in_as(c, 3, x->shape.dtype);
    if (source && c->arg[3]->kind != TW_TORCH_TENSOR) {
        tw_shape shape = index->shape;
        shape.dtype = x->shape.dtype;
        source = tw_build_expand(c->b, source, &shape);
    } else if (source) {
        /* of a larger source the first elements are taken */
        for (int k = 0; k < index->shape.rank && source; k++)
            if (source->shape.rank == index->shape.rank &&
                source->shape.dim[k] > index->shape.dim[k])
                source = tw_build_slice(c->b, source, k, 0, index->shape.dim[k], 1);
    }
    return source && tw_torch_give(c, tw_build(c->b, "ScatterElements",
                                               (tw_value *const[]){x, index, source}, 3,
                                               TW_SETTINGS(tw_set_int("axis", axis),
                                                           tw_set_word("reduction", reduction))));
}

bool tw_torch_op_scatter(tw_torch_call *c)
{
    return scatter(c, "none");
}

bool tw_torch_op_scatter_add(tw_torch_call *c)
{
    return scatter(c, "add");
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

/* (x, indices): a tensor of indices or None for every axis from the first on */
bool tw_torch_op_index(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const tw_torch_object *list = c->arg[1];
    int first = -1, count = 0, rank = 0;
    int64_t dim[TW_MAX_RANK];
    for (int i = 0; i < list->count; i++) {
        if (list->items[i]->kind != TW_TORCH_TENSOR)
            continue;
        if (count > 0 && i != first + count)
            return TW_TORCH_UNSUPPORTED(c, "indices of axes that do not lie side by side");
        first = count++ ? first : i;
    }
    if (!x || count == 0 || first + count > x->shape.rank)
        return false;
    tw_value *index = joined_index(c, x, first, count);
    for (int i = 0; i < x->shape.rank; i++)
        if (i <= first || i >= first + count)
            dim[rank++] = x->shape.dim[i];
        else
            dim[rank - 1] *= x->shape.dim[i];
    x = count > 1 ? tw_build_reshape(c->b, x, rank, dim) : x;
    return index && x && tw_torch_give(c, tw_build_gather(c->b, x, index, first, 0));
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
    for (int i = 0; i < shape.rank; i++) {
        const int k = i - (shape.rank - mask->shape.rank);
        if (k >= 0 && mask->shape.dim[k] != 1 && mask->shape.dim[k] != shape.dim[i])
            return TW_TORCH_FAIL(c, "the mask does not have the tensor's shape");
        dim[i] = shape.dim[i];
    }
    if (mask->shape.rank > shape.rank || given < 1)
        return TW_TORCH_UNSUPPORTED(c, "the mask has more axes than the tensor, or the source no "
                                       "elements");
    mask = tw_build_expand(c->b, mask, &shape);
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
