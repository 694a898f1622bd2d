/* Depthwise convolution with one output a channel by CMSIS-NN, in blocks of channels. */
#include "backends/cmsis_nn/depthwise_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_window_spans window;
    if (!tw_cmsis_nn_depthwise_check(call, &window, work) ||
        !tw_cmsis_nn_depthwise_is_plain(call, &window) ||
        call->scratch_bytes <
            tw_cmsis_nn_depthwise_scratch(tw_depthwise_outputs(call),
                                          (int64_t)window.axis[0].kernel * window.axis[1].kernel,
                                          TW_CMSIS_NN_HERE))
        return TW_E_CHECK;
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    return tw_cmsis_nn_depthwise_run(call, arm_depthwise_conv_s8_opt);
}

TW_CMSIS_NN_KERNEL(depthwise_plain_s8, run, check);
