/* CumSum and CumProd: kernels. One element after the other, so that the result is the same under any
 * bands. */
#include "ops/cumulate_job.h"

#include "runtime/fixed.h"

tw_status tw_cumulate_check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    const tw_cumulate_attributes *a = (const tw_cumulate_attributes *)call->attributes;
    if (call->attribute_bytes != sizeof *a || call->in_count != 1 || !call->in[0].tensor)
        return TW_E_CHECK;
    return tw_check_lanes(call, tw_axis(a->axis, (int32_t)call->in[0].tensor->rank), dtype, dtype,
                          work);
}

#define TW_CUMULATE(symbol, signature, type, dtype, initial, step)                                 \
    TW_CUMULATE_FUNCTIONS(symbol, signature, type, dtype, initial, step)                           \
    TW_KERNEL(symbol, signature, run_##symbol##_##signature, check_##symbol##_##signature)

TW_CUMULATE(cum_sum, f32, float, TW_F32, 0.0f, sum + x);
TW_CUMULATE(cum_sum, s32, int32_t, TW_S32, 0, (uint32_t)sum + (uint32_t)x);
TW_CUMULATE(cum_sum, u32, uint32_t, TW_U32, 0, sum + x);
TW_CUMULATE(cum_sum, s64, int64_t, TW_S64, 0, (uint64_t)sum + (uint64_t)x);
TW_CUMULATE(cum_sum, u64, uint64_t, TW_U64, 0, sum + x);

TW_CUMULATE(cum_prod, f32, float, TW_F32, 1.0f, sum *x);
TW_CUMULATE(cum_prod, s32, int32_t, TW_S32, 1, (uint32_t)sum *(uint32_t)x);
TW_CUMULATE(cum_prod, u32, uint32_t, TW_U32, 1, sum *x);
TW_CUMULATE(cum_prod, s64, int64_t, TW_S64, 1, (uint64_t)sum *(uint64_t)x);
TW_CUMULATE(cum_prod, u64, uint64_t, TW_U64, 1, sum *x);

/* --- int8: an exact sum, rescaled once a result ------------------------------------------------- */

static void lane_s8(const tw_call *call, const tw_lane *l)
{
    const tw_cumulate_attributes *a = (const tw_cumulate_attributes *)call->attributes;
    const tw_cumulate_table *t = (const tw_cumulate_table *)call->blobs[0].data;
    const int32_t in_zero = call->in[0].tensor->zero_point;
    const int32_t out_zero = call->out[0].tensor->zero_point;
    int32_t sum = a->start, j;
    for (j = 0; j < l->n; j++) {
        const int32_t i = a->reverse ? l->n - 1 - j : j, at = i - l->first;
        const int32_t x = *(const int8_t *)(const void *)(l->from + i * l->from_step) - in_zero;
        const int32_t after = sum + x, kept = a->exclusive ? sum : after;
        sum = after;
        if (at >= 0 && at < l->count) {
            const int32_t y =
                tw_requantize((int32_t)((uint32_t)kept << t->left), t->multiplier, t->shift);
            *(int8_t *)(void *)(l->to + at * l->to_step) =
                (int8_t)tw_clamp_s32(tw_clamp_s32(y, INT16_MIN, INT16_MAX) + out_zero,
                                     call->clamp_low.s32, call->clamp_high.s32);
        }
    }
}

static tw_status run_s8(const tw_call *call)
{
    const tw_cumulate_attributes *a = (const tw_cumulate_attributes *)call->attributes;
    return tw_lanes(call, tw_axis(a->axis, (int32_t)call->out[0].tensor->rank), lane_s8);
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    const tw_cumulate_attributes *a = (const tw_cumulate_attributes *)call->attributes;
    const tw_tensor *in, *out;
    const tw_cumulate_table *t;
    const tw_status status = tw_cumulate_check(call, TW_S8, work);
    if (status != TW_OK || call->blob_count != 1 || call->blobs[0].bytes != sizeof *t)
        return TW_E_CHECK;
    t = (const tw_cumulate_table *)call->blobs[0].data;
    in = call->in[0].tensor;
    out = call->out[0].tensor;
    if (t->left < 0 || t->left > 19 || t->shift > 0 || t->shift < -31 ||
        in->zero_point < INT8_MIN || in->zero_point > INT8_MAX || out->zero_point < INT8_MIN ||
        out->zero_point > INT8_MAX || call->clamp_low.s32 < INT8_MIN ||
        call->clamp_high.s32 > INT8_MAX || call->clamp_low.s32 > call->clamp_high.s32 ||
        a->start < -255 || a->start > 255 ||
        in->dim[tw_axis(a->axis, (int32_t)in->rank)] > TW_CUMULATE_S8_MOST)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(cum_sum, s8, run_s8, check_s8);
