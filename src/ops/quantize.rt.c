/* Quantize: kernel. NaN becomes the zero point. */
#include "ops/codes.h"
#include "ops/quantize.h"
#include "runtime/elements.h"
#include "runtime/math.h"

enum { CHUNK = 32 };

static void elements(const tw_call *call, const tw_line *r)
{
    const tw_quantize_attributes *a = (const tw_quantize_attributes *)call->attributes;
    const uint32_t dtype = call->out[0].tensor->dtype;
    const tw_scale_row *row = tw_scale_rows(call) + r->channel;
    int32_t low = 0, high = 0, done, i, n;
    int32_t whole[CHUNK];
    tw_integer_limits(dtype, &low, &high);
    low = call->clamp_low.s32 > low ? call->clamp_low.s32 : low;
    high = call->clamp_high.s32 < high ? call->clamp_high.s32 : high;
    for (done = 0; done < r->n; done += n) {
        n = r->n - done < CHUNK ? r->n - done : CHUNK;
        for (i = 0; i < n; i++, row += r->channel_step) {
            const float x = *(const float *)(const void *)(r->from + (done + i) * r->from_step) /
                            row->out_scale;
            const float rounded = a->rounding == TW_ROUND_HALF_EVEN ? tw_rintf(x) : tw_roundf(x);
            if (dtype == TW_S32) {
                const int32_t v = tw_whole_to_s32(rounded);
                whole[i] = v < low ? low : v > high ? high : v;
            } else {
                whole[i] = tw_store_whole(rounded, row->out_zero, low, high);
            }
        }
        tw_store_integers(r->to + done * r->to_step, r->to_step, dtype, whole, n);
    }
}

static tw_status run(const tw_call *call)
{
    return tw_elements(call, tw_scale_axis(call), elements);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    int32_t low, high;
    if (tw_check_elements(call, work) != TW_OK ||
        call->attribute_bytes != sizeof(tw_quantize_attributes) ||
        call->in[0].tensor->dtype != TW_F32 ||
        !tw_integer_limits(call->out[0].tensor->dtype, &low, &high) || !tw_scale_table_ok(call))
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(quantize, f32, run, check);
