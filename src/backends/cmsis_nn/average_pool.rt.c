/* Averages under windows by CMSIS-NN. */
#include "backends/cmsis_nn/pool_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_cmsis_nn_average_check(call, TW_S8, work) ? TW_OK : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    tw_cmsis_nn_pool job;
    const tw_status status = tw_cmsis_nn_pool_read(call, &job);
    if (status != TW_OK)
        return status;
    return tw_cmsis_nn_status(arm_avgpool_s8(&job.context, &job.params, &job.window.in,
                                             job.window.x, &job.window.filter, &job.window.out,
                                             job.window.y));
}

TW_CMSIS_NN_KERNEL(average_pool_s8, run, check);
