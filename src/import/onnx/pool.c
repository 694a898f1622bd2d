/* Pooling: in windows, and over all spatial axes. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx.h"

/* Spatial axes [first, first + count) of the window, on x with its channels last. */
static tw_value *pool_axes(tw_onnx_node *n, const char *op, tw_value *x, const tw_onnx_window *w,
                           int first, int count, bool count_pad)
{
    /* VALID has its own formula, which never rounds up beyond the input. */
    bool ceiling = tw_onnx_int(n, "ceil_mode", 0) != 0 && !w->valid;
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
    tw_value *y = tw_build1(n->b, op, x, settings);
    if (y && strcmp(op, "MaxPool") == 0 && x->quant.count == 1)
        y->quant = x->quant; /* one of the stored integers is selected */
    return y;
}

/* Maxima and sums of three axes are those over rows and columns of every slice, then over slices. */
static tw_value *pool_volume(tw_onnx_node *n, const char *op, tw_value *x, const tw_onnx_window *w)
{
    if (!x)
        return NULL;
    const int32_t *dim = x->shape.dim;
    const int64_t batch = dim[0], depth = dim[1], channels = dim[4];
    tw_value *y =
        tw_build_reshape(n->b, x, 4, (const int64_t[]){batch * depth, dim[2], dim[3], channels});
    y = pool_axes(n, op, y, w, 1, 2, false);
    if (!y)
        return NULL;
    const int64_t rows = y->shape.dim[1], columns = y->shape.dim[2];
    y = tw_build_reshape(n->b, y, 3, (const int64_t[]){batch, depth, rows * columns * channels});
    y = pool_axes(n, op, y, w, 0, 1, false);
    return y ? tw_build_reshape(n->b, y, 5,
                                (const int64_t[]){batch, y->shape.dim[1], rows, columns, channels})
             : NULL;
}

/* Taps of output o on axis i that count: those inside the input, or inside its padding. */
static int64_t taps_counted(const tw_onnx_window *w, int i, int64_t extent, int64_t o, bool padding)
{
    int64_t base = o * w->stride[i] - w->begin[i], step = w->dilation[i];
    int64_t low = (padding ? -w->begin[i] : 0) - base;
    int64_t high = extent + (padding ? w->end[i] : 0) - base;
    int64_t first = low > 0 ? (low + step - 1) / step : 0;
    int64_t behind = high > 0 ? (high + step - 1) / step : 0;
    if (behind > w->kernel[i])
        behind = w->kernel[i];
    return behind > first ? behind - first : 0;
}

/* What the sums over three axes are divided by: a constant [D', H', W', 1]. x: channels last. */
static tw_value *volume_counts(tw_onnx_node *n, const tw_shape *x, const tw_shape *y,
                               const tw_onnx_window *w, bool padding)
{
    const int32_t dim[4] = {y->dim[1], y->dim[2], y->dim[3], 1};
    tw_value *counts = tw_build_full(n->b, tw_shape_of(TW_F32, 4, dim), 1);
    if (!counts)
        return NULL;
    float *to = (float *)(uintptr_t)counts->data; /* made just now */
    for (int64_t o = 0, at = 0; o < dim[0]; o++)
        for (int64_t r = 0; r < dim[1]; r++)
            for (int64_t c = 0; c < dim[2]; c++, at++) {
                int64_t count = taps_counted(w, 0, x->dim[1], o, padding) *
                                taps_counted(w, 1, x->dim[2], r, padding) *
                                taps_counted(w, 2, x->dim[3], c, padding);
                to[at] = count > 0 ? (float)count : 1;
            }
    return counts;
}

/* The IR's pooling of x (as ONNX has it: channels second), with the node's window. */
static tw_value *pool(tw_onnx_node *n, const char *op, tw_value *x, const tw_onnx_window *w,
                      bool count_pad)
{
    x = tw_build_channels_last(n->b, x);
    tw_value *y;
    if (w->spatial < 3) {
        y = pool_axes(n, op, x, w, 0, w->spatial, count_pad);
    } else if (strcmp(op, "AveragePool") == 0) {
        y = pool_volume(n, "SumPool", x, w);
        if (y)
            y = tw_build2(n->b, "Div", y, volume_counts(n, &x->shape, &y->shape, w, count_pad),
                          NULL);
    } else {
        y = pool_volume(n, op, x, w);
    }
    return tw_build_channels_first(n->b, y);
}

tw_value *tw_onnx_max_pool(tw_onnx_node *n, tw_value *x)
{
    tw_onnx_window w;
    return x && tw_onnx_read_window(n, &x->shape, NULL, &w) ? pool(n, "MaxPool", x, &w, false)
                                                            : NULL;
}

/* n, c, y, x as a number in rows of C, H, W: with y and x exchanged on request. */
static tw_value *exchange_rows(tw_onnx_node *n, tw_value *index, int64_t rows, int64_t columns)
{
    tw_value *wide = tw_build_scalar(n->b, TW_S64, (double)columns);
    tw_value *high = tw_build_scalar(n->b, TW_S64, (double)rows);
    tw_value *plane = tw_build_scalar(n->b, TW_S64, (double)(rows * columns));
    tw_value *within = tw_build2(n->b, "Mod", index, plane, NULL);
    tw_value *turned = tw_build2(
        n->b, "Add", tw_build2(n->b, "Mul", tw_build2(n->b, "Mod", within, wide, NULL), high, NULL),
        tw_build2(n->b, "Div", within, wide, NULL), NULL);
    return tw_build2(n->b, "Add", tw_build2(n->b, "Sub", index, within, NULL), turned, NULL);
}

static tw_value *max_pool_index(tw_onnx_node *n)
{
    tw_onnx_window w;
    const tw_shape *x = &n->in[0]->shape;
    if (!tw_onnx_read_window(n, x, NULL, &w))
        return NULL;
    if (w.spatial > 2) {
        TW_ONNX_UNSUPPORTED(n, "the output Indices of three spatial axes is not supported");
        return NULL;
    }
    tw_value *y = pool(n, "MaxPoolIndex", n->in[0], &w, false);
    bool columns = tw_onnx_int(n, "storage_order", 0) != 0;
    return columns && w.spatial == 2 ? exchange_rows(n, y, x->dim[2], x->dim[3]) : y;
}

bool tw_onnx_op_max_pool(tw_onnx_node *n)
{
    tw_onnx_ignore(n, "storage_order"); /* of Indices */
    return tw_onnx_bind(n, 0, tw_onnx_max_pool(n, n->in[0])) &&
           (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, max_pool_index(n)));
}

/* The indices are of the extents that follow from the window; what output_shape has more is empty. */
bool tw_onnx_op_max_unpool(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    tw_onnx_window w;
    tw_onnx_list given;
    int64_t size[TW_MAX_RANK], none[TW_MAX_RANK] = {0}, more[TW_MAX_RANK] = {0};
    if (!tw_onnx_read_window(n, x, NULL, &w) ||
        !tw_onnx_list_in(n, 2, "the output's shape", &given))
        return false;
    if (given.count >= 0 && given.count != x->rank)
        return TW_ONNX_FAIL(n, "output_shape has %d entries for %d axes", given.count, x->rank);
    for (int i = 0; i < w.spatial; i++) {
        size[i] = (x->dim[2 + i] - 1) * w.stride[i] + w.kernel[i] - w.begin[i] - w.end[i];
        more[1 + i] = given.count < 0 ? 0 : given.v[2 + i] - size[i];
        if (size[i] < 1 || size[i] > INT32_MAX || more[1 + i] < 0 || more[1 + i] > INT32_MAX)
            return TW_ONNX_FAIL(n, "spatial axis %d would have %lld elements, and %lld more", i,
                                (long long)size[i], (long long)more[1 + i]);
    }
    tw_value *in[] = {tw_build_channels_last(n->b, n->in[0]),
                      tw_build_channels_last(n->b, n->in[1])};
    tw_value *y =
        tw_build(n->b, "MaxUnpool", in, 2, TW_SETTINGS(tw_set_ints("size", w.spatial, size)));
    if (given.count >= 0)
        y = tw_build1(
            n->b, "Pad", y,
            TW_SETTINGS(tw_set_ints("before", x->rank, none), tw_set_ints("after", x->rank, more)));
    return tw_onnx_bind(n, 0, tw_build_channels_first(n->b, y));
}

tw_value *tw_onnx_average_pool(tw_onnx_node *n, tw_value *x)
{
    tw_onnx_window w;
    if (!x || !tw_onnx_read_window(n, &x->shape, NULL, &w))
        return NULL;
    return pool(n, "AveragePool", x, &w, tw_onnx_int(n, "count_include_pad", 0) != 0);
}

bool tw_onnx_op_average_pool(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, tw_onnx_average_pool(n, n->in[0]));
}

/* (sum |x|^p)^(1/p), `sum` made by the caller between the two halves. */
static tw_value *raise(tw_onnx_node *n, tw_value *x, int64_t p)
{
    tw_value *size = tw_build1(n->b, "Abs", x, NULL);
    return p == 1   ? size
           : p == 2 ? tw_build2(n->b, "Mul", x, x, NULL)
                    : tw_build2(n->b, "Pow", size, tw_build_scalar(n->b, TW_F32, (double)p), NULL);
}

static tw_value *take_root(tw_onnx_node *n, tw_value *sum, int64_t p)
{
    return p == 1 ? sum
           : p == 2
               ? tw_build1(n->b, "Sqrt", sum, NULL)
               : tw_build2(n->b, "Pow", sum, tw_build_scalar(n->b, TW_F32, 1.0 / (double)p), NULL);
}

/* The exponent: an integer, a float in opset 1. */
static bool read_p(tw_onnx_node *n, int64_t *p)
{
    float real = n->opset < 2 ? tw_onnx_float(n, "p", 2) : (float)tw_onnx_int(n, "p", 2);
    if (!(real >= 1 && real <= 64) || real != floorf(real))
        return TW_ONNX_UNSUPPORTED(n, "p is %g; whole numbers from 1 to 64 are supported",
                                   (double)real);
    *p = (int64_t)real;
    return true;
}

bool tw_onnx_op_lp_pool(tw_onnx_node *n)
{
    tw_onnx_window w;
    int64_t p;
    if (!read_p(n, &p) || !tw_onnx_read_window(n, &n->in[0]->shape, NULL, &w))
        return false;
    tw_value *sum = pool(n, "SumPool", raise(n, n->in[0], p), &w, false);
    return tw_onnx_bind(n, 0, take_root(n, sum, p));
}

tw_value *tw_onnx_global_pool(tw_onnx_node *n, tw_value *x, const char *reduce)
{
    if (!x)
        return NULL;
    int spatial = x->shape.rank - 2;
    if (spatial < 1) {
        TW_ONNX_FAIL(n,
                     "the input has rank %d; batch, channels and at least one spatial axis are "
                     "needed",
                     x->shape.rank);
        return NULL;
    }
    static const int64_t axes[] = {1, 2, 3, 4};
    tw_value *y =
        tw_build1(n->b, reduce, tw_build_channels_last(n->b, x),
                  TW_SETTINGS(tw_set_ints("axes", spatial, axes), tw_set_int("keepdims", 1)));
    return tw_build_channels_first(n->b, y);
}

bool tw_onnx_op_global_average_pool(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, tw_onnx_global_pool(n, n->in[0], "ReduceMean"));
}

bool tw_onnx_op_global_max_pool(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, tw_onnx_global_pool(n, n->in[0], "ReduceMax"));
}

bool tw_onnx_op_global_lp_pool(tw_onnx_node *n)
{
    int64_t p;
    if (!read_p(n, &p))
        return false;
    if (p <= 2)
        return tw_onnx_bind(n, 0,
                            tw_onnx_global_pool(n, n->in[0], p == 1 ? "ReduceL1" : "ReduceL2"));
    tw_value *sum = tw_onnx_global_pool(n, raise(n, n->in[0], p), "ReduceSum");
    return tw_onnx_bind(n, 0, take_root(n, sum, p));
}
