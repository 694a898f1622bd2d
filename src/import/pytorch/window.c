/* Convolutions and pooling. Tensors are [N, C, spatial..], or [C, spatial..] without a batch. */
#include <string.h>

#include "import/pytorch/torch.h"
#include "import/weight.h"

enum { WINDOW_LIMIT = 1 << 24 };

typedef struct tw_torch_window {
    int spatial;
    int64_t kernel[3], stride[3], dilation[3], begin[3], end[3], added[3];
} tw_torch_window;

/* Pairs a list argument with where it goes; least: the least value that is possible. */
static bool read_list(tw_torch_call *c, int i, int count, int64_t least, int64_t *to)
{
    if (!tw_torch_ints(c, i, count, to))
        return false;
    for (int k = 0; k < count; k++)
        if (to[k] < least || to[k] > WINDOW_LIMIT)
            return TW_TORCH_FAIL(c, "argument %d holds %lld; values from %lld to %d are possible",
                                 i, (long long)to[k], (long long)least, WINDOW_LIMIT);
    return true;
}

/* Operators of `spatial` axes take a batch or not: with one, and whether it is to go again. */
static tw_value *with_batch(tw_torch_call *c, tw_value *x, int spatial, bool *added)
{
    if (!x)
        return NULL;
    *added = x->shape.rank == spatial + 1;
    if (x->shape.rank != spatial + 1 && x->shape.rank != spatial + 2) {
        TW_TORCH_FAIL(c, "the input has rank %d; %d or %d is needed", x->shape.rank, spatial + 1,
                      spatial + 2);
        return NULL;
    }
    return *added ? tw_torch_with_axis(c, x, 0) : x;
}

static tw_value *back(tw_torch_call *c, tw_value *y, bool added)
{
    y = tw_build_channels_first(c->b, y);
    return added && y ? tw_torch_without_axis(c, y, 0) : y;
}

/* --- convolution ------------------------------------------------------------------------------- */

static bool check_channels(tw_torch_call *c, const tw_shape *x, const tw_shape *w,
                           const tw_value *bias, int64_t group, bool transposed)
{
    if (w->rank != x->rank)
        return TW_TORCH_FAIL(c, "the input has rank %d, the weights have rank %d", x->rank,
                             w->rank);
    const int32_t outputs = transposed ? 0 : w->dim[0];
    if (group < 1 || group > x->dim[1] || x->dim[1] % group != 0 || outputs % group != 0)
        return TW_TORCH_FAIL(c, "%lld groups do not divide %d input and %d output channels",
                             (long long)group, (int)x->dim[1], (int)outputs);
    if (transposed ? w->dim[0] != x->dim[1] : w->dim[1] != x->dim[1] / group)
        return TW_TORCH_FAIL(c, "the weights take %d channels, the input has %d",
                             (int)w->dim[transposed ? 0 : 1], (int)x->dim[1]);
    const int64_t all = transposed ? w->dim[1] * group : outputs;
    if (bias && (bias->shape.rank != 1 || bias->shape.dim[0] != all))
        return TW_TORCH_FAIL(c, "the bias must be a list of %d elements", (int)all);
    return true;
}

static tw_value *forward_conv(tw_torch_call *c, tw_value *const operand[3],
                              const tw_torch_window *w, int64_t group)
{
    const bool depthwise = group > 1 && group == operand[0]->shape.dim[1] && w->spatial < 3;
    tw_value *in[] = {tw_build_channels_last(c->b, operand[0]),
                      depthwise ? tw_build_depthwise_weight(c->b, operand[1])
                                : tw_build_conv_weight(c->b, operand[1]),
                      operand[2]};
    tw_setting settings[] = {tw_set_ints("stride", w->spatial, w->stride),
                             tw_set_ints("dilation", w->spatial, w->dilation),
                             tw_set_ints("pad_begin", w->spatial, w->begin),
                             tw_set_ints("pad_end", w->spatial, w->end),
                             tw_set_int("group", group),
                             {.name = NULL}};
    if (depthwise)
        settings[4].name = NULL;
    return tw_build(c->b,
                    w->spatial == 3 ? "Conv3d"
                    : depthwise     ? "DepthwiseConv"
                                    : "Conv",
                    in, operand[2] ? 3 : 2, settings);
}

static tw_value *transposed_conv(tw_torch_call *c, tw_value *const operand[3],
                                 const tw_torch_window *w, int64_t group)
{
    tw_value *in[] = {tw_build_channels_last(c->b, operand[0]),
                      tw_build_transposed_weight(c->b, operand[1], group), operand[2]};
    int64_t end[3], added[3];
    for (int i = 0; i < w->spatial; i++) {
        /* what is added beyond the pads cuts less off */
        const int64_t rest = w->end[i] - w->added[i];
        end[i] = rest > 0 ? rest : 0;
        added[i] = rest < 0 ? -rest : 0;
    }
    return tw_build(c->b, w->spatial == 3 ? "ConvTranspose3d" : "ConvTranspose", in,
                    operand[2] ? 3 : 2,
                    TW_SETTINGS(tw_set_ints("stride", w->spatial, w->stride),
                                tw_set_ints("dilation", w->spatial, w->dilation),
                                tw_set_ints("pad_begin", w->spatial, w->begin),
                                tw_set_ints("pad_end", w->spatial, end), tw_set_int("group", group),
                                tw_set_ints("output_pad", w->spatial, added)));
}

/* Pads from a list, or 'same' and 'valid'. */
static bool read_pads(tw_torch_call *c, int i, tw_torch_window *w)
{
    if (c->arg[i]->kind == TW_TORCH_TEXT) {
        const bool same = strcmp(c->arg[i]->text, "same") == 0;
        for (int k = 0; k < w->spatial; k++) {
            const int64_t total = same ? (w->kernel[k] - 1) * w->dilation[k] : 0;
            w->begin[k] = total / 2;
            w->end[k] = total - w->begin[k];
        }
        return true;
    }
    if (!read_list(c, i, w->spatial, 0, w->begin))
        return false;
    memcpy(w->end, w->begin, sizeof w->end);
    return true;
}

/* Where the arguments of a convolution stand. output_pad -1: none. */
typedef struct tw_conv_places {
    int stride, padding, dilation, output_pad, groups;
} tw_conv_places;

static bool convolve(tw_torch_call *c, bool transposed, tw_conv_places at)
{
    tw_value *operand[3] = {tw_torch_real_in(c, 0), tw_torch_real_in(c, 1),
                            tw_torch_has(c, 2) ? tw_torch_real_in(c, 2) : NULL};
    const int64_t group = tw_torch_int(c, at.groups);
    bool added = false;
    if (!operand[0] || !operand[1])
        return false;
    tw_torch_window w = {.spatial = operand[1]->shape.rank - 2};
    if (w.spatial < 1 || w.spatial > 3)
        return TW_TORCH_UNSUPPORTED(c,
                                    "weights of rank %d; one to three spatial axes are supported",
                                    operand[1]->shape.rank);
    operand[0] = with_batch(c, operand[0], w.spatial, &added);
    for (int i = 0; i < w.spatial; i++)
        w.kernel[i] = operand[1]->shape.dim[2 + i];
    if (!operand[0] ||
        !check_channels(c, &operand[0]->shape, &operand[1]->shape, operand[2], group, transposed) ||
        !read_list(c, at.stride, w.spatial, 1, w.stride) ||
        !read_list(c, at.dilation, w.spatial, 1, w.dilation) || !read_pads(c, at.padding, &w) ||
        (transposed && !read_list(c, at.output_pad, w.spatial, 0, w.added)))
        return false;
    tw_value *y =
        transposed ? transposed_conv(c, operand, &w, group) : forward_conv(c, operand, &w, group);
    return tw_torch_give(c, back(c, y, added));
}

/* (x, weight, bias, stride, padding, dilation, groups) */
bool tw_torch_op_conv(tw_torch_call *c)
{
    return convolve(c, false, (tw_conv_places){3, 4, 5, -1, 6});
}

/* (x, weight, bias, stride, padding, output_padding, groups, dilation) */
bool tw_torch_op_conv_transpose(tw_torch_call *c)
{
    return convolve(c, true, (tw_conv_places){3, 4, 7, 5, 6});
}

/* (x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, ...) */
bool tw_torch_op_convolution(tw_torch_call *c)
{
    return convolve(c, tw_torch_flag(c, 6), (tw_conv_places){3, 4, 5, 7, 8});
}

/* --- pooling ----------------------------------------------------------------------------------- */

static int spatial_of(const tw_torch_call *c)
{
    for (const char *at = c->row->name; *at; at++)
        if (*at >= '1' && *at <= '3' && at[1] == 'd')
            return *at - '0';
    return 2;
}

static bool read_pool(tw_torch_call *c, tw_torch_window *w)
{
    w->spatial = spatial_of(c);
    if (!read_list(c, 1, w->spatial, 1, w->kernel))
        return false;
    if (tw_torch_length(c, 2) == 0)
        memcpy(w->stride, w->kernel, sizeof w->stride);
    else if (!read_list(c, 2, w->spatial, 1, w->stride))
        return false;
    for (int i = 0; i < w->spatial; i++)
        w->dilation[i] = 1;
    if (!read_list(c, 3, w->spatial, 0, w->begin))
        return false;
    memcpy(w->end, w->begin, sizeof w->end);
    return true;
}

/* Spatial axes [first, first + count), on x with its channels last. */
static tw_value *pool_axes(tw_torch_call *c, const char *op, tw_value *x, const tw_torch_window *w,
                           int first, int count, bool ceiling, bool count_pad)
{
    tw_setting settings[] = {tw_set_ints("kernel", count, w->kernel + first),
                             tw_set_ints("stride", count, w->stride + first),
                             tw_set_ints("dilation", count, w->dilation + first),
                             tw_set_ints("pad_begin", count, w->begin + first),
                             tw_set_ints("pad_end", count, w->end + first),
                             tw_set_int("ceil", ceiling),
                             tw_set_int("count_include_pad", count_pad),
                             {.name = NULL}};
    if (strcmp(op, "AveragePool") != 0)
        settings[6].name = NULL;
    return tw_build1(c->b, op, x, settings);
}

/* Three axes: over rows and columns of every slice, then over slices. */
static tw_value *pool_volume(tw_torch_call *c, const char *op, tw_value *x,
                             const tw_torch_window *w, bool ceiling, bool count_pad)
{
    if (!x)
        return NULL;
    const int32_t *dim = x->shape.dim;
    const int64_t batch = dim[0], depth = dim[1], channels = dim[4];
    tw_value *y =
        tw_build_reshape(c->b, x, 4, (const int64_t[]){batch * depth, dim[2], dim[3], channels});
    y = pool_axes(c, op, y, w, 1, 2, ceiling, count_pad);
    if (!y)
        return NULL;
    const int64_t rows = y->shape.dim[1], columns = y->shape.dim[2];
    y = tw_build_reshape(c->b, y, 3, (const int64_t[]){batch, depth, rows * columns * channels});
    y = pool_axes(c, op, y, w, 0, 1, ceiling, count_pad);
    return y ? tw_build_reshape(c->b, y, 5,
                                (const int64_t[]){batch, y->shape.dim[1], rows, columns, channels})
             : NULL;
}

/* channels last in and out */
static tw_value *pool(tw_torch_call *c, const char *op, tw_value *x, const tw_torch_window *w,
                      bool ceiling, bool count_pad)
{
    return w->spatial == 3 ? pool_volume(c, op, x, w, ceiling, count_pad)
                           : pool_axes(c, op, x, w, 0, w->spatial, ceiling, count_pad);
}

/* (x, kernel, stride, padding, dilation, ceil_mode), and the indices too where the name says so */
bool tw_torch_op_max_pool(tw_torch_call *c)
{
    tw_torch_window w = {0};
    bool added = false;
    if (!read_pool(c, &w) || !read_list(c, 4, w.spatial, 1, w.dilation))
        return false;
    tw_value *x = with_batch(c, tw_torch_in(c, 0), w.spatial, &added);
    const bool ceiling = tw_torch_flag(c, 5);
    x = tw_build_channels_last(c->b, x);
    tw_value *y = back(c, pool(c, "MaxPool", x, &w, ceiling, false), added);
    if (!strstr(c->row->name, "with_indices"))
        return tw_torch_give(c, y);
    if (w.spatial == 3)
        return tw_torch_give_first(c, y, 2);
    /* The operator counts over channels first: what lies before the own channel is taken away. Nobody
     * reads it as a rule, and then it is gone after the first pass. */
    tw_value *index = pool_axes(c, "MaxPoolIndex", x, &w, 0, w.spatial, ceiling, false);
    if (index) {
        int64_t plane = 1;
        for (int i = 0; i < w.spatial; i++)
            plane *= x->shape.dim[1 + i];
        index = tw_build2(c->b, "Mod", index,
                          tw_build_scalar(c->b, index->shape.dtype, (double)plane), NULL);
    }
    return tw_torch_give_all(c, (tw_value *const[]){y, back(c, index, added)}, 2);
}

/* (x, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override) */
bool tw_torch_op_avg_pool(tw_torch_call *c)
{
    tw_torch_window w = {0};
    bool added = false, padded = false;
    if (!read_pool(c, &w))
        return false;
    tw_value *x = with_batch(c, tw_torch_real_in(c, 0), w.spatial, &added);
    const bool ceiling = tw_torch_flag(c, 4), count_pad = tw_torch_flag(c, 5);
    for (int i = 0; i < w.spatial; i++)
        padded |= w.begin[i] != 0;
    x = tw_build_channels_last(c->b, x);
    if (c->count > 6 && tw_torch_has(c, 6)) {
        const double by = tw_torch_real(c, 6);
        tw_value *y = pool(c, "SumPool", x, &w, ceiling, false);
        return by != 0 && tw_torch_give(c, back(c, tw_torch_scaled(c, y, 1 / by), added));
    }
    if (w.spatial == 3 && (ceiling || (padded && !count_pad)))
        return TW_TORCH_UNSUPPORTED(c, "of three spatial axes, with ceil_mode or pads that do not "
                                       "count, it is not supported");
    if (w.spatial == 3) {
        tw_value *y = pool(c, "SumPool", x, &w, false, false);
        const double all = (double)(w.kernel[0] * w.kernel[1] * w.kernel[2]);
        return tw_torch_give(c, back(c, tw_torch_scaled(c, y, 1 / all), added));
    }
    return tw_torch_give(c, back(c, pool(c, "AveragePool", x, &w, ceiling, count_pad), added));
}

/* One axis at a time: outputs that all see windows of one size and distance. */
static bool even_windows(tw_torch_call *c, const tw_shape *x, const int64_t *size,
                         tw_torch_window *w)
{
    for (int i = 0; i < w->spatial; i++) {
        const int64_t extent = x->dim[2 + i];
        if (size[i] < 1 || size[i] > WINDOW_LIMIT || extent < 1)
            return TW_TORCH_FAIL(c, "%lld elements of an axis of %lld", (long long)size[i],
                                 (long long)extent);
        w->stride[i] = extent / size[i] ? extent / size[i] : 1;
        w->kernel[i] = extent - (size[i] - 1) * w->stride[i];
        w->dilation[i] = 1;
        for (int64_t o = 0; o < size[i]; o++) {
            const int64_t first = o * extent / size[i];
            const int64_t behind = ((o + 1) * extent + size[i] - 1) / size[i];
            if (first != o * w->stride[i] || behind - first != w->kernel[i])
                return TW_TORCH_UNSUPPORTED(
                    c,
                    "%lld elements to %lld would take windows of several sizes, which is not "
                    "supported; choose an output size that divides the input",
                    (long long)extent, (long long)size[i]);
        }
    }
    return true;
}

/* (x, output_size): an extent may be None, which keeps it */
bool tw_torch_op_adaptive_pool(tw_torch_call *c)
{
    tw_torch_window w = {.spatial = spatial_of(c)};
    const bool max = strstr(c->row->name, "max") != NULL;
    const tw_torch_object *list = c->arg[1];
    bool added = false;
    tw_value *x = with_batch(c, tw_torch_real_in(c, 0), w.spatial, &added);
    int64_t size[3] = {0};
    if (!x)
        return false;
    for (int i = 0; i < w.spatial; i++) {
        const tw_torch_object *o = list->kind == TW_TORCH_INT           ? list
                                   : i < list->count && list->count > 1 ? list->items[i]
                                   : list->count == 1                   ? list->items[0]
                                                                        : NULL;
        if (!o)
            return TW_TORCH_FAIL(c, "output_size has %d elements", list->count);
        size[i] = o->kind == TW_TORCH_NONE ? x->shape.dim[2 + i] : o->number;
    }
    if (!even_windows(c, &x->shape, size, &w))
        return false;
    tw_value *last = tw_build_channels_last(c->b, x), *y;
    bool all = true;
    int64_t axes[3];
    for (int i = 0; i < w.spatial; i++) {
        all &= size[i] == 1;
        axes[i] = 1 + i;
    }
    if (all)
        y = tw_build1(c->b, max ? "ReduceMax" : "ReduceMean", last,
                      TW_SETTINGS(tw_set_ints("axes", w.spatial, axes), tw_set_int("keepdims", 1)));
    else if (w.spatial == 3 && !max)
        y = tw_torch_scaled(c, pool(c, "SumPool", last, &w, false, false),
                            1.0 / (double)(w.kernel[0] * w.kernel[1] * w.kernel[2]));
    else
        y = pool(c, max ? "MaxPool" : "AveragePool", last, &w, false, false);
    y = back(c, y, added);
    return max ? tw_torch_give_first(c, y, 2) : tw_torch_give(c, y);
}
