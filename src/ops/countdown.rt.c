/* Countdown: kernel. The result may lie over what it is computed from. */
#include "ops/codes.h"

static tw_status run(const tw_call *call)
{
    const tw_view *out = call->out;
    int32_t left;
    if (tw_view_count(&call->in[0]) != 1 || tw_view_count(&out[0]) != 1 ||
        (call->out_count > 1 && out[1].tensor && tw_view_count(&out[1]) != 1))
        return TW_E_SCHEDULE;
    left = *(const int32_t *)call->in[0].data;
    *(int32_t *)out[0].data = left > 0 ? left - 1 : 0;
    if (call->out_count > 1 && call->out[1].tensor)
        *(uint8_t *)call->out[1].data = left <= 0;
    return TW_OK;
}

static int is_one(const tw_tensor *t, uint32_t dtype)
{
    return t->dtype == dtype && tw_element_count(t) == 1;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    if (call->in_count != 1 || !call->in[0].tensor || call->out_count < 1 || call->out_count > 2 ||
        !is_one(call->in[0].tensor, TW_S32) || !call->out[0].tensor ||
        !is_one(call->out[0].tensor, TW_S32) ||
        (call->out_count > 1 && call->out[1].tensor && !is_one(call->out[1].tensor, TW_BOOL)))
        return TW_E_CHECK;
    *work = 1;
    return TW_OK;
}

TW_KERNEL(countdown, s32, run, check);
