/* The parameters of the library's functions with windows and weights. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_WINDOWS_H
#define TW_BACKENDS_CMSIS_NN_WINDOWS_H

#include "backends/cmsis_nn/image.h"

/* Offsets are int8's: the library takes the input's zero point off every tap. int16 has none. */
static inline cmsis_nn_conv_params tw_cmsis_nn_conv_params(const tw_call *call,
                                                           const tw_window_spans *window,
                                                           cmsis_nn_tile padding)
{
    cmsis_nn_conv_params p;
    p.input_offset = -call->in[0].tensor->zero_point;
    p.output_offset = call->out[0].tensor->zero_point;
    p.stride = tw_cmsis_nn_tile(window->axis[0].stride, window->axis[1].stride);
    p.dilation = tw_cmsis_nn_tile(window->axis[0].dilation, window->axis[1].dilation);
    p.padding = padding;
    p.activation = tw_cmsis_nn_activation(call);
    return p;
}

static inline cmsis_nn_dw_conv_params tw_cmsis_nn_depthwise_params(const tw_call *call,
                                                                   const tw_window_spans *window,
                                                                   const tw_cmsis_nn_image *image)
{
    const cmsis_nn_conv_params same = tw_cmsis_nn_conv_params(call, window, image->padding);
    cmsis_nn_dw_conv_params p;
    p.input_offset = same.input_offset;
    p.output_offset = same.output_offset;
    p.ch_mult = image->out.c / image->in.c;
    p.stride = same.stride;
    p.dilation = same.dilation;
    p.padding = same.padding;
    p.activation = same.activation;
    return p;
}

#endif
