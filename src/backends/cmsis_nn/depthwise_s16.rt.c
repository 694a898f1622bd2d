/* Depthwise convolution of int16 by CMSIS-NN: one output a channel, sums of 64 bits. Its fast function is for
 * the DSP extension and MVE; elsewhere, where only tests come, the plain one stands in. */
#include "backends/cmsis_nn/depthwise.h"
#include "backends/cmsis_nn/windows.h"
#include "ops/depthwise_job.h"
#include "ops/product_s16.h"

#if TW_CMSIS_NN_HAS_DSP
#define DEPTHWISE arm_depthwise_conv_fast_s16
#else
#define DEPTHWISE arm_depthwise_conv_s16
#endif

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *x, *y, *w;
    tw_window_spans window;
    tw_channels_s16 tables;
    int64_t taps;
    if (tw_depthwise_check(call, TW_S16, TW_S8, work) != TW_OK ||
        !tw_depthwise_window(call, &window) || !tw_native_window_check(call, &window) ||
        !tw_native_windows_touch(&window))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    y = call->out[0].tensor;
    w = call->in[1].tensor;
    taps = (int64_t)window.axis[0].kernel * window.axis[1].kernel;
    if (!tw_is_dense(w) || !tw_channels_s16_check(call, tw_depthwise_outputs(call)) ||
        x->dim[x->rank - 1] != y->dim[y->rank - 1] || y->dim[y->rank - 1] % 4 != 0)
        return TW_E_CHECK;
    tw_channels_s16_of(call, &tables);
    return tables.wide_bias && taps < TW_CMSIS_NN_DEPTHWISE_TAPS &&
                   call->scratch_bytes >= tw_cmsis_nn_depthwise_s16_scratch(y->dim[y->rank - 1],
                                                                            taps, TW_CMSIS_NN_HERE)
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    const cmsis_nn_per_channel_quant_params scales = tw_cmsis_nn_scales(call, 0);
    cmsis_nn_dw_conv_params params;
    tw_cmsis_nn_window window;
    tw_channels_s16 tables;
    tw_status status = tw_cmsis_nn_weights_window(call, 0, &window);
    int32_t images;
    if (status != TW_OK)
        return status;
    if (window.out.c != window.in.c)
        return TW_E_SCHEDULE; /* the library has no bands of channels */
    tw_channels_s16_of(call, &tables);
    tw_cmsis_nn_depthwise_params(&window, &params);
    images = window.in.n; /* one at a time, as the functions for int8 */
    window.filter.c = window.out.c;
    window.in.n = window.out.n = 1;
    for (; images > 0 && status == TW_OK; images--) {
        status = tw_cmsis_nn_status(
            DEPTHWISE(&context, &params, &scales, &window.in, tw_cmsis_nn_in_s16(&window),
                      &window.filter, (const int8_t *)call->in[1].data, &window.out,
                      tables.wide_bias, &window.out, tw_cmsis_nn_out_s16(&window)));
        tw_cmsis_nn_next_image(&window, 2);
    }
    return status;
}

TW_CMSIS_NN_KERNEL(depthwise_s16, run, check);
