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
    tw_cmsis_nn_depthwise job;
    tw_status status = tw_cmsis_nn_depthwise_read(call, &job);
    int32_t images;
    if (status != TW_OK)
        return status;
    images = job.image.in.n; /* the library takes one at a time */
    job.image.in.n = job.image.out.n = 1;
    for (; images > 0 && status == TW_OK; images--) {
        status = tw_cmsis_nn_status(arm_depthwise_conv_s8_opt(
            &job.context, &job.params, &job.scales, &job.image.in, job.image.x, &job.filter,
            job.weights, &job.bias_dims, job.bias, &job.image.out, job.image.y));
        tw_cmsis_nn_depthwise_next(&job.image);
    }
    return status;
}

TW_CMSIS_NN_KERNEL(depthwise_plain_s8, run, check);
