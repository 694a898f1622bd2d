/* Convolutions. */
#include <string.h>

#include "import/tflite/tflite.h"

/* A bias in units of the sums, whatever its own scale says: the kernels take it so. One of int16
 * becomes int64, as the reference sums. */
tw_value *tw_tfl_bias(tw_tfl_node *n, int i)
{
    tw_value *bias = tw_tfl_in(n, i);
    if (bias)
        bias = tw_build_with_quant(n->b, bias, (tw_quant){0, 0, NULL, NULL});
    if (bias && bias->shape.dtype == TW_S16)
        bias = tw_build1(n->b, "Cast", bias, TW_SETTINGS(tw_set_int("dtype", TW_S64)));
    return bias;
}

static tw_value *convolve(tw_tfl_node *n, const char *op, tw_value *x, tw_value *w,
                          const tw_window *window, int64_t group, tw_clamp clamp)
{
    tw_value *in[] = {x, tw_tfl_weights(n, x, w, TW_TFL_HYBRID), tw_tfl_bias(n, 2)};
    tw_setting settings[] = {tw_set_ints("stride", 2, window->stride),
                             tw_set_ints("dilation", 2, window->dilation),
                             tw_set_ints("pad_begin", 2, window->begin),
                             tw_set_ints("pad_end", 2, window->end),
                             tw_set_int("group", group),
                             {.name = NULL}};
    if (group == 0)
        settings[4].name = NULL; /* a depthwise convolution has no groups */
    return tw_tfl_compute(n, 0, op, in, in[2] ? 3 : 2, settings, clamp);
}

bool tw_tfl_op_conv_2d(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *w = tw_tfl_in(n, 1);
    tw_clamp clamp;
    if (!x || !w)
        return false;
    if (w->shape.rank != 4 || x->shape.rank != 4)
        return TW_TFL_FAIL(n, "input and weights must have rank 4, not %d and %d", x->shape.rank,
                           w->shape.rank);
    tw_window window = {.kernel = {w->shape.dim[1], w->shape.dim[2]},
                        .stride = {tw_tfl_int(n, TW_FIELD(Conv2D, stride_h), 0),
                                   tw_tfl_int(n, TW_FIELD(Conv2D, stride_w), 0)},
                        .dilation = {tw_tfl_int(n, TW_FIELD(Conv2D, dilation_h_factor), 1),
                                     tw_tfl_int(n, TW_FIELD(Conv2D, dilation_w_factor), 1)}};
    int32_t depth = w->shape.dim[3], channels = x->shape.dim[3];
    if (depth < 1 || channels % depth != 0)
        return TW_TFL_FAIL(n, "weights for %d channels do not divide the input's %d", (int)depth,
                           (int)channels);
    return tw_tfl_pads(n, &x->shape, 2, tw_tfl_byte(n, TW_FIELD(Conv2D, padding), 0), &window) &&
           tw_tfl_activation(n, tw_tfl_byte(n, TW_FIELD(Conv2D, fused_activation_function), 0),
                             &clamp) &&
           tw_tfl_set(n, 0, convolve(n, "Conv", x, w, &window, channels / depth, clamp));
}

/* [1, h, w, O] to [h, w, O]. */
static tw_value *drop_first_axis(tw_tfl_node *n, tw_value *w)
{
    int64_t dim[3] = {w->shape.dim[1], w->shape.dim[2], w->shape.dim[3]};
    tw_quant quant = w->quant;
    quant.axis = quant.axis > 0 ? quant.axis - 1 : 0;
    tw_value *out;
    if (w->data) {
        const int32_t small[3] = {w->shape.dim[1], w->shape.dim[2], w->shape.dim[3]};
        out = tw_build_data(n->b, tw_shape_of(w->shape.dtype, 3, small), w->data);
    } else {
        out = tw_build_reshape(n->b, w, 3, dim);
    }
    if (out)
        out->quant = quant;
    return out;
}

bool tw_tfl_op_depthwise_conv_2d(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *w = tw_tfl_in(n, 1);
    tw_clamp clamp;
    if (!x || !w)
        return false;
    if (w->shape.rank != 4 || x->shape.rank != 4 || w->shape.dim[0] != 1)
        return TW_TFL_FAIL(n, "input and weights must have rank 4, the weights with one first");
    tw_window window = {
        .kernel = {w->shape.dim[1], w->shape.dim[2]},
        .stride = {tw_tfl_int(n, TW_FIELD(DepthwiseConv2D, stride_h), 0),
                   tw_tfl_int(n, TW_FIELD(DepthwiseConv2D, stride_w), 0)},
        .dilation = {tw_tfl_int(n, TW_FIELD(DepthwiseConv2D, dilation_h_factor), 1),
                     tw_tfl_int(n, TW_FIELD(DepthwiseConv2D, dilation_w_factor), 1)}};
    return tw_tfl_pads(n, &x->shape, 2, tw_tfl_byte(n, TW_FIELD(DepthwiseConv2D, padding), 0),
                       &window) &&
           tw_tfl_activation(
               n, tw_tfl_byte(n, TW_FIELD(DepthwiseConv2D, fused_activation_function), 0),
               &clamp) &&
           tw_tfl_set(n, 0,
                      convolve(n, "DepthwiseConv", x, drop_first_axis(n, w), &window, 0, clamp));
}

/* The pads and additions that make of x, spread, the `extent` outputs that the file asks for: padded as
 * the convolution that the operator transposes. */
bool tw_tfl_transposed_axis(tw_tfl_node *n, int64_t x, int64_t extent, int padding,
                            tw_window *window, int64_t *added, int i)
{
    return tw_window_transposed(n->b, n->op, x, extent, padding == TW_TFL_PADDING_SAME, window,
                                added, i);
}

/* The shape of the result: input 0; where that is not known, as the file declares it, which is all
 * that the reference looks at. */
bool tw_tfl_result_extents(tw_tfl_node *n, tw_tfl_list *extents)
{
    tw_value *shape = tw_tfl_in(n, 0);
    if (!shape || tw_build_constant(n->b, shape) || !tw_tfl_wants(n, 0))
        return shape && tw_tfl_list_in(n, 0, "the output's shape", extents);
    const tw_tfl_tensor *out = tw_tfl_out_tensor(n, 0);
    int64_t *v = tw_alloc_array(n->import->scratch, (size_t)out->rank + 1, sizeof *v);
    for (uint32_t i = 0; i < out->rank; i++)
        v[i] = out->shape[i];
    *extents = (tw_tfl_list){(int)out->rank, v};
    return true;
}

/* int8 weights of floats stay so in flash, behind a DEQUANTIZE too, which is how converters write them for
 * an operator that TFLite has no hybrid kernel for: ours gives the bits of the float layer. */
static tw_value *transposed_weights(tw_tfl_node *n, const tw_value *x, tw_value *w)
{
    const tw_node *d = w->producer;
    tw_value *stored = d && strcmp(d->op->name, "Dequantize") == 0 ? d->in[0] : w;
    if (x->shape.dtype == TW_F32 && tw_tfl_is_symmetric(stored) &&
        (stored->quant.count == 1 || stored->quant.axis == 0))
        return stored;
    return tw_tfl_weights(n, x, w, TW_TFL_DEQUANTIZED);
}

bool tw_tfl_op_transpose_conv(tw_tfl_node *n)
{
    tw_value *w = tw_tfl_in(n, 1), *x = tw_tfl_in(n, 2), *bias = tw_tfl_bias(n, 3);
    tw_tfl_list extents;
    tw_clamp clamp;
    int64_t added[2];
    if (!x || !w || !tw_tfl_result_extents(n, &extents) ||
        !tw_tfl_activation(n, tw_tfl_byte(n, TW_FIELD(TransposeConv, fused_activation_function), 0),
                           &clamp))
        return false;
    if (w->shape.rank != 4 || x->shape.rank != 4 || extents.count != 4)
        return TW_TFL_FAIL(n,
                           "input and weights must have rank 4, not %d and %d, and the output's "
                           "shape as many elements, not %d",
                           x->shape.rank, w->shape.rank, extents.count);
    int padding = tw_tfl_byte(n, TW_FIELD(TransposeConv, padding), 0);
    tw_window window = {.kernel = {w->shape.dim[1], w->shape.dim[2]},
                        .stride = {tw_tfl_int(n, TW_FIELD(TransposeConv, stride_h), 0),
                                   tw_tfl_int(n, TW_FIELD(TransposeConv, stride_w), 0)},
                        .dilation = {1, 1}};
    for (int i = 0; i < 2; i++)
        if (!tw_tfl_transposed_axis(n, x->shape.dim[1 + i], extents.v[1 + i], padding, &window,
                                    &added[i], i))
            return false;
    tw_value *in[] = {x, transposed_weights(n, x, w), bias};
    const tw_setting settings[] = {tw_set_ints("stride", 2, window.stride),
                                   tw_set_ints("pad_begin", 2, window.begin),
                                   tw_set_ints("pad_end", 2, window.end),
                                   tw_set_ints("output_pad", 2, added),
                                   {.name = NULL}};
    return tw_tfl_set(n, 0,
                      tw_tfl_compute(n, 0, "ConvTranspose", in, bias ? 3 : 2, settings, clamp));
}
