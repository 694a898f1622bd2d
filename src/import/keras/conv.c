/* Convolutions of one to three spatial axes. Kernels have the spatial axes first, then the channels;
 * images that have the channels first are turned for the layer and turned back. */
#include <string.h>

#include "import/keras/keras.h"
#include "import/padding.h"

typedef struct window {
    int spatial;
    int64_t kernel[3], stride[3], dilation[3], begin[3], end[3], added[3];
} window;

static bool read_window(tw_kr_node *n, int spatial, window *w)
{
    *w = (window){.spatial = spatial};
    if (tw_kr_ints(n, "kernel_size", spatial, true, 1, w->kernel) < 0 ||
        tw_kr_ints(n, "strides", spatial, true, 1, w->stride) < 0 ||
        tw_kr_ints(n, "dilation_rate", spatial, true, 1, w->dilation) < 0)
        return false;
    for (int i = 0; i < spatial; i++)
        if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1 ||
            w->kernel[i] > INT32_MAX || w->stride[i] > INT32_MAX || w->dilation[i] > INT32_MAX)
            return TW_KR_FAIL(n, "kernel %lld, stride %lld, dilation %lld: all must be positive",
                              (long long)w->kernel[i], (long long)w->stride[i],
                              (long long)w->dilation[i]);
    return true;
}

static bool pad(tw_kr_node *n, const tw_value *x, window *w)
{
    const char *padding = tw_kr_word(n, "padding", "valid");
    for (int i = 0; i < w->spatial; i++) {
        const int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1;
        tw_pads pads = {0, 0, 0};
        if (strcmp(padding, "same") == 0)
            pads = tw_same_pads(x->shape.dim[1 + i], w->stride[i], span);
        else if (strcmp(padding, "causal") == 0 && w->spatial == 1)
            pads.begin = span - 1;
        else if (strcmp(padding, "valid") != 0)
            return TW_KR_FAIL(n, "padding '%.40s' is neither valid nor same", padding);
        w->begin[i] = pads.begin;
        w->end[i] = pads.end;
    }
    return true;
}

/* extra: a setting of this operator's own. */
static tw_value *convolve(tw_kr_node *n, const char *op, tw_value *x, tw_value *kernel,
                          tw_value *bias, const window *w, tw_setting extra)
{
    tw_value *in[] = {x, kernel, bias};
    const tw_setting settings[] = {tw_set_ints("stride", w->spatial, w->stride),
                                   tw_set_ints("dilation", w->spatial, w->dilation),
                                   tw_set_ints("pad_begin", w->spatial, w->begin),
                                   tw_set_ints("pad_end", w->spatial, w->end),
                                   extra,
                                   {.name = NULL}};
    return x && kernel ? tw_build(n->b, op, in, bias ? 3 : 2, settings) : NULL;
}

tw_value *tw_kr_image(tw_kr_node *n, int spatial)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, spatial + 2, 0));
    return tw_kr_channels_first(n) ? tw_build_channels_last(n->b, x) : x;
}

bool tw_kr_set_image(tw_kr_node *n, tw_value *y)
{
    y = tw_kr_activate(n, "activation", y);
    return tw_kr_set(n, tw_kr_channels_first(n) ? tw_build_channels_first(n->b, y) : y);
}

/* Where the layer has a bias, variable i. False with a message where it is not there. */
static bool bias_of(tw_kr_node *n, int i, int64_t count, tw_value **bias)
{
    *bias =
        tw_kr_flag(n, "use_bias", true) ? tw_kr_variable(n, n->store, i, "bias", 1, &count) : NULL;
    return n->b->diag->code == TW_CODE_OK;
}

/* [spatial.., a, b] to [first, spatial.., second], where `first` is the axis from the end that goes to
 * the front: 1 is b, 2 is a. */
static tw_value *front(tw_kr_node *n, tw_value *kernel, int spatial, int first)
{
    int64_t perm[TW_MAX_RANK] = {first == 1 ? spatial + 1 : spatial};
    for (int i = 0; i < spatial; i++)
        perm[1 + i] = i;
    perm[spatial + 1] = first == 1 ? spatial : spatial + 1;
    return kernel ? tw_build_weight(n->b, kernel, perm, 0, NULL) : NULL;
}

tw_value *tw_kr_filters(tw_kr_node *n, tw_value *kernel, int spatial)
{
    return front(n, kernel, spatial, 1);
}

tw_value *tw_kr_convolve(tw_kr_node *n, int spatial, tw_value *x, tw_value *filters, tw_value *bias,
                         bool same)
{
    window w;
    if (!x || !filters || !read_window(n, spatial, &w))
        return NULL;
    for (int i = 0; same && i < spatial; i++) {
        const tw_pads pads = tw_same_pads(x->shape.dim[1 + i], 1, w.kernel[i]);
        w.stride[i] = w.dilation[i] = 1;
        w.begin[i] = pads.begin;
        w.end[i] = pads.end;
    }
    if (!same && !pad(n, x, &w))
        return NULL;
    return convolve(n, spatial == 3 ? "Conv3d" : "Conv", x, filters, bias, &w,
                    tw_set_int("group", 1));
}

bool tw_kr_op_conv(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_image(n, spatial), *bias;
    window w;
    if (!x || !read_window(n, spatial, &w) || !pad(n, x, &w))
        return false;
    const int64_t channels = x->shape.dim[spatial + 1], groups = tw_kr_int(n, "groups", 1);
    const int64_t filters = tw_kr_int(n, "filters", 0);
    if (groups < 1 || channels % groups != 0)
        return TW_KR_FAIL(n, "%lld groups do not divide %lld channels", (long long)groups,
                          (long long)channels);
    int64_t dim[5] = {w.kernel[0], w.kernel[1], w.kernel[2]};
    dim[spatial] = channels / groups;
    dim[spatial + 1] = filters;
    tw_value *kernel = tw_kr_variable(n, n->store, 0, "kernel", spatial + 2, dim);
    if (!bias_of(n, 1, filters, &bias))
        return false;
    return tw_kr_set_image(n, convolve(n, n->row->op, x, front(n, kernel, spatial, 1), bias, &w,
                                       tw_set_int("group", groups)));
}

/* --- by channel -------------------------------------------------------------------------------- */

/* [spatial.., C, m] to [spatial.., C * m]. */
static tw_value *by_channel(tw_kr_node *n, tw_value *x, tw_value *kernel, tw_value *bias, window *w)
{
    int64_t dim[4] = {w->kernel[0], w->kernel[1]};
    if (!kernel)
        return NULL;
    dim[w->spatial] = (int64_t)kernel->shape.dim[w->spatial] * kernel->shape.dim[w->spatial + 1];
    kernel = tw_build_reshape(n->b, kernel, w->spatial + 1, dim);
    return convolve(n, "DepthwiseConv", x, kernel, bias, w, (tw_setting){.name = NULL});
}

static tw_value *depthwise_kernel(tw_kr_node *n, const tw_value *x, const window *w, int64_t *made)
{
    const int64_t channels = x->shape.dim[w->spatial + 1];
    const int64_t multiplier = tw_kr_int(n, "depth_multiplier", 1);
    int64_t dim[4] = {w->kernel[0], w->kernel[1]};
    dim[w->spatial] = channels;
    dim[w->spatial + 1] = multiplier;
    *made = multiplier > 0 && multiplier <= INT32_MAX ? channels * multiplier : 0;
    return tw_kr_variable(n, n->store, 0, "depthwise_kernel", w->spatial + 2, dim);
}

bool tw_kr_op_depthwise_conv(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_image(n, spatial), *bias;
    int64_t made;
    window w;
    if (!x || !read_window(n, spatial, &w) || !pad(n, x, &w))
        return false;
    if (spatial == 1) /* older files repeat what has one axis */
        w.stride[1] = w.dilation[1] = 1;
    tw_value *kernel = depthwise_kernel(n, x, &w, &made);
    return kernel && bias_of(n, 1, made, &bias) &&
           tw_kr_set_image(n, by_channel(n, x, kernel, bias, &w));
}

bool tw_kr_op_separable_conv(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_image(n, spatial), *bias;
    int64_t made, filters = tw_kr_int(n, "filters", 0);
    window w, one = {.spatial = spatial, .stride = {1, 1}, .dilation = {1, 1}};
    if (!x || !read_window(n, spatial, &w) || !pad(n, x, &w))
        return false;
    tw_value *kernel = depthwise_kernel(n, x, &w, &made);
    int64_t dim[4] = {1, 1};
    dim[spatial] = made;
    dim[spatial + 1] = filters;
    tw_value *points =
        kernel ? tw_kr_variable(n, n->store, 1, "pointwise_kernel", spatial + 2, dim) : NULL;
    if (!points || !bias_of(n, 2, filters, &bias))
        return false;
    tw_value *y = by_channel(n, x, kernel, NULL, &w);
    return tw_kr_set_image(n, convolve(n, "Conv", y, front(n, points, spatial, 1), bias, &one,
                                       tw_set_int("group", 1)));
}

/* --- transposed -------------------------------------------------------------------------------- */

static bool transposed_pads(tw_kr_node *n, const tw_value *x, window *w)
{
    int64_t given[3];
    const bool same = strcmp(tw_kr_word(n, "padding", "valid"), "same") == 0;
    const bool has = tw_kr_get(n, "output_padding") != NULL;
    if (has && tw_kr_ints(n, "output_padding", w->spatial, true, 0, given) < 0)
        return false;
    for (int i = 0; i < w->spatial; i++) {
        const int64_t in = x->shape.dim[1 + i], stride = w->stride[i];
        const int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1;
        const int64_t most = span > stride ? span - stride : 0;
        const int64_t extent = has ? (in - 1) * stride + span - (same ? span / 2 * 2 : 0) + given[i]
                               : same ? in * stride
                                      : in * stride + most;
        if (extent < 1 || in < 1 || extent > INT32_MAX ||
            (has && (given[i] < 0 || given[i] >= stride)))
            return TW_KR_FAIL(n, "%lld elements in and %lld out on spatial axis %d", (long long)in,
                              (long long)extent, i);
        tw_pads pads = tw_transposed_pads(in, extent, stride, span, same);
        w->begin[i] = pads.begin;
        w->end[i] = pads.end;
        w->added[i] = pads.added;
    }
    return true;
}

bool tw_kr_op_conv_transpose(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_image(n, spatial), *bias;
    window w;
    if (!x || !read_window(n, spatial, &w) || !transposed_pads(n, x, &w))
        return false;
    const int64_t filters = tw_kr_int(n, "filters", 0);
    int64_t dim[5] = {w.kernel[0], w.kernel[1], w.kernel[2]};
    dim[spatial] = filters;
    dim[spatial + 1] = x->shape.dim[spatial + 1];
    tw_value *kernel = tw_kr_variable(n, n->store, 0, "kernel", spatial + 2, dim);
    if (!bias_of(n, 1, filters, &bias))
        return false;
    return tw_kr_set_image(n, convolve(n, n->row->op, x, front(n, kernel, spatial, 2), bias, &w,
                                       tw_set_ints("output_pad", spatial, w.added)));
}
