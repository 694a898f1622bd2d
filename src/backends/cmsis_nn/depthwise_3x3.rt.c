/* Depthwise convolution of 3x3 by CMSIS-NN, for processors without MVE: no scratch. The function reads the
 * middle column of every window, which must be inside. */
#include "backends/cmsis_nn/depthwise_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_window_spans window;
    const tw_span *columns = &window.axis[1];
    if (!tw_cmsis_nn_depthwise_check(call, &window, work) ||
        !tw_cmsis_nn_depthwise_is_plain(call, &window) || window.axis[0].kernel != 3 ||
        columns->kernel != 3 || columns->pad_begin > 1 ||
        (int64_t)(columns->out - 1) * columns->stride - columns->pad_begin + 1 >= columns->in)
        return TW_E_CHECK;
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    return tw_cmsis_nn_depthwise_run(call, arm_depthwise_conv_3x3_s8);
}

TW_CMSIS_NN_KERNEL(depthwise_3x3_s8, run, check);
