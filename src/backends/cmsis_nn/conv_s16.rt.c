/* Convolution of int16 by CMSIS-NN. See cmsis_nn/conv.c for what it takes. Tables are those of the portable
 * kernel: the size of the bias tells which of two arithmetics it is (ops/product_s16.h). */
#include "backends/cmsis_nn/conv.h"
#include "backends/cmsis_nn/windows.h"
#include "ops/conv_job.h"
#include "ops/product_s16.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_tensor *w;
    tw_window_spans window;
    tw_channels_s16 tables;
    int64_t taps;
    if (tw_conv_check(call, TW_S16, TW_S8, work) != TW_OK || a->group != 1 ||
        !tw_conv_window(call, &window) || !tw_native_window_check(call, &window))
        return TW_E_CHECK;
    w = call->in[1].tensor;
    taps = (int64_t)window.axis[0].kernel * window.axis[1].kernel * w->dim[w->rank - 1];
    if (!tw_is_dense(w) || !tw_channels_s16_check(call, w->dim[0]))
        return TW_E_CHECK;
    tw_channels_s16_of(call, &tables);
    return (!tables.wide_bias || taps <= TW_CMSIS_NN_MOST_TAPS) &&
                   call->scratch_bytes >= tw_cmsis_nn_conv_s16_scratch(taps, TW_CMSIS_NN_HERE)
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    const tw_tensor *w = call->in[1].tensor;
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    cmsis_nn_per_channel_quant_params scales;
    cmsis_nn_conv_params params;
    cmsis_nn_dims filter, bias_dims;
    tw_window_spans window;
    tw_cmsis_nn_image image;
    tw_channels_s16 tables;
    tw_status status;
    if (!tw_conv_window(call, &window) || !tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    status = tw_cmsis_nn_window(call, &window, &image);
    if (status != TW_OK)
        return status;
    tw_channels_s16_of(call, &tables);
    params = tw_cmsis_nn_conv_params(call, &window, image.padding);
    scales = tw_cmsis_nn_scales(call, image.channel);
    filter = tw_cmsis_nn_dims(image.out.c, window.axis[0].kernel, window.axis[1].kernel,
                              w->dim[w->rank - 1]);
    bias_dims = tw_cmsis_nn_dims(1, 1, 1, image.out.c);
    {
        const cmsis_nn_bias_data bias = {tables.bias
                                             ? (const void *)(tables.bias + image.channel)
                                             : (const void *)(tables.wide_bias + image.channel),
                                         tables.bias != NULL};
        return tw_cmsis_nn_status(arm_convolve_s16(
            &context, &params, &scales, &image.in, tw_cmsis_nn_in_s16(&image), &filter,
            (const int8_t *)call->in[1].data + (ptrdiff_t)image.channel * w->stride[0], &bias_dims,
            &bias, &image.out, tw_cmsis_nn_out_s16(&image)));
    }
}

TW_CMSIS_NN_KERNEL(conv_s16, run, check);
