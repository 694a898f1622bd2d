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
    tw_cmsis_nn_depthwise job;
    tw_status status = tw_cmsis_nn_depthwise_read(call, &job);
    int32_t images;
    if (status != TW_OK)
        return status;
    images = job.image.in.n; /* the library takes one at a time */
    job.image.in.n = job.image.out.n = 1;
    for (; images > 0 && status == TW_OK; images--) {
        status = tw_cmsis_nn_status(arm_depthwise_conv_3x3_s8(
            &job.context, &job.params, &job.scales, &job.image.in, job.image.x, &job.filter,
            job.weights, &job.bias_dims, job.bias, &job.image.out, job.image.y));
        tw_cmsis_nn_depthwise_next(&job.image);
    }
    return status;
}

TW_CMSIS_NN_KERNEL(depthwise_3x3_s8, run, check);
