/* Convolution without neighbours by CMSIS-NN: a product of matrices. No padding, so the portable kernel's
 * bias, zero points folded in, serves as it is and the input's offset is 0. */
#include "backends/cmsis_nn/image.h"
#include "ops/conv_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_tensor *w;
    tw_window_spans window;
    int i;
    if (tw_conv_check(call, TW_S8, TW_S8, work) != TW_OK || a->group != 1)
        return TW_E_CHECK;
    w = call->in[1].tensor;
    for (i = 1; i < (int)w->rank - 1; i++)
        if (w->dim[i] != 1)
            return TW_E_CHECK;
    if (!tw_conv_window(call, &window) || window.axis[0].pad_begin != 0 ||
        window.axis[1].pad_begin != 0 || window.axis[0].pad_end != 0 ||
        window.axis[1].pad_end != 0 || !tw_native_window_check(call, &window) || !tw_is_dense(w) ||
        !tw_channels_check(call, w->dim[0]))
        return TW_E_CHECK;
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    const tw_tensor *w = call->in[1].tensor;
    const cmsis_nn_context none = {NULL, 0};
    cmsis_nn_per_channel_quant_params scales;
    cmsis_nn_conv_params params;
    cmsis_nn_dims filter, bias;
    tw_window_spans window;
    tw_cmsis_nn_image image;
    const int8_t *weights;
    const int32_t *biases;
    tw_status status;
    if (!tw_conv_window(call, &window) || !tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    status = tw_cmsis_nn_window(call, &window, &image);
    if (status != TW_OK)
        return status;
    params.input_offset = 0;
    params.output_offset = call->out[0].tensor->zero_point;
    params.stride = tw_cmsis_nn_tile(window.axis[0].stride, window.axis[1].stride);
    params.dilation = tw_cmsis_nn_tile(1, 1);
    params.padding = tw_cmsis_nn_tile(0, 0);
    params.activation = tw_cmsis_nn_activation(call);
    scales = tw_cmsis_nn_scales(call, image.channel);
    filter = tw_cmsis_nn_dims(image.out.c, 1, 1, image.in.c);
    bias = tw_cmsis_nn_dims(1, 1, 1, image.out.c);
    weights = (const int8_t *)call->in[1].data + (ptrdiff_t)image.channel * w->stride[0];
    biases = tw_cmsis_nn_table(call, TW_BLOB_BIAS, image.channel);
    if (params.stride.h == 1 && params.stride.w == 1)
        return tw_cmsis_nn_status(arm_convolve_1x1_s8_fast(&none, &params, &scales, &image.in,
                                                           image.x, &filter, weights, &bias, biases,
                                                           &image.out, image.y));
    return tw_cmsis_nn_status(arm_convolve_1x1_s8(&none, &params, &scales, &image.in, image.x,
                                                  &filter, weights, &bias, biases, &image.out,
                                                  image.y));
}

TW_CMSIS_NN_KERNEL(conv_1x1_s8, run, check);
