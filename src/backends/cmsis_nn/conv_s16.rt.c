/* Convolution of int16 by CMSIS-NN. See cmsis_nn/conv.c for what it takes. Tables are those of the portable
 * kernel: the size of the bias tells which of two arithmetics it is (ops/product_s16.h). */
#include "backends/cmsis_nn/conv_job.h"
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
    tw_cmsis_nn_window window;
    tw_channels_s16 tables;
    const tw_status status = tw_cmsis_nn_conv_window(call, &window);
    if (status != TW_OK)
        return status;
    tw_channels_s16_of(call, &tables);
    scales = tw_cmsis_nn_scales(call, window.channel);
    {
        const cmsis_nn_bias_data bias = {tables.bias
                                             ? (const void *)(tables.bias + window.channel)
                                             : (const void *)(tables.wide_bias + window.channel),
                                         tables.bias != NULL};
        return tw_cmsis_nn_status(arm_convolve_s16(
            &context, &window.params, &scales, &window.in, tw_cmsis_nn_in_s16(&window),
            &window.filter,
            (const int8_t *)call->in[1].data + (ptrdiff_t)window.channel * w->stride[0],
            &window.out, &bias, &window.out, tw_cmsis_nn_out_s16(&window)));
    }
}

TW_CMSIS_NN_KERNEL(conv_s16, run, check);
