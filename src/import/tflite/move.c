/* Moves: parts, joins, pads and orders of axes. */
#include <string.h>

#include "import/tflite/tflite.h"

/* Parts are moved as they are stored: the joint has the quantisation of the result. */
static tw_value *as_result(tw_tfl_node *n, tw_value *x)
{
    tw_quant quant;
    if (!x || !tw_tfl_wants(n, 0) || !tw_tfl_quant(n->import, tw_tfl_out_tensor(n, 0), &quant))
        return NULL;
    return tw_build_with_quant(n->b, x, quant);
}

/* uint8 parts of other scales are rescaled, int8 parts are not: the reference's own difference. */
static tw_value *joined_part(tw_tfl_node *n, int i)
{
    tw_value *x = tw_tfl_in(n, i);
    tw_quant quant;
    if (!x || tw_tfl_in_tensor(n, i)->type != tw_tfl_out_tensor(n, 0)->type)
        return x;
    if (strcmp(tw_tfl_type_name(tw_tfl_in_tensor(n, i)->type), "UINT8") != 0 || x->quant.count != 1)
        return as_result(n, x);
    if (!tw_tfl_quant(n->import, tw_tfl_out_tensor(n, 0), &quant))
        return NULL;
    if (tw_quant_equal(&x->quant, &quant))
        return x;
    tw_node *node =
        tw_build_node(n->b, "Requantize", &x, 1, TW_SETTINGS(tw_set_int("dtype", TW_S8)));
    if (!node)
        return NULL;
    node->out[0]->quant = quant;
    return node->out[0];
}

bool tw_tfl_op_concatenation(tw_tfl_node *n)
{
    int count = (int)n->operator->in_count, axis;
    tw_value **parts = tw_alloc_array(n->import->scratch, (size_t)count, sizeof *parts);
    if (tw_tfl_byte(n, TW_FIELD(Concatenation, fused_activation_function), 0) !=
        TW_TFL_ACTIVATION_NONE)
        return TW_TFL_UNSUPPORTED(n, "a fused activation is not supported; use a separate one");
    if (!tw_tfl_wants(n, 0))
        return true;
    for (int i = 0; i < count; i++) {
        parts[i] = joined_part(n, i);
        if (!parts[i])
            return false;
    }
    return tw_tfl_axis(n, tw_tfl_int(n, TW_FIELD(Concatenation, axis), 0), parts[0]->shape.rank,
                       &axis) &&
           tw_tfl_set(n, 0, tw_build_concat(n->b, parts, count, axis));
}

/* --- parts ------------------------------------------------------------------------------------- */

/* Results of these sizes, one behind the other. */
static bool cut(tw_tfl_node *n, tw_value *x, int axis, const int64_t *size)
{
    int64_t begin = 0;
    for (int i = 0; i < (int)n->operator->out_count; i++) {
        if (size[i] < 0 || begin + size[i] > x->shape.dim[axis])
            return TW_TFL_FAIL(n, "part %d has %lld elements of axis %d, which has %d", i,
                               (long long)size[i], axis, (int)x->shape.dim[axis]);
        if (tw_tfl_wants(n, i) &&
            !tw_tfl_set(n, i, tw_build_slice(n->b, x, axis, begin, size[i], 1)))
            return false;
        begin += size[i];
    }
    return true;
}

static bool read_axis(tw_tfl_node *n, int i, const tw_value *x, int *axis)
{
    tw_tfl_list list;
    if (!x || !tw_tfl_list_in(n, i, "the axis", &list))
        return false;
    if (list.count != 1)
        return TW_TFL_FAIL(n, "one axis is needed");
    return tw_tfl_axis(n, list.v[0], x->shape.rank, axis);
}

bool tw_tfl_op_split(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 1);
    int axis, parts = (int)n->operator->out_count;
    if (!read_axis(n, 0, x, &axis))
        return false;
    if (parts < 1 || x->shape.dim[axis] % parts != 0)
        return TW_TFL_FAIL(n, "%d parts do not divide the %d elements of axis %d", parts,
                           (int)x->shape.dim[axis], axis);
    int64_t *size = tw_alloc_array(n->import->scratch, (size_t)parts, sizeof *size);
    for (int i = 0; i < parts; i++)
        size[i] = x->shape.dim[axis] / parts;
    return cut(n, x, axis, size);
}

bool tw_tfl_op_split_v(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list list;
    int axis, open = -1;
    int64_t rest;
    if (!read_axis(n, 2, x, &axis) || !tw_tfl_list_in(n, 1, "the sizes", &list))
        return false;
    if (list.count != (int)n->operator->out_count)
        return TW_TFL_FAIL(n, "%d sizes for %u results", list.count, n->operator->out_count);
    int64_t *size = tw_alloc_array(n->import->scratch, (size_t)list.count + 1, sizeof *size);
    rest = x->shape.dim[axis];
    for (int i = 0; i < list.count; i++) {
        size[i] = list.v[i];
        if (size[i] == -1 && open < 0)
            open = i;
        else if (size[i] < 0 || size[i] > rest)
            return TW_TFL_FAIL(n, "part %d has %lld elements, %lld are left", i, (long long)size[i],
                               (long long)rest);
        else
            rest -= size[i];
    }
    if (open >= 0)
        size[open] = rest;
    return cut(n, x, axis, size);
}

static bool slice(tw_tfl_node *n, tw_value *x, const int64_t *begin, const int64_t *size,
                  const int64_t *step, tw_value **out)
{
    int rank = x->shape.rank;
    *out = tw_build1(n->b, "Slice", x,
                     TW_SETTINGS(tw_set_ints("begin", rank, begin), tw_set_ints("size", rank, size),
                                 tw_set_ints("step", rank, step)));
    return *out != NULL;
}

bool tw_tfl_op_slice(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *out;
    tw_tfl_list begin, size;
    int64_t sizes[TW_MAX_RANK], step[TW_MAX_RANK];
    if (!x || !tw_tfl_list_in(n, 1, "the begin", &begin) ||
        !tw_tfl_list_in(n, 2, "the size", &size))
        return false;
    if (begin.count != x->shape.rank || size.count != x->shape.rank)
        return TW_TFL_FAIL(n, "begin and size of %d and %d axes for a tensor of %d", begin.count,
                           size.count, x->shape.rank);
    for (int i = 0; i < x->shape.rank; i++) {
        step[i] = 1;
        sizes[i] = size.v[i] == -1 ? x->shape.dim[i] - begin.v[i] : size.v[i];
        if (begin.v[i] < 0 || sizes[i] < 0 || begin.v[i] > x->shape.dim[i] ||
            sizes[i] > x->shape.dim[i] - begin.v[i])
            return TW_TFL_FAIL(n, "%lld elements from %lld on of axis %d, which has %d",
                               (long long)sizes[i], (long long)begin.v[i], i, (int)x->shape.dim[i]);
    }
    return slice(n, x, begin.v, sizes, step, &out) && tw_tfl_set(n, 0, out);
}

bool tw_tfl_op_strided_slice(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list begin, end, stride;
    if (!x || !tw_tfl_list_in(n, 1, "the begin", &begin) ||
        !tw_tfl_list_in(n, 2, "the end", &end) || !tw_tfl_list_in(n, 3, "the strides", &stride))
        return false;
    if (begin.count < 0 || end.count != begin.count || stride.count != begin.count)
        return TW_TFL_FAIL(n, "begin, end and strides of %d, %d and %d entries", begin.count,
                           end.count, stride.count);
    const tw_strided s = {.count = begin.count,
                          .begin = begin.v,
                          .end = end.v,
                          .stride = stride.v,
                          .begin_mask = tw_tfl_int(n, TW_FIELD(StridedSlice, begin_mask), 0),
                          .end_mask = tw_tfl_int(n, TW_FIELD(StridedSlice, end_mask), 0),
                          .ellipsis_mask = tw_tfl_int(n, TW_FIELD(StridedSlice, ellipsis_mask), 0),
                          .new_axis_mask = tw_tfl_int(n, TW_FIELD(StridedSlice, new_axis_mask), 0),
                          .shrink_axis_mask =
                              tw_tfl_int(n, TW_FIELD(StridedSlice, shrink_axis_mask), 0),
                          .offset = tw_tfl_flag(n, TW_FIELD(StridedSlice, offset))};
    return tw_tfl_set(n, 0, tw_build_strided(n->b, n->op, x, &s));
}

bool tw_tfl_op_reverse_v2(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *out;
    tw_tfl_list axes;
    int64_t begin[TW_MAX_RANK] = {0}, size[TW_MAX_RANK], step[TW_MAX_RANK];
    if (!x || !tw_tfl_list_in(n, 1, "the axes", &axes))
        return false;
    for (int i = 0; i < x->shape.rank; i++) {
        size[i] = x->shape.dim[i];
        step[i] = 1;
    }
    for (int i = 0; i < axes.count; i++) {
        int axis;
        if (!tw_tfl_axis(n, axes.v[i], x->shape.rank, &axis))
            return false;
        begin[axis] = size[axis] > 0 ? size[axis] - 1 : 0;
        step[axis] = -1;
    }
    return slice(n, x, begin, size, step, &out) && tw_tfl_set(n, 0, out);
}

/* --- pads and orders --------------------------------------------------------------------------- */

static bool pad(tw_tfl_node *n, const char *mode, float value)
{
    tw_value *x = tw_tfl_in(n, 0);
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    if (!x || !tw_tfl_known(n, 1, "the paddings"))
        return false;
    const tw_value *pads = tw_tfl_in(n, 1);
    int rank = x->shape.rank;
    if (pads->shape.rank != 2 || pads->shape.dim[0] != rank || pads->shape.dim[1] != 2)
        return TW_TFL_FAIL(n, "the paddings must have shape [%d,2]", rank);
    for (int i = 0; i < rank; i++) {
        before[i] = tw_build_int_at(pads, 2 * i);
        after[i] = tw_build_int_at(pads, 2 * i + 1);
    }
    const tw_setting settings[] = {tw_set_ints("before", rank, before),
                                   tw_set_ints("after", rank, after),
                                   tw_set_word("mode", mode),
                                   tw_set_float("value", value),
                                   {.name = NULL}};
    return tw_tfl_set(n, 0, tw_build1(n->b, "Pad", x, settings));
}

bool tw_tfl_op_pad(tw_tfl_node *n)
{
    return pad(n, "constant", 0);
}

bool tw_tfl_op_padv2(tw_tfl_node *n)
{
    float value = 0;
    if (tw_tfl_has(n, 2)) {
        if (!tw_tfl_known(n, 2, "the value"))
            return false;
        const tw_value *constant = tw_tfl_in(n, 2);
        if (tw_shape_elements(&constant->shape) != 1)
            return TW_TFL_FAIL(n, "the value must be a single element");
        value = (float)tw_constant_at(constant, 0);
        if (constant->quant.count == 1) /* stored as the input is: to its real value */
            value = (value - (float)constant->quant.zero_point[0]) * constant->quant.scale[0];
    }
    return pad(n, "constant", value);
}

bool tw_tfl_op_mirror_pad(tw_tfl_node *n)
{
    int mode = tw_tfl_byte(n, TW_FIELD(MirrorPad, mode), 0);
    return pad(n, mode == TW_TFL_MIRROR_REFLECT ? "reflect" : "symmetric", 0);
}

bool tw_tfl_op_transpose(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list list;
    int64_t perm[TW_MAX_RANK];
    bool seen[TW_MAX_RANK] = {false};
    if (!x || !tw_tfl_list_in(n, 1, "the order of axes", &list))
        return false;
    if (list.count != x->shape.rank)
        return TW_TFL_FAIL(n, "an order of %d axes for a tensor of %d", list.count, x->shape.rank);
    for (int i = 0; i < list.count; i++) {
        int axis;
        if (!tw_tfl_axis(n, list.v[i], list.count, &axis))
            return false;
        if (seen[axis])
            return TW_TFL_FAIL(n, "axis %d stands twice in the order", axis);
        seen[axis] = true;
        perm[i] = axis;
    }
    return tw_tfl_set(n, 0, tw_build_transpose(n->b, x, list.count, perm));
}
