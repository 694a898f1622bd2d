/* Parts of tensors, tensors together, elements by index, padding. */
#include <string.h>

#include "import/pytorch/torch.h"

/* --- parts ------------------------------------------------------------------------------------- */

static bool axis_of(tw_torch_call *c, const tw_value *x, int i, int *axis)
{
    return x && tw_torch_axis(c, tw_torch_int(c, i), x->shape.rank, axis) &&
           (x->shape.rank > 0 || TW_TORCH_FAIL(c, "a number has no axes"));
}

/* (x, dim, index) */
bool tw_torch_op_select(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int axis;
    if (!axis_of(c, x, 1, &axis))
        return false;
    int64_t index = tw_torch_int(c, 2);
    index += index < 0 ? x->shape.dim[axis] : 0;
    if (index < 0 || index >= x->shape.dim[axis])
        return TW_TORCH_FAIL(c, "index %lld of %d elements", (long long)index,
                             (int)x->shape.dim[axis]);
    return tw_torch_give(
        c, tw_torch_without_axis(c, tw_build_slice(c->b, x, axis, index, 1, 1), axis));
}

/* (x, dim, start, end, step) */
bool tw_torch_op_slice(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int64_t step = tw_torch_int(c, 4);
    int axis;
    if (!axis_of(c, x, 1, &axis))
        return false;
    if (step < 1)
        return TW_TORCH_FAIL(c, "a step of %lld", (long long)step);
    const tw_range range =
        tw_range_of(x->shape.dim[axis], tw_torch_has(c, 2) ? tw_torch_int(c, 2) : 0,
                    tw_torch_has(c, 3) ? tw_torch_int(c, 3) : INT64_MAX, step);
    if (range.size == x->shape.dim[axis]) {
        c->result = c->arg[0];
        return true;
    }
    return tw_torch_give(c, tw_build_slice(c->b, x, axis, range.begin, range.size, range.step));
}

/* (x, dim, start, length) */
bool tw_torch_op_narrow(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t start = tw_torch_int(c, 2);
    const int64_t length = tw_torch_int(c, 3);
    int axis;
    if (!axis_of(c, x, 1, &axis))
        return false;
    start += start < 0 ? x->shape.dim[axis] : 0;
    if (start < 0 || length < 0 || length > x->shape.dim[axis] - start)
        return TW_TORCH_FAIL(c, "%lld elements from %lld on of %d", (long long)length,
                             (long long)start, (int)x->shape.dim[axis]);
    return tw_torch_give(c, tw_build_slice(c->b, x, axis, start, length, 1));
}

/* Parts of the sizes, in order; drop: without the axis, which has extent 1. */
static bool give_parts(tw_torch_call *c, tw_value *x, int axis, int64_t count, const int64_t *sizes,
                       bool drop)
{
    tw_value **parts = tw_alloc_array(c->t->scratch, (size_t)count + 1, sizeof(tw_value *));
    int64_t at = 0;
    for (int64_t i = 0; i < count; at += sizes[i++]) {
        if (sizes[i] < 0 || sizes[i] > x->shape.dim[axis] - at)
            return TW_TORCH_FAIL(c, "the parts are more than the %d elements",
                                 (int)x->shape.dim[axis]);
        parts[i] =
            sizes[i] == x->shape.dim[axis] ? x : tw_build_slice(c->b, x, axis, at, sizes[i], 1);
        if (drop)
            parts[i] = tw_torch_without_axis(c, parts[i], axis);
    }
    return tw_torch_give_list(c, parts, (int)count);
}

static bool in_steps(tw_torch_call *c, tw_value *x, int axis, int64_t step, bool drop)
{
    const int64_t extent = x->shape.dim[axis];
    if (step < 1)
        return TW_TORCH_FAIL(c, "parts of %lld elements", (long long)step);
    const int64_t count = extent ? (extent - 1) / step + 1 : 1;
    if (count > 4096)
        return TW_TORCH_UNSUPPORTED(c, "%lld parts; at most 4096 are made", (long long)count);
    int64_t *sizes = tw_alloc_array(c->t->scratch, (size_t)count, sizeof *sizes);
    for (int64_t i = 0; i < count; i++)
        sizes[i] = i + 1 < count ? step : extent - step * (count - 1);
    return give_parts(c, x, axis, count, sizes, drop);
}

/* (x, split_size or sizes, dim) */
bool tw_torch_op_split(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const tw_torch_object *sizes = c->arg[1];
    int axis;
    if (!axis_of(c, x, 2, &axis))
        return false;
    if (sizes->kind == TW_TORCH_INT)
        return in_steps(c, x, axis, sizes->number, false);
    int64_t *list = tw_alloc_array(c->t->scratch, (size_t)sizes->count + 1, sizeof *list);
    for (int i = 0; i < sizes->count; i++)
        list[i] = sizes->items[i]->number;
    return give_parts(c, x, axis, sizes->count, list, false);
}

/* (x, chunks, dim) */
bool tw_torch_op_chunk(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int64_t chunks = tw_torch_int(c, 1);
    int axis;
    if (!axis_of(c, x, 2, &axis))
        return false;
    if (chunks < 1)
        return TW_TORCH_FAIL(c, "%lld chunks", (long long)chunks);
    const int64_t extent = x->shape.dim[axis];
    return in_steps(c, x, axis, extent ? (extent - 1) / chunks + 1 : 1, false);
}

/* (x, dim) */
bool tw_torch_op_unbind(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int axis;
    return axis_of(c, x, 1, &axis) && in_steps(c, x, axis, 1, true);
}

/* --- together ---------------------------------------------------------------------------------- */

/* The tensors of a list in their common type. */
static tw_value **list_of(tw_torch_call *c, int i, int *count)
{
    const tw_torch_object *list = c->arg[i];
    tw_dtype dtype = TW_BOOL;
    tw_value **values = tw_alloc_array(c->t->scratch, (size_t)list->count + 1, sizeof(tw_value *));
    *count = 0;
    for (int k = 0; k < list->count; k++) {
        tw_value *x = tw_torch_value(c->t, list->items[k]->tensor);
        if (!x)
            return NULL;
        const bool wider =
            x->shape.dtype == TW_F32 ||
            (dtype != TW_F32 && tw_dtype_bytes(x->shape.dtype) >= tw_dtype_bytes(dtype) &&
             x->shape.dtype != TW_BOOL);
        dtype = wider ? x->shape.dtype : dtype;
        /* Historically an empty list of elements is nothing, whatever the other shapes. */
        if (!(x->shape.rank == 1 && x->shape.dim[0] == 0))
            values[(*count)++] = x;
    }
    for (int k = 0; k < *count; k++)
        values[k] = tw_build_cast(c->b, values[k], dtype);
    if (*count == 0)
        TW_TORCH_FAIL(c, "of no tensors");
    return *count ? values : NULL;
}

/* (tensors, dim) */
bool tw_torch_op_cat(tw_torch_call *c)
{
    int count, axis;
    tw_value **values = list_of(c, 0, &count);
    return values && axis_of(c, values[0], 1, &axis) &&
           tw_torch_give(c, tw_build_concat(c->b, values, count, axis));
}

/* (tensors, dim) */
bool tw_torch_op_stack(tw_torch_call *c)
{
    int count, axis;
    tw_value **values = list_of(c, 0, &count);
    if (!values || !tw_torch_axis(c, tw_torch_int(c, 1), values[0]->shape.rank + 1, &axis))
        return false;
    for (int k = 0; k < count; k++) {
        if (!tw_shape_equal(&values[k]->shape, &values[0]->shape))
            return TW_TORCH_FAIL(c, "tensors of different shapes cannot be stacked");
    }
    for (int k = 0; k < count; k++)
        values[k] = tw_torch_with_axis(c, values[k], axis);
    return values[0] && tw_torch_give(c, tw_build_concat(c->b, values, count, axis));
}

/* --- order of elements ------------------------------------------------------------------------- */

/* (x, dims) */
bool tw_torch_op_flip(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    bool flag[TW_MAX_RANK];
    if (!x || !tw_torch_axes(c, 1, x->shape.rank, flag))
        return false;
    for (int k = 0; k < x->shape.rank && x; k++)
        if (flag[k] && x->shape.dim[k] > 1)
            x = tw_build_slice(c->b, x, k, x->shape.dim[k] - 1, x->shape.dim[k], -1);
    return tw_torch_give(c, x);
}

/* (x, shifts, dims) */
bool tw_torch_op_roll(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int count = tw_torch_length(c, 1);
    int64_t shift[TW_MAX_RANK], dims[TW_MAX_RANK];
    if (!x || count < 1 || count > TW_MAX_RANK || tw_torch_length(c, 2) != count ||
        !tw_torch_ints(c, 1, count, shift) || !tw_torch_ints(c, 2, count, dims))
        return x && TW_TORCH_UNSUPPORTED(c, "one shift for each of the axes is needed");
    for (int k = 0; k < count; k++) {
        int axis;
        if (!tw_torch_axis(c, dims[k], x->shape.rank, &axis))
            return false;
        const int64_t extent = x->shape.rank ? x->shape.dim[axis] : 0;
        const int64_t by = extent ? ((shift[k] % extent) + extent) % extent : 0;
        if (by == 0)
            continue;
        tw_value *parts[] = {tw_build_slice(c->b, x, axis, extent - by, by, 1),
                             tw_build_slice(c->b, x, axis, 0, extent - by, 1)};
        x = tw_build_concat(c->b, parts, 2, axis);
        if (!x)
            return false;
    }
    return tw_torch_give(c, x);
}

/* (x, groups): channels [groups, n] to [n, groups] */
bool tw_torch_op_channel_shuffle(tw_torch_call *c)
{
    static const int64_t swap[] = {0, 2, 1, 3};
    tw_value *x = tw_torch_in(c, 0);
    const int64_t groups = tw_torch_int(c, 1);
    int64_t dim[TW_MAX_RANK] = {0}, rest = 1;
    if (!x || x->shape.rank < 3 || groups < 1 || x->shape.dim[1] % groups != 0)
        return false;
    for (int k = 0; k < x->shape.rank; k++) {
        dim[k] = x->shape.dim[k];
        rest *= k > 1 ? dim[k] : 1;
    }
    tw_value *y =
        tw_build_reshape(c->b, x, 4, (const int64_t[]){dim[0], groups, dim[1] / groups, rest});
    y = tw_build_transpose(c->b, y, 4, swap);
    return tw_torch_give(c, tw_build_reshape(c->b, y, x->shape.rank, dim));
}

/* (x, diagonal): what lies on the other side of it becomes 0 */
bool tw_torch_op_triangle(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int64_t k = tw_torch_int(c, 1);
    const bool upper = c->row->name[3] == 'u';
    if (!x || x->shape.rank < 2)
        return false;
    tw_value *keep =
        tw_build_band(c->b, x->shape.dim[x->shape.rank - 2], x->shape.dim[x->shape.rank - 1],
                      upper ? k : -INT32_MAX, upper ? INT32_MAX : k);
    tw_value *in[] = {keep, x, tw_build_scalar(c->b, x->shape.dtype, 0)};
    return tw_torch_give(c, tw_build(c->b, "Where", in, 3, NULL));
}

/* --- by index ---------------------------------------------------------------------------------- */

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
    if (!index || !axis_of(c, x, 1, &axis))
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
    if (!axis_of(c, x, 1, &axis))
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
    if (!index || !axis_of(c, x, 1, &axis))
        return false;
    return tw_torch_give(
        c, tw_build2(c->b, "GatherElements", x, index, TW_SETTINGS(tw_set_int("axis", axis))));
}

/* (x, dim, index, source or value) */
static bool scatter(tw_torch_call *c, const char *reduction)
{
    tw_value *x = tw_torch_in(c, 0), *index = tw_torch_index_in(c, 2);
    int axis;
    if (!index || !axis_of(c, x, 1, &axis))
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

/* --- padding ----------------------------------------------------------------------------------- */

/* Pairs of the last axis first; a negative pad cuts. */
static tw_value *padded(tw_torch_call *c, tw_value *x, int count, const int64_t *pads,
                        const char *mode, double value)
{
    int64_t before[TW_MAX_RANK] = {0}, after[TW_MAX_RANK] = {0};
    if (!x || count % 2 != 0 || count / 2 > x->shape.rank) {
        TW_TORCH_FAIL(c, "%d pads for a tensor of rank %d", count, x ? x->shape.rank : 0);
        return NULL;
    }
    tw_range ranges[TW_MAX_RANK];
    bool cut = false, pad = false;
    for (int k = 0; k < x->shape.rank; k++)
        ranges[k] = (tw_range){0, x->shape.dim[k], 1};
    for (int i = 0; i < count / 2; i++) {
        const int axis = x->shape.rank - 1 - i;
        const int64_t pair[] = {pads[2 * i], pads[2 * i + 1]};
        before[axis] = pair[0] > 0 ? pair[0] : 0;
        after[axis] = pair[1] > 0 ? pair[1] : 0;
        pad |= pair[0] > 0 || pair[1] > 0;
        if (pair[0] < 0 || pair[1] < 0) {
            ranges[axis].begin = pair[0] < 0 ? -pair[0] : 0;
            ranges[axis].size -= ranges[axis].begin + (pair[1] < 0 ? -pair[1] : 0);
            cut = true;
            if (pair[0] < -INT32_MAX || pair[1] < -INT32_MAX || ranges[axis].size < 0)
                return TW_TORCH_FAIL(c, "more is cut off than there is"), NULL;
        }
    }
    if (cut)
        x = tw_build_ranges(c->b, x, ranges);
    const int rank = x ? x->shape.rank : 0;
    return x && pad
               ? tw_build1(c->b, "Pad", x,
                           TW_SETTINGS(tw_set_ints("before", rank, before),
                                       tw_set_ints("after", rank, after), tw_set_word("mode", mode),
                                       tw_set_float("value", (float)value)))
               : x;
}

static bool pad(tw_torch_call *c, const char *mode, double value)
{
    int64_t pads[2 * TW_MAX_RANK];
    const int count = tw_torch_length(c, 1);
    return count <= 2 * TW_MAX_RANK && (count == 0 || tw_torch_ints(c, 1, count, pads)) &&
           tw_torch_give(c, padded(c, tw_torch_in(c, 0), count, pads, mode, value));
}

/* (x, pad, mode, value) */
bool tw_torch_op_pad(tw_torch_call *c)
{
    const char *mode = tw_torch_text(c, 2);
    mode = strcmp(mode, "replicate") == 0 ? "edge" : strcmp(mode, "circular") == 0 ? "wrap" : mode;
    return pad(c, mode, tw_torch_has(c, 3) ? tw_torch_real(c, 3) : 0);
}

/* (x, pad, value) */
bool tw_torch_op_constant_pad(tw_torch_call *c)
{
    return pad(c, "constant", tw_torch_real(c, 2));
}

/* (x, pad) */
bool tw_torch_op_reflection_pad(tw_torch_call *c)
{
    return pad(c, "reflect", 0);
}

bool tw_torch_op_replication_pad(tw_torch_call *c)
{
    return pad(c, "edge", 0);
}
