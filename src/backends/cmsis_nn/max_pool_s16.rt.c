/* Maxima of int16 under windows by CMSIS-NN. */
#include "backends/cmsis_nn/pool_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_cmsis_nn_pool_check(call, TW_S16, work) ? TW_OK : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    tw_cmsis_nn_pool job;
    const tw_status status = tw_cmsis_nn_pool_read(call, &job);
    if (status != TW_OK)
        return status;
    return tw_cmsis_nn_status(arm_max_pool_s16(&job.context, &job.params, &job.window.in,
                                               tw_cmsis_nn_in_s16(&job.window), &job.window.filter,
                                               &job.window.out, tw_cmsis_nn_out_s16(&job.window)));
}

TW_CMSIS_NN_KERNEL(max_pool_s16, run, check);
