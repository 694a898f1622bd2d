/* Any depthwise convolution by CMSIS-NN: several outputs a channel, dilation. */
#include "backends/cmsis_nn/depthwise_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_window_spans window;
    return tw_cmsis_nn_depthwise_check(call, &window, work) ? TW_OK : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    tw_cmsis_nn_depthwise job;
    const tw_status status = tw_cmsis_nn_depthwise_read(call, &job);
    if (status != TW_OK)
        return status;
    return tw_cmsis_nn_status(arm_depthwise_conv_s8(
        &job.context, &job.params, &job.scales, &job.image.in, job.image.x, &job.filter,
        job.weights, &job.bias_dims, job.bias, &job.image.out, job.image.y));
}

TW_CMSIS_NN_KERNEL(depthwise_s8, run, check);
