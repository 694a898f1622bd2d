/* DeformConv: each tap of each window reads the input at a place of its own, between its elements; then a convolution
 * of 1x1 over channels times taps. */
#include <string.h>

#include "import/onnx/onnx.h"

typedef struct tw_deform {
    tw_onnx_node *n;
    tw_builder *b;
    tw_onnx_window w;
    int64_t batch, channels, high, wide; /* of the input */
    int64_t out_high, out_wide, taps, groups;
    tw_value *offset, *mask;
} tw_deform;

static int64_t extent(const tw_deform *d, int axis, int64_t size)
{
    int64_t reach = d->w.dilation[axis] * (d->w.kernel[axis] - 1) + 1;
    int64_t room = size + d->w.begin[axis] + d->w.end[axis] - reach;
    return room < 0 ? 0 : room / d->w.stride[axis] + 1;
}

static bool read_shapes(tw_deform *d)
{
    tw_onnx_node *n = d->n;
    const tw_shape *x = &n->in[0]->shape, *w = &n->in[1]->shape;
    int64_t kernel[TW_MAX_RANK] = {0};
    if (x->rank != 4 || w->rank != 4 || x->dtype != TW_F32)
        return TW_ONNX_UNSUPPORTED(n, "images and weights of FLOAT and rank 4 are supported");
    kernel[0] = w->dim[2];
    kernel[1] = w->dim[3];
    if (!tw_onnx_read_window(n, x, kernel, &d->w))
        return false;
    d->batch = x->dim[0];
    d->channels = x->dim[1];
    d->high = x->dim[2];
    d->wide = x->dim[3];
    d->out_high = extent(d, 0, d->high);
    d->out_wide = extent(d, 1, d->wide);
    d->taps = kernel[0] * kernel[1];
    d->groups = tw_onnx_int(n, "offset_group", 1);
    d->offset = n->in[2];
    d->mask = tw_onnx_in(n, 4);
    int64_t places = d->batch * d->out_high * d->out_wide;
    if (d->groups < 1 || d->channels < 1 || d->channels % d->groups != 0 || places < 1 ||
        d->taps < 1 || d->taps > INT32_MAX / places || d->groups > INT32_MAX / places / d->taps / 2)
        return TW_ONNX_FAIL(n, "offset_group, window and input do not fit each other");
    if (tw_shape_elements(&d->offset->shape) != d->groups * d->taps * 2 * places ||
        (d->mask && tw_shape_elements(&d->mask->shape) != d->groups * d->taps * places))
        return TW_ONNX_FAIL(n, "offsets or mask do not have an element a tap and place");
    return true;
}

/* Where the taps stand without offsets, from -1 to 1, across (axis 1) or down (axis 0): [1, taps * high, wide, 1]. */
static tw_value *regular(const tw_deform *d, int axis)
{
    int32_t dim[] = {1, (int32_t)(d->taps * d->out_high), (int32_t)d->out_wide, 1};
    double size = (double)(axis ? d->wide : d->high);
    float *to = tw_alloc_array(d->b->arena, (size_t)dim[1] * (size_t)dim[2], sizeof *to);
    for (int64_t t = 0; t < d->taps; t++)
        for (int64_t y = 0; y < d->out_high; y++)
            for (int64_t x = 0; x < d->out_wide; x++) {
                int64_t tap = axis ? t % d->w.kernel[1] : t / d->w.kernel[1];
                int64_t at = (axis ? x : y) * d->w.stride[axis] - d->w.begin[axis] +
                             tap * d->w.dilation[axis];
                to[(t * d->out_high + y) * d->out_wide + x] =
                    (float)((2.0 * (double)at + 1) / size - 1);
            }
    return tw_build_data(d->b, tw_shape_of(TW_F32, 4, dim), to);
}

/* Places across or down with their offsets, of an offset group: [batch, taps * high, wide, 1]. */
static tw_value *displaced(const tw_deform *d, int64_t group, int axis)
{
    int64_t pairs[] = {d->batch, d->groups * d->taps, 2, d->out_high * d->out_wide};
    int64_t dim[] = {d->batch, d->taps * d->out_high, d->out_wide, 1};
    tw_value *by = tw_build_reshape(d->b, d->offset, 4, pairs);
    by = by ? tw_build_slice(d->b, by, 1, group * d->taps, d->taps, 1) : NULL;
    by = by ? tw_build_slice(d->b, by, 2, axis, 1, 1) : NULL;
    tw_value *step = tw_build_scalar(d->b, TW_F32, 2.0 / (double)(axis ? d->wide : d->high));
    by = tw_build2(d->b, "Mul", tw_build_reshape(d->b, by, 4, dim), step, NULL);
    return tw_build2(d->b, "Add", by, regular(d, axis), NULL);
}

/* The channels of an offset group at the places of all taps: [batch, taps, high, wide, channels]. */
static tw_value *sampled(const tw_deform *d, int64_t group)
{
    int64_t each = d->channels / d->groups;
    int64_t dim[] = {d->batch, d->taps, d->out_high, d->out_wide, each};
    int64_t one[] = {d->batch, d->taps, d->out_high, d->out_wide, 1};
    int64_t masks[] = {d->batch, d->groups * d->taps, d->out_high * d->out_wide};
    tw_value *place[] = {displaced(d, group, 1), displaced(d, group, 0)};
    if (!place[0] || !place[1])
        return NULL;
    tw_value *in[] = {
        tw_build_channels_last(d->b, tw_build_slice(d->b, d->n->in[0], 1, group * each, each, 1)),
        tw_build_concat(d->b, place, 2, 3)};
    tw_value *y =
        tw_build(d->b, "GridSample", in, 2,
                 TW_SETTINGS(tw_set_word("mode", "linear"), tw_set_word("padding", "zeros"),
                             tw_set_int("align_corners", 0)));
    y = tw_build_reshape(d->b, y, 5, dim);
    if (!d->mask)
        return y;
    tw_value *mask = tw_build_reshape(d->b, d->mask, 3, masks);
    mask = mask ? tw_build_slice(d->b, mask, 1, group * d->taps, d->taps, 1) : NULL;
    return tw_build2(d->b, "Mul", y, tw_build_reshape(d->b, mask, 5, one), NULL);
}

bool tw_onnx_op_deform_conv(tw_onnx_node *n)
{
    enum { GROUPS = 64 };
    static const int64_t taps_last[] = {0, 2, 3, 4, 1};
    tw_deform d = {.n = n, .b = n->b};
    tw_value *part[GROUPS], *w = n->in[1], *bias = tw_onnx_in(n, 3);
    if (!read_shapes(&d))
        return false;
    int64_t group = tw_onnx_int(n, "group", 1);
    if (group < 1 || d.channels % group != 0 || w->shape.dim[1] != d.channels / group)
        return TW_ONNX_FAIL(n, "the weights take %d channels in %lld groups, the input has %lld",
                            (int)w->shape.dim[1], (long long)group, (long long)d.channels);
    if (d.groups > GROUPS)
        return TW_ONNX_UNSUPPORTED(n, "%lld offset groups; at most %d are supported",
                                   (long long)d.groups, GROUPS);
    for (int64_t g = 0; g < d.groups; g++)
        if (!(part[g] = sampled(&d, g)))
            return false;
    tw_value *x = d.groups == 1 ? part[0] : tw_build_concat(d.b, part, (int)d.groups, 4);
    int64_t flat[] = {d.batch, d.out_high, d.out_wide, d.channels * d.taps};
    int64_t matrix[] = {w->shape.dim[0], 1, 1, d.channels / group * d.taps};
    x = x ? tw_build_reshape(d.b, tw_build_transpose(d.b, x, 5, taps_last), 4, flat) : NULL;
    tw_value *in[] = {x, tw_build_reshape(d.b, w, 4, matrix), bias};
    tw_value *y =
        x ? tw_build(d.b, "Conv", in, bias ? 3 : 2, TW_SETTINGS(tw_set_int("group", group))) : NULL;
    return tw_onnx_bind(n, 0, tw_build_channels_first(d.b, y));
}
