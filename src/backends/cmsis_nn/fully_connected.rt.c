/* Fully connected layers by CMSIS-NN: one scale of the weights. */
#include "backends/cmsis_nn/connected.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_cmsis_nn_connected_check(call, work) ? TW_OK : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    tw_cmsis_nn_connected job;
    cmsis_nn_per_tensor_quant_params scale;
    const tw_status status = tw_cmsis_nn_connected_read(call, &job);
    if (status != TW_OK || job.rows.outputs < 1)
        return status;
    if (tw_cmsis_nn_connected_is_product(&job))
        return tw_cmsis_nn_connected_product(call, &job);
    scale.multiplier = *tw_cmsis_nn_table(call, TW_BLOB_MULTIPLIER, job.rows.first);
    scale.shift = *tw_cmsis_nn_table(call, TW_BLOB_SHIFT, job.rows.first);
    return tw_cmsis_nn_status(arm_fully_connected_s8(
        &job.sums, &job.params, &scale, &job.input, job.rows.x, &job.filter, job.weights, &job.bias,
        (const int32_t *)job.sums.buf, &job.output, job.rows.y));
}

TW_CMSIS_NN_KERNEL(fully_connected_s8, run, check);
