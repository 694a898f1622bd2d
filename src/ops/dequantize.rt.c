/* Dequantize: kernel. */
#include "ops/codes.h"
#include "ops/quantize.h"
#include "runtime/elements.h"
#include "runtime/math.h"

enum { CHUNK = 32 };

static void elements(const tw_call *call, const tw_line *r)
{
    const tw_scale_row *row = tw_scale_rows(call) + r->channel;
    const float low = call->clamp_low.f32, high = call->clamp_high.f32;
    int32_t stored[CHUNK], done, i, n;
    for (done = 0; done < r->n; done += n) {
        n = r->n - done < CHUNK ? r->n - done : CHUNK;
        tw_load_integers(stored, r->from + done * r->from_step, r->from_step,
                         call->in[0].tensor->dtype, n);
        for (i = 0; i < n; i++, row += r->channel_step) {
            const float real = (float)(stored[i] - row->in_zero) * row->in_scale;
            *(float *)(void *)(r->to + (done + i) * r->to_step) = tw_clampf(real, low, high);
        }
    }
}

static tw_status run(const tw_call *call)
{
    return tw_elements(call, tw_scale_axis(call), elements);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    int32_t low, high;
    if (tw_check_elements(call, work) != TW_OK || call->out[0].tensor->dtype != TW_F32 ||
        !tw_integer_limits(call->in[0].tensor->dtype, &low, &high) || !tw_scale_table_ok(call))
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(dequantize, any, run, check);
