/* Products by ESP-NN. */
#include "backends/binary_job.h"
#include "backends/esp_nn/library.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_native_binary_check(call, TW_S8, work) ? TW_OK : TW_E_CHECK;
}

static tw_status span(const tw_span *s)
{
    const tw_call *call = s->call;
    const tw_binary_scales *q = tw_native_binary_scales(call);
    esp_nn_mul_elementwise_s8((const int8_t *)s->in[0], (const int8_t *)s->in[1],
                              -call->in[0].tensor->zero_point, -call->in[1].tensor->zero_point,
                              (int8_t *)s->out, call->out[0].tensor->zero_point, q->out_multiplier,
                              q->out_shift, call->clamp_low.s32, call->clamp_high.s32, s->count);
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    return tw_native_binary_run(call, span);
}

TW_ESP_NN_KERNEL(mul_s8, run, check);
