/* Larger elements by CMSIS-NN: the stored integers are compared, so all tensors have one scale. */
#include "backends/binary_job.h"
#include "backends/cmsis_nn/library.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_native_binary_check(call, TW_S8, work) ? TW_OK : TW_E_CHECK;
}

static tw_status span(const tw_span *s)
{
    const cmsis_nn_context none = {NULL, 0};
    const cmsis_nn_dims dims = tw_cmsis_nn_dims(1, 1, 1, s->count);
    return tw_cmsis_nn_status(arm_maximum_s8(&none, (const int8_t *)s->in[0], &dims,
                                             (const int8_t *)s->in[1], &dims, (int8_t *)s->out,
                                             &dims));
}

static tw_status run(const tw_call *call)
{
    return tw_native_binary_run(call, span);
}

TW_CMSIS_NN_KERNEL(max_s8, run, check);
