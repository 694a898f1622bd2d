/* Pooling: in windows, and over all spatial axes. */
#include <math.h>

#include "import/onnx/onnx.h"

/* The IR's pooling of x (as ONNX has it: channels second), with the node's window. */
static tw_value *pool(tw_onnx_node *n, const char *op, tw_value *x, const tw_onnx_window *w,
                      bool count_pad)
{
    bool average = op[0] == 'A';
    /* VALID has its own formula, which never rounds up beyond the input. */
    bool ceiling = tw_onnx_int(n, "ceil_mode", 0) != 0 && !w->valid;
    tw_setting settings[] = {tw_set_ints("kernel", w->spatial, w->kernel),
                             tw_set_ints("stride", w->spatial, w->stride),
                             tw_set_ints("dilation", w->spatial, w->dilation),
                             tw_set_ints("pad_begin", w->spatial, w->begin),
                             tw_set_ints("pad_end", w->spatial, w->end),
                             tw_set_int("ceil", ceiling),
                             tw_set_int("count_include_pad", count_pad),
                             {.name = NULL}};
    if (!average)
        settings[6].name = NULL;
    x = tw_build_channels_last(n->b, x);
    tw_value *y = tw_build1(n->b, op, x, settings);
    if (y && !average && x->quant.count == 1) /* one of the stored integers is selected */
        y->quant = x->quant;
    return tw_build_channels_first(n->b, y);
}

tw_value *tw_onnx_max_pool(tw_onnx_node *n, tw_value *x)
{
    tw_onnx_window w;
    return x && tw_onnx_read_window(n, &x->shape, NULL, &w) ? pool(n, "MaxPool", x, &w, false)
                                                            : NULL;
}

bool tw_onnx_op_max_pool(tw_onnx_node *n)
{
    if (tw_onnx_wants(n, 1))
        return TW_ONNX_UNSUPPORTED(n, "its output Indices is not supported");
    tw_onnx_ignore(n, "storage_order"); /* of Indices */
    return tw_onnx_bind(n, 0, tw_onnx_max_pool(n, n->in[0]));
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
    if (tw_onnx_int(n, "ceil_mode", 0) != 0)
        return TW_ONNX_UNSUPPORTED(n, "ceil_mode is not supported");
    double window = 1;
    for (int i = 0; i < w.spatial; i++)
        window *= (double)w.kernel[i];
    tw_value *mean = pool(n, "AveragePool", raise(n, n->in[0], p), &w, true);
    tw_value *sum = tw_build2(n->b, "Mul", mean, tw_build_scalar(n->b, TW_F32, window), NULL);
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
