/* What the adapters of pooling share. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_POOL_JOB_H
#define TW_BACKENDS_CMSIS_NN_POOL_JOB_H

#include "backends/cmsis_nn/pool.h"
#include "backends/cmsis_nn/windows.h"
#include "ops/pool_job.h"

typedef struct tw_cmsis_nn_pool {
    cmsis_nn_context context;
    cmsis_nn_pool_params params;
    tw_cmsis_nn_window window;
} tw_cmsis_nn_pool;

/* dtype: TW_S8 or TW_S16. */
int tw_cmsis_nn_pool_check(const tw_call *call, uint32_t dtype, uint64_t *work);
int tw_cmsis_nn_average_check(const tw_call *call, uint32_t dtype, uint64_t *work);
tw_status tw_cmsis_nn_pool_read(const tw_call *call, tw_cmsis_nn_pool *job);

#endif
