/* Operators that move elements: parts, joins, borders. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx.h"

bool tw_onnx_op_concat(tw_onnx_node *n)
{
    int axis;
    for (int i = 0; i < n->in_count; i++)
        if (!tw_onnx_need(n, i))
            return false;
    if (n->opset >= 4 && !tw_onnx_has(n, "axis"))
        return TW_ONNX_FAIL(n, "the attribute axis is missing");
    return tw_onnx_axis(n, tw_onnx_int(n, "axis", 1), n->in[0]->shape.rank, &axis) &&
           tw_onnx_bind(n, 0, tw_build_concat(n->b, n->in, n->in_count, axis));
}

/* --- split ------------------------------------------------------------------------------------- */

/* Sizes of equal parts; from opset 18 on the last one may be smaller. */
static bool equal_parts(tw_onnx_node *n, int64_t extent, int64_t *size)
{
    int count = n->out_count;
    if (n->opset >= 18) {
        int64_t given = tw_onnx_int(n, "num_outputs", count);
        if (given != count)
            return TW_ONNX_FAIL(n, "num_outputs is %lld, the node has %d outputs", (long long)given,
                                count);
    } else if (extent % count != 0) {
        return TW_ONNX_FAIL(n, "extent %lld does not divide into %d equal parts", (long long)extent,
                            count);
    }
    int64_t each = (extent + count - 1) / count;
    for (int i = 0; i < count; i++) {
        int64_t left = extent - each * i;
        size[i] = left < 0 ? 0 : left < each ? left : each;
    }
    return true;
}

static bool part_sizes(tw_onnx_node *n, int64_t extent, int64_t *size)
{
    tw_onnx_list list;
    if (n->opset >= 13 || (n->opset == 1 && tw_onnx_in(n, 1))) {
        if (!tw_onnx_list_in(n, 1, "the sizes", &list))
            return false;
    } else {
        list = tw_onnx_ints(n, "split");
    }
    if (list.count < 0)
        return equal_parts(n, extent, size);
    if (list.count != n->out_count)
        return TW_ONNX_FAIL(n, "%d sizes are given for %d outputs", list.count, n->out_count);
    int64_t left = extent;
    for (int i = 0; i < list.count; i++) {
        if (list.v[i] < 0 || list.v[i] > left)
            return TW_ONNX_FAIL(n, "part %d of %lld elements does not fit an extent of %lld", i,
                                (long long)list.v[i], (long long)extent);
        size[i] = list.v[i];
        left -= size[i];
    }
    if (left != 0)
        return TW_ONNX_FAIL(n, "the parts leave %lld of %lld elements over", (long long)left,
                            (long long)extent);
    return true;
}

bool tw_onnx_op_split(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    int axis;
    if (!tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), x->shape.rank, &axis))
        return false;
    int64_t *size = tw_alloc_array(n->b->arena, (size_t)n->out_count, sizeof *size), begin = 0;
    if (!part_sizes(n, x->shape.dim[axis], size))
        return false;
    for (int i = 0; i < n->out_count; begin += size[i++])
        if (tw_onnx_wants(n, i) &&
            !tw_onnx_bind(n, i, tw_build_slice(n->b, x, axis, begin, size[i], 1)))
            return false;
    return true;
}

/* --- slice ------------------------------------------------------------------------------------- */

typedef struct tw_bounds {
    tw_onnx_list start, end, axis, step;
} tw_bounds;

static bool read_bounds(tw_onnx_node *n, tw_bounds *s)
{
    s->step = (tw_onnx_list){-1, NULL};
    if (n->opset < 10) {
        s->start = tw_onnx_ints(n, "starts");
        s->end = tw_onnx_ints(n, "ends");
        s->axis = tw_onnx_ints(n, "axes");
        if (n->in_count > 1)
            return TW_ONNX_FAIL(n, "the bounds are attributes in opset %lld", (long long)n->opset);
    } else if (!tw_onnx_list_in(n, 1, "starts", &s->start) ||
               !tw_onnx_list_in(n, 2, "ends", &s->end) ||
               !tw_onnx_list_in(n, 3, "axes", &s->axis) ||
               !tw_onnx_list_in(n, 4, "steps", &s->step)) {
        return false;
    }
    int count = s->start.count;
    if (count < 0 || s->end.count != count || (s->axis.count >= 0 && s->axis.count != count) ||
        (s->step.count >= 0 && s->step.count != count))
        return TW_ONNX_FAIL(n, "starts, ends, axes and steps must be lists of one length");
    if (count > TW_MAX_RANK)
        return TW_ONNX_FAIL(n, "%d bounds are given, the tensor has rank %d", count,
                            n->in[0]->shape.rank);
    return true;
}

bool tw_onnx_op_slice(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    tw_bounds s;
    if (!read_bounds(n, &s))
        return false;
    tw_range ranges[TW_MAX_RANK];
    bool used[TW_MAX_RANK] = {false};
    for (int i = 0; i < x->rank; i++)
        ranges[i] = (tw_range){0, x->dim[i], 1};
    for (int i = 0; i < s.start.count; i++) {
        int axis;
        if (!tw_onnx_axis(n, s.axis.count < 0 ? i : s.axis.v[i], x->rank, &axis))
            return false;
        if (used[axis])
            return TW_ONNX_FAIL(n, "axis %d is given twice", axis);
        used[axis] = true;
        const int64_t by = s.step.count < 0 ? 1 : s.step.v[i];
        if (by == 0)
            return TW_ONNX_FAIL(n, "a step of 0");
        ranges[axis] = tw_range_of(x->dim[axis], s.start.v[i], s.end.v[i], by);
    }
    return tw_onnx_bind(n, 0, tw_build_ranges(n->b, n->in[0], ranges));
}

/* --- pad --------------------------------------------------------------------------------------- */

/* The pads of every axis, begins then ends; only the axes named from opset 18 on. */
static bool read_pads(tw_onnx_node *n, int rank, int64_t *before, int64_t *after)
{
    tw_onnx_list pads, axes = {-1, NULL};
    if (n->opset < 11)
        pads = tw_onnx_ints(n, n->opset < 2 ? "paddings" : "pads");
    else if (!tw_onnx_list_in(n, 1, "the pads", &pads) || !tw_onnx_list_in(n, 3, "axes", &axes))
        return false;
    int count = axes.count < 0 ? rank : axes.count;
    if (pads.count != 2 * count)
        return TW_ONNX_FAIL(n, "%d pads are given, two for each of %d axes are needed", pads.count,
                            count);
    bool used[TW_MAX_RANK] = {false};
    if (axes.count > rank || !tw_onnx_axes(n, &axes, rank, used))
        return axes.count > rank ? TW_ONNX_FAIL(n, "%d axes of %d are padded", axes.count, rank)
                                 : false;
    for (int i = 0; i < count; i++) {
        int axis = i;
        if (axes.count >= 0 && !tw_onnx_axis(n, axes.v[i], rank, &axis))
            return false;
        before[axis] = pads.v[i];
        after[axis] = pads.v[count + i];
        if (before[axis] < -INT32_MAX || before[axis] > INT32_MAX || after[axis] < -INT32_MAX ||
            after[axis] > INT32_MAX)
            return TW_ONNX_FAIL(n, "a pad of axis %d is out of range", axis);
    }
    return true;
}

/* The value of mode constant: exact in a float, which is how the IR keeps it. */
static bool read_value(tw_onnx_node *n, float *value)
{
    tw_value *given = tw_onnx_in(n, 2);
    *value = n->opset < 11 ? tw_onnx_float(n, "value", 0) : 0;
    if (n->opset < 11 || !given)
        return true;
    if (tw_shape_elements(&given->shape) != 1)
        return TW_ONNX_FAIL(n, "constant_value must have one element");
    if (!tw_build_constant(n->b, given))
        return TW_ONNX_UNSUPPORTED(n, "constant_value must be constant");
    double exact = tw_constant_at(given, 0);
    *value = (float)exact;
    if ((double)*value != exact && !isnan(exact))
        return TW_ONNX_UNSUPPORTED(n, "constant_value %.17g is not exact in 32-bit floating point",
                                   exact);
    return true;
}

/* Drop what negative pads take away, and set those to 0. */
static tw_value *crop(tw_onnx_node *n, tw_value *x, int64_t *before, int64_t *after)
{
    for (int i = 0; i < x->shape.rank; i++) {
        int64_t begin = before[i] < 0 ? -before[i] : 0, end = after[i] < 0 ? -after[i] : 0;
        if (begin == 0 && end == 0)
            continue;
        if (begin + end > x->shape.dim[i]) {
            TW_ONNX_FAIL(n, "pads %lld and %lld take more than the %d elements of axis %d",
                         (long long)before[i], (long long)after[i], (int)x->shape.dim[i], i);
            return NULL;
        }
        x = tw_build_slice(n->b, x, i, begin, x->shape.dim[i] - begin - end, 1);
        if (!x)
            return NULL;
        before[i] = before[i] < 0 ? 0 : before[i];
        after[i] = after[i] < 0 ? 0 : after[i];
    }
    return x;
}

bool tw_onnx_op_pad(tw_onnx_node *n)
{
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap"};
    tw_value *x = n->in[0];
    const char *mode = tw_onnx_text(n, "mode", "constant");
    int64_t before[TW_MAX_RANK] = {0}, after[TW_MAX_RANK] = {0};
    float value;
    bool known = false, negative = false, any = false;
    for (int i = 0; i < (n->opset >= 19 ? 4 : 3); i++)
        known |= strcmp(mode, modes[i]) == 0;
    if (!known)
        return TW_ONNX_FAIL(n, "mode '%s' does not exist in opset %lld", mode, (long long)n->opset);
    if (!read_pads(n, x->shape.rank, before, after) || !read_value(n, &value))
        return false;
    for (int i = 0; i < x->shape.rank; i++)
        negative |= before[i] < 0 || after[i] < 0;
    if (negative && mode[0] != 'c')
        return TW_ONNX_UNSUPPORTED(n, "negative pads in mode %s are not supported", mode);
    x = crop(n, x, before, after);
    for (int i = 0; x && i < x->shape.rank; i++)
        any |= before[i] > 0 || after[i] > 0;
    if (!x || !any)
        return tw_onnx_bind(n, 0, x);
    return tw_onnx_bind(
        n, 0,
        tw_build1(n->b, "Pad", x,
                  TW_SETTINGS(tw_set_ints("before", x->shape.rank, before),
                              tw_set_ints("after", x->shape.rank, after), tw_set_word("mode", mode),
                              tw_set_float("value", value))));
}
