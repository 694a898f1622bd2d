/* Requantize: kernel. */
#include "ops/codes.h"
#include "ops/quantize.h"
#include "runtime/elements.h"
#include "runtime/fixed.h"
#include "runtime/math.h"

enum { CHUNK = 32 };

/* A stored number to the output's scale, before its zero point. */
static int32_t rescale(int32_t stored, const tw_scale_row *row, int32_t rounding)
{
    const int32_t centred = (int32_t)((uint32_t)stored - (uint32_t)row->in_zero);
    float real;
    if (row->in_scale == row->out_scale)
        return centred;
    if (rounding == TW_REQUANTIZE_TFLITE)
        return tw_requantize(centred, row->multiplier, row->shift);
    real = (float)centred * row->in_scale / row->out_scale;
    return tw_whole_to_s32(rounding == TW_REQUANTIZE_HALF_EVEN ? tw_rintf(real) : tw_roundf(real));
}

/* a + b, held at the ends of the type; |b| <= 65535. */
static int32_t add_saturating(int32_t a, int32_t b)
{
    if (b >= 0)
        return a > INT32_MAX - b ? INT32_MAX : a + b;
    return a < INT32_MIN - b ? INT32_MIN : a + b;
}

static void elements(const tw_call *call, const tw_line *r)
{
    const tw_requantize_attributes *a = (const tw_requantize_attributes *)call->attributes;
    const uint32_t dtype = call->out[0].tensor->dtype;
    const tw_scale_row *row = tw_scale_rows(call) + r->channel;
    int32_t low = 0, high = 0, stored[CHUNK], done, i, n;
    tw_integer_limits(dtype, &low, &high);
    low = call->clamp_low.s32 > low ? call->clamp_low.s32 : low;
    high = call->clamp_high.s32 < high ? call->clamp_high.s32 : high;
    for (done = 0; done < r->n; done += n) {
        n = r->n - done < CHUNK ? r->n - done : CHUNK;
        tw_load_integers(stored, r->from + done * r->from_step, r->from_step,
                         call->in[0].tensor->dtype, n);
        for (i = 0; i < n; i++, row += r->channel_step)
            stored[i] = tw_clamp_s32(
                add_saturating(rescale(stored[i], row, a->rounding), row->out_zero), low, high);
        tw_store_integers(r->to + done * r->to_step, r->to_step, dtype, stored, n);
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
        call->attribute_bytes != sizeof(tw_requantize_attributes) ||
        !tw_integer_limits(call->in[0].tensor->dtype, &low, &high) ||
        !tw_integer_limits(call->out[0].tensor->dtype, &low, &high) || !tw_scale_table_ok(call))
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(requantize, any, run, check);
