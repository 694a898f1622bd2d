/* Averages under windows by CMSIS-NN. */
#include "backends/cmsis_nn/pool_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    const tw_tensor *y;
    if (!tw_cmsis_nn_pool_check(call, work) || a->count_include_pad ||
        a->rounding != TW_POOL_HALF_AWAY)
        return TW_E_CHECK;
    y = call->out[0].tensor;
    return call->scratch_bytes >= tw_cmsis_nn_average_scratch(y->dim[y->rank - 1], TW_CMSIS_NN_HERE)
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    tw_cmsis_nn_pool job;
    const tw_status status = tw_cmsis_nn_pool_read(call, &job);
    if (status != TW_OK)
        return status;
    return tw_cmsis_nn_status(arm_avgpool_s8(&job.context, &job.params, &job.image.in, job.image.x,
                                             &job.filter, &job.image.out, job.image.y));
}

TW_CMSIS_NN_KERNEL(average_pool_s8, run, check);
