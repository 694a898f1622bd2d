/* Sliding windows: the attributes that convolution and pooling share, and convolution. */
#include <string.h>

#include "import/onnx/onnx.h"
#include "import/weight.h"

enum { WINDOW_LIMIT = 1 << 24 }; /* beyond any extent that is useful; keeps sums in range */

bool tw_onnx_read_list(tw_onnx_node *n, const char *name, int count, int64_t least,
                       int64_t fallback, int64_t *out)
{
    tw_onnx_list list = tw_onnx_ints(n, name);
    if (list.count >= 0 && list.count != count)
        return TW_ONNX_FAIL(n, "%s has %d elements, %d are needed", name, list.count, count);
    for (int i = 0; i < count; i++) {
        out[i] = list.count < 0 ? fallback : list.v[i];
        if (out[i] < least || out[i] > WINDOW_LIMIT)
            return TW_ONNX_FAIL(n, "%s holds %lld; values from %lld to %d are possible", name,
                                (long long)out[i], (long long)least, WINDOW_LIMIT);
    }
    return true;
}

/* Pads such that the output has ceil(input / stride) elements; the odd one goes to the end for
 * SAME_UPPER and to the begin for SAME_LOWER. */
static void pad_same(const tw_shape *x, tw_onnx_window *w, bool upper)
{
    for (int i = 0; i < w->spatial; i++) {
        int64_t extent = x->dim[2 + i], reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
        int64_t out = (extent + w->stride[i] - 1) / w->stride[i];
        int64_t total = (out - 1) * w->stride[i] + reach - extent;
        if (total < 0)
            total = 0;
        w->begin[i] = upper ? total / 2 : total - total / 2;
        w->end[i] = total - w->begin[i];
    }
}

static bool read_pads(tw_onnx_node *n, const tw_shape *x, tw_onnx_window *w)
{
    const char *automatic = tw_onnx_text(n, "auto_pad", "NOTSET");
    bool upper = strcmp(automatic, "SAME_UPPER") == 0;
    w->valid = strcmp(automatic, "VALID") == 0;
    if (upper || w->valid || strcmp(automatic, "SAME_LOWER") == 0) {
        tw_onnx_ignore(n, "pads");
        if (!w->valid)
            pad_same(x, w, upper);
        return true;
    }
    if (*automatic && strcmp(automatic, "NOTSET") != 0)
        return TW_ONNX_FAIL(n,
                            "auto_pad is '%s'; NOTSET, VALID, SAME_UPPER and SAME_LOWER are "
                            "possible",
                            automatic);
    int64_t pads[2 * TW_MAX_RANK] = {0};
    if (!tw_onnx_read_list(n, "pads", 2 * w->spatial, 0, 0, pads))
        return false;
    memcpy(w->begin, pads, sizeof *pads * (size_t)w->spatial);
    memcpy(w->end, pads + w->spatial, sizeof *pads * (size_t)w->spatial);
    return true;
}

bool tw_onnx_read_steps(tw_onnx_node *n, const tw_shape *x, const int64_t *kernel,
                        tw_onnx_window *w)
{
    *w = (tw_onnx_window){.spatial = x->rank - 2};
    if (x->rank < 3)
        return TW_ONNX_FAIL(n,
                            "the input has rank %d; batch, channels and at least one spatial "
                            "axis are needed",
                            x->rank);
    if (x->rank > 5)
        return TW_ONNX_UNSUPPORTED(n, "the input has %d spatial axes; one to three are supported",
                                   w->spatial);
    if (!kernel && !tw_onnx_has(n, "kernel_shape"))
        return TW_ONNX_FAIL(n, "the attribute kernel_shape is missing");
    if (!tw_onnx_read_list(n, "kernel_shape", w->spatial, 1, 1, w->kernel) ||
        !tw_onnx_read_list(n, "strides", w->spatial, 1, 1, w->stride) ||
        !tw_onnx_read_list(n, "dilations", w->spatial, 1, 1, w->dilation))
        return false;
    for (int i = 0; kernel && i < w->spatial; i++) {
        if (tw_onnx_has(n, "kernel_shape") && w->kernel[i] != kernel[i])
            return TW_ONNX_FAIL(n, "kernel_shape says %lld, the weights have %lld",
                                (long long)w->kernel[i], (long long)kernel[i]);
        w->kernel[i] = kernel[i];
        if (kernel[i] < 1 || kernel[i] > WINDOW_LIMIT)
            return TW_ONNX_FAIL(n, "the weights have a spatial extent of %lld",
                                (long long)kernel[i]);
    }
    return true;
}

bool tw_onnx_read_window(tw_onnx_node *n, const tw_shape *x, const int64_t *kernel,
                         tw_onnx_window *w)
{
    return tw_onnx_read_steps(n, x, kernel, w) && read_pads(n, x, w);
}

/* --- convolution ------------------------------------------------------------------------------- */

static bool check_channels(tw_onnx_node *n, const tw_shape *x, const tw_shape *w,
                           const tw_value *bias, int64_t group)
{
    if (w->rank != x->rank)
        return TW_ONNX_FAIL(n, "the input has rank %d, the weights have rank %d", x->rank, w->rank);
    if (group < 1 || x->dim[1] % group != 0 || w->dim[0] % group != 0)
        return TW_ONNX_FAIL(n, "group %lld does not divide %d input and %d output channels",
                            (long long)group, (int)x->dim[1], (int)w->dim[0]);
    if (w->dim[1] != x->dim[1] / group)
        return TW_ONNX_FAIL(n,
                            "the weights take %d channels a group, the input has %d in %lld "
                            "groups",
                            (int)w->dim[1], (int)x->dim[1], (long long)group);
    if (bias && (bias->shape.rank != 1 || bias->shape.dim[0] != w->dim[0]))
        return TW_ONNX_FAIL(n, "the bias must be a list of %d elements", (int)w->dim[0]);
    return true;
}

tw_value *tw_onnx_conv(tw_onnx_node *n, tw_value *x, tw_value *w, tw_value *bias)
{
    if (!x || !w)
        return NULL;
    int64_t group = tw_onnx_int(n, "group", 1), kernel[TW_MAX_RANK] = {0};
    for (int i = 2; i < w->shape.rank; i++)
        kernel[i - 2] = w->shape.dim[i];
    tw_onnx_window win;
    if (!check_channels(n, &x->shape, &w->shape, bias, group) ||
        !tw_onnx_read_window(n, &x->shape, kernel, &win))
        return NULL;
    bool depthwise = group > 1 && group == x->shape.dim[1] && win.spatial < 3;
    const char *op = win.spatial == 3 ? "Conv3d" : depthwise ? "DepthwiseConv" : "Conv";
    tw_value *in[] = {
        tw_build_channels_last(n->b, x),
        depthwise ? tw_build_depthwise_weight(n->b, w) : tw_build_conv_weight(n->b, w), bias};
    tw_setting settings[] = {tw_set_ints("stride", win.spatial, win.stride),
                             tw_set_ints("dilation", win.spatial, win.dilation),
                             tw_set_ints("pad_begin", win.spatial, win.begin),
                             tw_set_ints("pad_end", win.spatial, win.end),
                             tw_set_int("group", group),
                             {.name = NULL}};
    if (depthwise)
        settings[4].name = NULL;
    tw_value *y = tw_build(n->b, op, in, bias ? 3 : 2, settings);
    return tw_build_channels_first(n->b, y);
}

bool tw_onnx_op_conv(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, tw_onnx_conv(n, n->in[0], n->in[1], tw_onnx_in(n, 2)));
}
