/* Parts of tensors, tensors together, padding. */
#include <string.h>

#include "import/pytorch/torch.h"

/* --- parts ------------------------------------------------------------------------------------- */

/* (x, dim, index) */
bool tw_torch_op_select(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int axis;
    if (!tw_torch_axis_of(c, x, 1, &axis))
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
    if (!tw_torch_axis_of(c, x, 1, &axis))
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
    if (!tw_torch_axis_of(c, x, 1, &axis))
        return false;
    start += start < 0 ? x->shape.dim[axis] : 0;
    if (start < 0 || length < 0 || length > x->shape.dim[axis] - start)
        return TW_TORCH_FAIL(c, "%lld elements from %lld on of %d", (long long)length,
                             (long long)start, (int)x->shape.dim[axis]);
    return tw_torch_give(c, tw_build_slice(c->b, x, axis, start, length, 1));
}

/* (x, offset, dim1, dim2): the elements of a matrix' diagonal, along a new last axis. In the matrix' elements
 * in order they lie evenly. */
bool tw_torch_op_diagonal(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int64_t offset = tw_torch_int(c, 1);
    int64_t perm[TW_MAX_RANK] = {0}, dim[TW_MAX_RANK] = {0};
    int row, column, rank = 0;
    if (!x || !tw_torch_axis_of(c, x, 2, &row) || !tw_torch_axis_of(c, x, 3, &column))
        return false;
    if (row == column)
        return TW_TORCH_FAIL(c, "a diagonal has two axes");
    const int64_t rows = x->shape.dim[row], columns = x->shape.dim[column];
    for (int i = 0; i < x->shape.rank; i++)
        if (i != row && i != column) {
            dim[rank] = x->shape.dim[i];
            perm[rank++] = i;
        }
    perm[rank] = row;
    perm[rank + 1] = column;
    dim[rank] = rows * columns;
    if (offset >= columns || offset <= -rows)
        return TW_TORCH_FAIL(c, "diagonal %lld of a matrix of %lld by %lld", (long long)offset,
                             (long long)rows, (long long)columns);
    const int64_t below = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
    const int64_t size = rows - below < columns - right ? rows - below : columns - right;
    x = tw_build_reshape(c->b, tw_build_transpose(c->b, x, rank + 2, perm), rank + 1, dim);
    return x && tw_torch_give(
                    c, tw_build_slice(c->b, x, rank, below * columns + right, size, columns + 1));
}

/* The most elements that are listed by place. */
enum { MOST_LISTED = TW_BUILD_LIMIT / 8 };

/* By address, which element of x, in the order of its axes, lies there: *ends addresses, -1 where none does.
 * Elements of an input lie in that order, those of what a program computes where it says. */
static int64_t *elements_by_address(tw_torch_call *c, const tw_value *x, int64_t *first,
                                    int64_t *ends)
{
    const tw_torch_tensor *tensor = c->arg[0]->tensor;
    const bool told = tensor && tensor->layout == TW_TORCH_ONE_LAYOUT;
    const int64_t all = tw_shape_elements(&x->shape);
    int64_t stride[TW_MAX_RANK], step = 1;
    if (!told && (x->producer || x->data))
        return TW_TORCH_UNSUPPORTED(
                   c, "of a tensor of which nothing says where its elements lie; write "
                      "it with view, transpose, unfold and slices"),
               NULL;
    *first = told ? tensor->stored.offset : 0;
    bool fits = all >= 1 && all <= MOST_LISTED && *first <= MOST_LISTED;
    *ends = fits ? *first + 1 : 0;
    for (int i = x->shape.rank - 1; i >= 0 && fits; step *= x->shape.dim[i--]) {
        stride[i] = told ? tensor->stored.stride[i] : step;
        fits = stride[i] <= MOST_LISTED;
        *ends += fits ? (x->shape.dim[i] - 1) * stride[i] : 0;
    }
    if (!fits || *ends > MOST_LISTED)
        return TW_TORCH_UNSUPPORTED(c, "of %lld elements", (long long)all), NULL;
    int64_t *element = tw_alloc_array(c->t->scratch, (size_t)*ends, sizeof *element);
    for (int64_t i = 0; i < *ends; i++)
        element[i] = -1;
    for (int64_t i = 0; i < all; i++) {
        int64_t at = *first;
        for (int64_t k = x->shape.rank - 1, rest = i; k >= 0; rest /= x->shape.dim[k--])
            at += rest % x->shape.dim[k] * stride[k];
        element[at] = i;
    }
    return element;
}

/* (x, size, stride, storage_offset) */
bool tw_torch_op_as_strided(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int rank = tw_torch_length(c, 1);
    int64_t size[TW_MAX_RANK] = {0}, stride[TW_MAX_RANK] = {0}, count = 1, first, ends;
    if (!x || rank < 1 || rank > TW_MAX_RANK || tw_torch_length(c, 2) != rank ||
        !tw_torch_ints(c, 1, rank, size) || !tw_torch_ints(c, 2, rank, stride))
        return false;
    const int64_t *element = elements_by_address(c, x, &first, &ends);
    if (!element)
        return false;
    const int64_t all = tw_shape_elements(&x->shape);
    first = tw_torch_has(c, 3) ? tw_torch_int(c, 3) : first;
    if (first < 0 || first >= ends)
        return TW_TORCH_FAIL(c, "it begins beyond the %lld elements", (long long)all);
    for (int i = 0; i < rank; i++) {
        if (size[i] < 1 || size[i] > MOST_LISTED / count || stride[i] < 0 ||
            stride[i] > MOST_LISTED)
            return TW_TORCH_UNSUPPORTED(c, "an extent of %lld with a stride of %lld",
                                        (long long)size[i], (long long)stride[i]);
        count *= size[i];
    }
    int64_t *at = tw_alloc_array(c->t->scratch, (size_t)count, sizeof *at);
    bool in_order = count == all;
    for (int64_t i = 0; i < count; i++) {
        int64_t address = first;
        for (int64_t k = rank - 1, rest = i; k >= 0; rest /= size[k--])
            address += rest % size[k] * stride[k];
        if (address >= ends || element[address] < 0)
            return TW_TORCH_FAIL(c, "it reaches what is none of the %lld elements", (long long)all);
        at[i] = element[address];
        in_order = in_order && at[i] == i;
    }
    if (in_order)
        return tw_torch_give(c, tw_build_reshape(c->b, x, rank, size));
    tw_value *index = tw_build_reshape(c->b, tw_build_list(c->b, (int)count, at), rank, size);
    x = tw_build_reshape(c->b, x, 1, &all);
    return index && x && tw_torch_give(c, tw_build_gather(c->b, x, index, 0, 0));
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
    if (!tw_torch_axis_of(c, x, 2, &axis))
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
    if (!tw_torch_axis_of(c, x, 2, &axis))
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
    return tw_torch_axis_of(c, x, 1, &axis) && in_steps(c, x, axis, 1, true);
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
    return values && tw_torch_axis_of(c, values[0], 1, &axis) &&
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

/* x with `part` where the range of the axis lies: joined where the range has no gaps, else chosen from both. */
static bool replaced(tw_torch_call *c, tw_value *x, tw_value *part, int axis, tw_range range)
{
    tw_shape shape = x->shape;
    const int64_t extent = shape.dim[axis], end = range.begin + range.size;
    shape.dim[axis] = (int32_t)range.size;
    if (!part || !tw_shape_equal(&part->shape, &shape))
        return part && TW_TORCH_FAIL(c, "what is put there does not have the shape of the place");
    if (range.size == 0 || range.size == extent)
        return tw_torch_give(c, range.size ? part : x);
    if (range.step != 1 && extent > MOST_LISTED)
        return TW_TORCH_UNSUPPORTED(c, "with steps in an axis of %lld elements", (long long)extent);
    if (range.step != 1) {
        int64_t *at = tw_alloc_array(c->t->scratch, (size_t)extent, sizeof *at);
        for (int64_t i = 0; i < extent; i++) {
            const int64_t k = i - range.begin;
            const bool inside = k >= 0 && k % range.step == 0 && k / range.step < range.size;
            at[i] = inside ? extent + k / range.step : i;
        }
        tw_value *both = tw_build_concat(c->b, (tw_value *const[]){x, part}, 2, axis);
        tw_value *index = tw_build_list(c->b, (int)extent, at);
        return both && index && tw_torch_give(c, tw_build_gather(c->b, both, index, axis, 0));
    }
    tw_value *parts[3];
    int count = 0;
    if (range.begin > 0)
        parts[count++] = tw_build_slice(c->b, x, axis, 0, range.begin, 1);
    parts[count++] = part;
    if (end < extent)
        parts[count++] = tw_build_slice(c->b, x, axis, end, extent - end, 1);
    for (int i = 0; i < count; i++)
        if (!parts[i])
            return false;
    return tw_torch_give(c, tw_build_concat(c->b, parts, count, axis));
}

/* (x, source, dim, index) */
bool tw_torch_op_select_scatter(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    tw_value *source = x ? tw_torch_in_as(c, 1, x->shape.dtype) : NULL;
    int axis;
    if (!source || !tw_torch_axis_of(c, x, 2, &axis))
        return false;
    int64_t index = tw_torch_int(c, 3);
    index += index < 0 ? x->shape.dim[axis] : 0;
    if (index < 0 || index >= x->shape.dim[axis])
        return TW_TORCH_FAIL(c, "index %lld of %d elements", (long long)index,
                             (int)x->shape.dim[axis]);
    return replaced(c, x, tw_torch_with_axis(c, source, axis), axis, (tw_range){index, 1, 1});
}

/* (x, source, dim, start, end, step) */
bool tw_torch_op_slice_scatter(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    tw_value *source = x ? tw_torch_in_as(c, 1, x->shape.dtype) : NULL;
    const int64_t step = tw_torch_int(c, 5);
    int axis;
    if (!source || !tw_torch_axis_of(c, x, 2, &axis))
        return false;
    if (step < 1)
        return TW_TORCH_FAIL(c, "a step of %lld", (long long)step);
    const tw_range range =
        tw_range_of(x->shape.dim[axis], tw_torch_has(c, 3) ? tw_torch_int(c, 3) : 0,
                    tw_torch_has(c, 4) ? tw_torch_int(c, 4) : INT64_MAX, step);
    return replaced(c, x, source, axis, range);
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
