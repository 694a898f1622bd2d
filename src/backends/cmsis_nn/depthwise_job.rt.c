/* Depthwise convolution by CMSIS-NN: the arguments. The bias has no zero points folded in, since the
 * library takes the input's zero point off every tap. */
#include "backends/cmsis_nn/depthwise_job.h"

int tw_cmsis_nn_depthwise_check(const tw_call *call, tw_window_spans *window, uint64_t *work)
{
    return tw_depthwise_check(call, TW_S8, TW_S8, work) == TW_OK &&
           tw_depthwise_window(call, window) && tw_native_window_check(call, window) &&
           tw_is_dense(call->in[1].tensor) && tw_channels_check(call, tw_depthwise_outputs(call));
}

int tw_cmsis_nn_depthwise_is_plain(const tw_call *call, const tw_window_spans *window)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    return x->dim[x->rank - 1] == y->dim[y->rank - 1] && tw_native_windows_touch(window);
}

tw_status tw_cmsis_nn_depthwise_run(const tw_call *call, tw_cmsis_nn_depthwise_function function)
{
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    const cmsis_nn_per_channel_quant_params scales = tw_cmsis_nn_scales(call, 0);
    const int32_t *bias = tw_cmsis_nn_table(call, TW_BLOB_BIAS, 0);
    cmsis_nn_dw_conv_params params;
    tw_cmsis_nn_window window;
    tw_status status = tw_cmsis_nn_weights_window(call, 0, &window);
    int32_t images;
    if (status != TW_OK)
        return status;
    if (window.out.c != tw_depthwise_outputs(call))
        return TW_E_SCHEDULE; /* the library has no bands of channels */
    tw_cmsis_nn_depthwise_params(&window, &params);
    window.filter.c = window.out.c;
    images = window.in.n; /* the library takes one at a time */
    window.in.n = window.out.n = 1;
    while (images-- > 0) {
        status = tw_cmsis_nn_status(function(&context, &params, &scales, &window.in, window.x,
                                             &window.filter, (const int8_t *)call->in[1].data,
                                             &window.out, bias, &window.out, window.y));
        if (status != TW_OK || images == 0)
            break;
        tw_cmsis_nn_next_image(&window, 1);
    }
    return status;
}
