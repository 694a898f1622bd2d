/* Sums of int16 by CMSIS-NN. */
#include "backends/binary_job.h"
#include "backends/cmsis_nn/library.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_native_binary_check(call, TW_S16, work) ? TW_OK : TW_E_CHECK;
}

static tw_status span(const tw_span *s)
{
    const tw_call *call = s->call;
    const tw_binary_scales *q = tw_native_binary_scales(call);
    return tw_cmsis_nn_status(arm_elementwise_add_s16(
        (const int16_t *)s->in[0], (const int16_t *)s->in[1], 0, q->a_multiplier, q->a_shift, 0,
        q->b_multiplier, q->b_shift, q->left, (int16_t *)s->out, 0, q->out_multiplier, q->out_shift,
        call->clamp_low.s32, call->clamp_high.s32, s->count));
}

static tw_status run(const tw_call *call)
{
    return tw_native_binary_run(call, span);
}

TW_CMSIS_NN_KERNEL(add_s16, run, check);
