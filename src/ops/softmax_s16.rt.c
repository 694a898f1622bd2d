/* Softmax of int16, as TFLite computes it: exponentials and the reciprocal of their sum by tables. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/lut.h"
#include "ops/softmax.h"
#include "runtime/fixed.h"
#include "runtime/lanes.h"

static int32_t saturate(int32_t v)
{
    return tw_clamp_s32(v, INT16_MIN, INT16_MAX);
}

static int32_t element(const tw_lane *l, int32_t i)
{
    return *(const int16_t *)(const void *)(l->from + i * l->from_step);
}

/* e^(beta * (x - peak)) with 15 fractional bits, for x - peak from -65535 to 0. */
static int32_t exponential(const tw_softmax_s16 *t, int32_t below)
{
    const int32_t scaled = tw_requantize(below, t->multiplier, t->shift);
    return tw_lut_between(t->exp, saturate(scaled + INT16_MAX));
}

static void lane(const tw_call *call, const tw_lane *l)
{
    const tw_softmax_s16 *t = (const tw_softmax_s16 *)call->blobs[0].data;
    int32_t peak = INT16_MIN, sum = 0, i, headroom, scale, shift;
    for (i = 0; i < l->n; i++)
        peak = element(l, i) > peak ? element(l, i) : peak;
    for (i = 0; i < l->n; i++)
        sum += exponential(t, element(l, i) - peak);
    headroom = __builtin_clz((uint32_t)sum) - 1; /* sum * 2^headroom is 1 to 2 with 30 bits */
    scale = (int32_t)((((int64_t)sum << headroom) + (1 << 13)) >> 14);
    scale = tw_lut_between(t->reciprocal, saturate(scale - (1 << 15) - (1 << 16)));
    shift = 30 - headroom;
    for (i = 0; i < l->count; i++) {
        const int64_t e = exponential(t, element(l, l->first + i) - peak);
        const int64_t half = shift > 0 ? (int64_t)1 << (shift - 1) : 0;
        const int32_t p = (int32_t)((e * scale + half) >> shift);
        const int32_t q = tw_clamp_s32(p, 0, INT16_MAX);
        *(int16_t *)(void *)(l->to + i * l->to_step) =
            (int16_t)tw_clamp_s32(q, call->clamp_low.s32, call->clamp_high.s32);
    }
}

static int32_t axis_of(const tw_call *call)
{
    const tw_softmax_attributes *a = (const tw_softmax_attributes *)call->attributes;
    return tw_axis(a->axis, (int32_t)call->out[0].tensor->rank);
}

static tw_status run(const tw_call *call)
{
    return tw_lanes(call, axis_of(call), lane);
}

/* The exponentials must be positive, so that a sum of them is. */
static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_softmax_s16 *t;
    int32_t i;
    if (call->out_count != 1 || !call->out[0].tensor ||
        call->attribute_bytes != sizeof(tw_softmax_attributes) ||
        tw_check_lanes(call, axis_of(call), TW_S16, TW_S16, work) != TW_OK ||
        call->blob_count != 1 || call->blobs[0].bytes != sizeof *t ||
        call->out[0].tensor->dim[axis_of(call)] > TW_SOFTMAX_S16_LONGEST)
        return TW_E_CHECK;
    t = (const tw_softmax_s16 *)call->blobs[0].data;
    if (t->multiplier < 0 || t->shift < -31 || t->shift > 13 || call->clamp_low.s32 < INT16_MIN ||
        call->clamp_low.s32 > call->clamp_high.s32 || call->clamp_high.s32 > INT16_MAX)
        return TW_E_CHECK;
    for (i = 0; i < TW_LUT_POINTS; i++)
        if (t->exp[i] < 0)
            return TW_E_CHECK;
    return t->exp[TW_LUT_POINTS - 2] > 0 && t->exp[TW_LUT_POINTS - 1] > 0 ? TW_OK : TW_E_CHECK;
}

TW_KERNEL(softmax, s16, run, check);
