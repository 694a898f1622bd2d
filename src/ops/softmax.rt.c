/* Softmax: kernels. A lane is read up to three times; result i is written when element i is not read
 * any more, so that the output may lie over the input. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/softmax.h"
#include "runtime/fixed.h"
#include "runtime/lanes.h"
#include "runtime/math.h"

static const tw_softmax_attributes *attributes_of(const tw_call *call)
{
    return (const tw_softmax_attributes *)call->attributes;
}

static float float_at(const tw_lane *l, int32_t i)
{
    return *(const float *)(const void *)(l->from + i * l->from_step);
}

static void lane_f32(const tw_call *call, const tw_lane *l)
{
    const float beta = attributes_of(call)->beta;
    const int all = l->count == l->n; /* then the exponentials are kept in the output */
    float peak = -TW_INFINITY, sum = 0.0f;
    int32_t i;
    for (i = 0; i < l->n; i++)
        peak = float_at(l, i) > peak ? float_at(l, i) : peak;
    for (i = 0; i < l->n; i++) {
        const float e = tw_expf((float_at(l, i) - peak) * beta);
        sum += e;
        if (all)
            *(float *)(void *)(l->to + i * l->to_step) = e;
    }
    for (i = 0; i < l->count; i++) {
        float *y = (float *)(void *)(l->to + i * l->to_step);
        const float e = all ? *y : tw_expf((float_at(l, l->first + i) - peak) * beta);
        *y = tw_clampf(e / sum, call->clamp_low.f32, call->clamp_high.f32);
    }
}

static int32_t saturating_left(int32_t x, int32_t shift)
{
    const int32_t most = (int32_t)(INT32_MAX >> shift);
    return x > most ? INT32_MAX : x < -most - 1 ? INT32_MIN : x * (1 << shift);
}

/* 1 / (1 + x), 0 <= x < 1 with 31 fractional bits: three Newton steps, in gemmlowp's roundings. */
static int32_t reciprocal(int32_t x)
{
    const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2); /* (1 + x) / 2 */
    int32_t y = 1515870810 + tw_high_mul(half, -1010580540);          /* 48/17 - 32/17 * half */
    int32_t i;
    for (i = 0; i < 3; i++) { /* 29 fractional bits */
        const int32_t rest = (1 << 29) - tw_high_mul(half, y);
        y += saturating_left(tw_high_mul(y, rest), 2);
    }
    return saturating_left(y, 1);
}

/* x / 2^shift, rounded; beyond 31 nothing is left. */
static int32_t shift_far(int32_t x, int32_t shift)
{
    return shift > 31 ? 0 : tw_shift_right(x, shift);
}

static void lane_s8(const tw_call *call, const tw_lane *l)
{
    const tw_softmax_table *t = (const tw_softmax_table *)call->blobs[0].data;
    const int8_t *from = (const int8_t *)l->from;
    const int32_t zero = call->out[0].tensor->zero_point;
    const int32_t bits = call->out[0].tensor->dtype == TW_S16 ? 16 : 8;
    int32_t peak = INT8_MIN, i, headroom, over, scale;
    uint32_t sum = 0;
    for (i = 0; i < l->n; i++)
        peak = from[i * l->from_step] > peak ? from[i * l->from_step] : peak;
    for (i = 0; i < l->n; i++) /* 19 fractional bits */
        sum += (uint32_t)tw_shift_right(t->exp[peak - from[i * l->from_step]], 12);
    headroom = __builtin_clz(sum);
    over = 12 - headroom; /* bits of the sum above 1 */
    scale = reciprocal((int32_t)((sum << headroom) - 0x80000000u));
    for (i = 0; i < l->count; i++) {
        const int32_t p = tw_high_mul(scale, t->exp[peak - from[(l->first + i) * l->from_step]]);
        int32_t q;
        if (t->multiplier == 0)
            q = shift_far(p, over + 31 - bits);
        else
            q = tw_requantize(tw_shift_right(p, over + 31 - 16), t->multiplier, t->shift);
        q = (int32_t)((uint32_t)q + (uint32_t)zero);
        q = tw_clamp_s32(q, call->clamp_low.s32, call->clamp_high.s32);
        if (bits == 16)
            *(int16_t *)(void *)(l->to + i * l->to_step) = (int16_t)q;
        else
            *(int8_t *)(l->to + i * l->to_step) = (int8_t)q;
    }
}

static tw_status run_f32(const tw_call *call)
{
    return tw_lanes(call, tw_axis(attributes_of(call)->axis, (int32_t)call->out[0].tensor->rank),
                    lane_f32);
}

static tw_status run_s8(const tw_call *call)
{
    return tw_lanes(call, tw_axis(attributes_of(call)->axis, (int32_t)call->out[0].tensor->rank),
                    lane_s8);
}

static tw_status check(const tw_call *call, uint32_t dtype, uint32_t result, uint64_t *work)
{
    if (call->out_count != 1 || !call->out[0].tensor ||
        call->attribute_bytes != sizeof(tw_softmax_attributes))
        return TW_E_CHECK;
    return tw_check_lanes(call,
                          tw_axis(attributes_of(call)->axis, (int32_t)call->out[0].tensor->rank),
                          dtype, result, work);
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return check(call, TW_F32, TW_F32, work);
}

/* The table's entries must be what keeps the sum positive and within 32 bits. */
static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    const tw_softmax_table *t;
    int32_t i;
    const int wide =
        call->out_count == 1 && call->out[0].tensor && call->out[0].tensor->dtype == TW_S16;
    const tw_status status = check(call, TW_S8, wide ? TW_S16 : TW_S8, work);
    if (status != TW_OK || call->blob_count != 1 || call->blobs[0].bytes != sizeof *t)
        return TW_E_CHECK;
    t = (const tw_softmax_table *)call->blobs[0].data;
    if (call->out[0].tensor->dim[tw_axis(attributes_of(call)->axis,
                                         (int32_t)call->out[0].tensor->rank)] >
            TW_SOFTMAX_S8_LONGEST ||
        t->exp[0] != INT32_MAX || t->multiplier < 0 || t->shift < -31 || t->shift > 30)
        return TW_E_CHECK;
    for (i = 0; i < 256; i++)
        if (t->exp[i] < 0)
            return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(softmax, f32, run_f32, check_f32);
TW_KERNEL(softmax, s8, run_s8, check_s8);
