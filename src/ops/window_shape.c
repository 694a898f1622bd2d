/* Shapes and row maps of windowed operators. In: attributes within their ranges and operands of any
 * shape. Out: extents that the kernels' check accepts, or a message that names the numbers. */
#include "ops/window_shape.h"

bool tw_window_check_list(const tw_shape_call *call, const char *name, const tw_ints *list,
                          int spatial)
{
    if (list->count == 0 || list->count == spatial)
        return true;
    return TW_SHAPE_FAIL(call, "%s has %d entries for %d spatial axes; give one an axis, or none",
                         name, (int)list->count, spatial);
}

bool tw_window_check_lists(const tw_shape_call *call, const tw_window_lists *lists, int spatial)
{
    return tw_window_check_list(call, "stride", lists->stride, spatial) &&
           tw_window_check_list(call, "dilation", lists->dilation, spatial) &&
           tw_window_check_list(call, "pad_begin", lists->pad_begin, spatial) &&
           tw_window_check_list(call, "pad_end", lists->pad_end, spatial);
}

static bool check_span(const tw_shape_call *call, const tw_span *s, int ceil, int axis,
                       int64_t *out)
{
    if (s->kernel < 1)
        return TW_SHAPE_FAIL(call,
                             "the kernel's extent on spatial axis %d is %d; it must be at least 1",
                             axis, (int)s->kernel);
    if (tw_window_reach(s) > TW_WINDOW_LIMIT ||
        (int64_t)s->in + s->pad_begin + s->pad_end > TW_WINDOW_LIMIT)
        return TW_SHAPE_UNSUPPORTED(call,
                                    "extent %d with pads %d and %d, kernel %d, dilation %d on "
                                    "spatial axis %d; at most %d positions are supported",
                                    (int)s->in, (int)s->pad_begin, (int)s->pad_end, (int)s->kernel,
                                    (int)s->dilation, axis, TW_WINDOW_LIMIT);
    *out = tw_window_extent(s, ceil);
    if (*out < 1)
        return TW_SHAPE_FAIL(call,
                             "the window reaches over %lld elements but spatial axis %d has %d "
                             "with pads %d and %d; enlarge the pads or the input",
                             (long long)tw_window_reach(s), axis, (int)s->in, (int)s->pad_begin,
                             (int)s->pad_end);
    return true;
}

bool tw_window_shape(const tw_shape_call *call, const tw_window_lists *lists, const int32_t *kernel,
                     int spatial, int ceil, int32_t channels)
{
    const tw_shape *in = &call->in[0]->shape;
    if (in->rank < 3 || in->rank > 4)
        return TW_SHAPE_UNSUPPORTED(call,
                                    "the input has rank %d; 3 (batch, time, channels) and 4 "
                                    "(batch, rows, columns, channels) are supported",
                                    in->rank);
    if (spatial != in->rank - 2)
        return TW_SHAPE_FAIL(call, "the kernel has %d spatial axes and the input %d", spatial,
                             in->rank - 2);
    if (!tw_window_check_lists(call, lists, spatial))
        return false;
    tw_shape *out = &call->out[0];
    *out = *in;
    out->dim[in->rank - 1] = channels;
    for (int i = 0; i < spatial; i++) {
        tw_span s = {in->dim[1 + i], 0, kernel[i], 1, 1, 0, 0};
        int64_t extent;
        if (!tw_window_entry(&s, lists, spatial, i))
            return TW_SHAPE_FAIL(call, "stride, dilation or pads are out of range");
        if (!check_span(call, &s, ceil, i, &extent))
            return false;
        out->dim[1 + i] = (int32_t)extent;
    }
    return true;
}

tw_rowmap tw_hybrid_rows(int axis)
{
    return axis == 0 ? tw_rows_identity() : tw_rows_once();
}

tw_rowmap tw_window_rows(const tw_node *node, const tw_window_lists *lists, const int32_t *kernel,
                         int axis)
{
    const tw_shape *in = &node->in[0]->shape;
    const int64_t far = 1 << 24; /* what a plan can say */
    if (axis == 0)
        return tw_rows_identity();
    if (axis < 0 || axis >= in->rank - 1)
        return tw_rows_whole();
    tw_span s = {in->dim[axis], 0, kernel[axis - 1], 1, 1, 0, 0};
    if (!tw_window_entry(&s, lists, in->rank - 2, axis - 1))
        return tw_rows_whole();
    int64_t off = s.pad_begin - tw_window_reach(&s) + s.stride;
    if (off < -far || off > far)
        return tw_rows_whole();
    return (tw_rowmap){TW_ROWS_MAPPED, 1, s.stride, (int32_t)off, -s.pad_begin};
}

/* Which weights and biases go with which activations. */
static bool goes_with(tw_dtype x, tw_dtype w)
{
    return x == w || ((x == TW_S16 || x == TW_F32) && w == TW_S8);
}

static bool is_bias(tw_dtype x, tw_dtype bias)
{
    if (x == TW_S16)
        return bias == TW_S32 || bias == TW_S64;
    return bias == (x == TW_S8 ? TW_S32 : x);
}

bool tw_check_weights(const tw_shape_call *call, int32_t channels)
{
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    if (!goes_with(x->dtype, w->dtype))
        return TW_SHAPE_UNSUPPORTED(call,
                                    "input of %s and weights of %s; both must have one type, "
                                    "f32 or s8, or the input s16 or f32 and the weights s8: "
                                    "convert one of them",
                                    tw_dtype_name(x->dtype), tw_dtype_name(w->dtype));
    if (call->in_count < 3 || !call->in[2])
        return true;
    const tw_shape *b = &call->in[2]->shape;
    if (!is_bias(x->dtype, b->dtype))
        return TW_SHAPE_FAIL(call, "the bias is %s; with %s operands it must be %s",
                             tw_dtype_name(b->dtype), tw_dtype_name(x->dtype),
                             x->dtype == TW_S16  ? "s32 or s64"
                             : x->dtype == TW_S8 ? "s32"
                                                 : tw_dtype_name(x->dtype));
    if (b->rank != 1 || b->dim[0] != channels)
        return TW_SHAPE_FAIL(call,
                             "the bias has rank %d and %d elements; it must have one for each "
                             "of %d output channels",
                             b->rank, (int)tw_shape_elements(b), (int)channels);
    return true;
}
