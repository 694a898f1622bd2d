/* Pooling. */
#include "import/tflite/tflite.h"

static bool read_window(tw_tfl_node *n, const tw_value *x, tw_window *window, tw_clamp *clamp)
{
    *window = (tw_window){.kernel = {tw_tfl_int(n, TW_FIELD(Pool2D, filter_height), 0),
                                     tw_tfl_int(n, TW_FIELD(Pool2D, filter_width), 0)},
                          .stride = {tw_tfl_int(n, TW_FIELD(Pool2D, stride_h), 0),
                                     tw_tfl_int(n, TW_FIELD(Pool2D, stride_w), 0)},
                          .dilation = {1, 1}};
    return tw_tfl_pads(n, &x->shape, 2, tw_tfl_byte(n, TW_FIELD(Pool2D, padding), 0), window) &&
           tw_tfl_activation(n, tw_tfl_byte(n, TW_FIELD(Pool2D, fused_activation_function), 0),
                             clamp);
}

/* The result has the input's quantisation: the reference kernels do not rescale. */
static tw_value *pool(tw_tfl_node *n, const char *op, tw_value *x, const tw_window *window,
                      tw_clamp clamp)
{
    const tw_setting settings[] = {tw_set_ints("kernel", 2, window->kernel),
                                   tw_set_ints("stride", 2, window->stride),
                                   tw_set_ints("pad_begin", 2, window->begin),
                                   tw_set_ints("pad_end", 2, window->end),
                                   {.name = NULL}};
    tw_node *node = tw_build_node(n->b, op, &x, 1, settings);
    if (!node)
        return NULL;
    node->out[0]->quant = x->quant;
    node->clamp = clamp;
    return node->out[0];
}

static bool pool_op(tw_tfl_node *n, const char *op)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_window window;
    tw_clamp clamp;
    return x && read_window(n, x, &window, &clamp) &&
           tw_tfl_set(n, 0, pool(n, op, x, &window, clamp));
}

bool tw_tfl_op_average_pool_2d(tw_tfl_node *n)
{
    return pool_op(n, "AveragePool");
}

bool tw_tfl_op_max_pool_2d(tw_tfl_node *n)
{
    return pool_op(n, "MaxPool");
}

/* The root of the mean square. */
bool tw_tfl_op_l2_pool_2d(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_window window;
    tw_clamp clamp;
    if (!x || !read_window(n, x, &window, &clamp))
        return false;
    tw_value *square = tw_build1(n->b, "Square", x, NULL);
    tw_value *mean = square ? pool(n, "AveragePool", square, &window, tw_tfl_no_clamp()) : NULL;
    return tw_tfl_set(n, 0, tw_tfl_compute(n, 0, "Sqrt", &mean, 1, NULL, clamp));
}
