/* Convolutions of three spatial axes. The file's weights have the channels last, which the graph's have
 * first. */
#include "import/tflite/tflite.h"

/* Strides, dilations and the kernel from the weights: [d, h, w, .., ..]. */
static tw_window window_of(tw_tfl_node *n, const tw_value *w)
{
    tw_window window = {.kernel = {w->shape.dim[0], w->shape.dim[1], w->shape.dim[2]},
                        .stride = {tw_tfl_int(n, TW_FIELD(Conv3D, stride_d), 0),
                                   tw_tfl_int(n, TW_FIELD(Conv3D, stride_h), 0),
                                   tw_tfl_int(n, TW_FIELD(Conv3D, stride_w), 0)},
                        .dilation = {tw_tfl_int(n, TW_FIELD(Conv3D, dilation_d_factor), 1),
                                     tw_tfl_int(n, TW_FIELD(Conv3D, dilation_h_factor), 1),
                                     tw_tfl_int(n, TW_FIELD(Conv3D, dilation_w_factor), 1)}};
    return window;
}

static bool check(tw_tfl_node *n, const tw_value *x, const tw_value *w)
{
    if (x->shape.dtype != TW_F32 || w->shape.dtype != TW_F32)
        return TW_TFL_UNSUPPORTED(n, "input and weights of %s and %s; FLOAT32 is supported",
                                  tw_dtype_name(x->shape.dtype), tw_dtype_name(w->shape.dtype));
    return (x->shape.rank == 5 && w->shape.rank == 5) ||
           TW_TFL_FAIL(n, "input and weights must have rank 5, not %d and %d", x->shape.rank,
                       w->shape.rank);
}

static bool activation(tw_tfl_node *n, tw_clamp *clamp)
{
    return tw_tfl_activation(n, tw_tfl_byte(n, TW_FIELD(Conv3D, fused_activation_function), 0),
                             clamp);
}

/* settings: room for two behind the window's own. */
static void window_settings(const tw_window *window, tw_setting *settings)
{
    settings[0] = tw_set_ints("stride", 3, window->stride);
    settings[1] = tw_set_ints("dilation", 3, window->dilation);
    settings[2] = tw_set_ints("pad_begin", 3, window->begin);
    settings[3] = tw_set_ints("pad_end", 3, window->end);
    settings[4].name = NULL;
    settings[5].name = NULL;
}

bool tw_tfl_op_conv_3d(tw_tfl_node *n)
{
    static const int64_t outputs_first[] = {4, 0, 1, 2, 3};
    tw_value *x = tw_tfl_in(n, 0), *w = tw_tfl_in(n, 1);
    tw_setting settings[6];
    tw_clamp clamp;
    if (!x || !w || !check(n, x, w) || !activation(n, &clamp))
        return false;
    tw_window window = window_of(n, w);
    int32_t depth = w->shape.dim[3], channels = x->shape.dim[4];
    if (depth < 1 || channels % depth != 0)
        return TW_TFL_FAIL(n, "weights for %d channels do not divide the input's %d", (int)depth,
                           (int)channels);
    if (!tw_tfl_pads(n, &x->shape, 3, tw_tfl_byte(n, TW_FIELD(Conv3D, padding), 0), &window))
        return false;
    window_settings(&window, settings);
    settings[4] = tw_set_int("group", channels / depth);
    tw_value *in[] = {x, tw_build_transpose(n->b, w, 5, outputs_first), tw_tfl_bias(n, 2)};
    return tw_tfl_set(n, 0, tw_tfl_compute(n, 0, "Conv3d", in, in[2] ? 3 : 2, settings, clamp));
}

bool tw_tfl_op_conv_3d_transpose(tw_tfl_node *n)
{
    static const int64_t outputs_first[] = {3, 0, 1, 2, 4};
    tw_value *w = tw_tfl_in(n, 1), *x = tw_tfl_in(n, 2);
    tw_setting settings[6];
    tw_tfl_list extents;
    int64_t added[3];
    tw_clamp clamp;
    if (!x || !w || !check(n, x, w) || !activation(n, &clamp) ||
        !tw_tfl_result_extents(n, &extents))
        return false;
    if (extents.count != 5)
        return TW_TFL_FAIL(n, "the output's shape has %d elements; it must have 5", extents.count);
    tw_window window = window_of(n, w);
    for (int i = 0; i < 3; i++)
        if (!tw_tfl_transposed_axis(n, x->shape.dim[1 + i], extents.v[1 + i],
                                    tw_tfl_byte(n, TW_FIELD(Conv3D, padding), 0), &window,
                                    &added[i], i))
            return false;
    window_settings(&window, settings);
    settings[4] = tw_set_ints("output_pad", 3, added);
    tw_value *in[] = {x, tw_build_transpose(n->b, w, 5, outputs_first), tw_tfl_bias(n, 3)};
    return tw_tfl_set(n, 0,
                      tw_tfl_compute(n, 0, "ConvTranspose3d", in, in[2] ? 3 : 2, settings, clamp));
}
