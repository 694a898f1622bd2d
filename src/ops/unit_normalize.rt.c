/* UnitNormalize: kernel. TFLite's reference arithmetic. */
#include "ops/unit_normalize.h"

#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/inverse_root.h"
#include "runtime/fixed.h"
#include "runtime/lanes.h"

static void lane(const tw_call *call, const tw_lane *l)
{
    const int32_t zero = call->in[0].tensor->zero_point;
    int32_t sum = 0, multiplier, shift, i;
    for (i = 0; i < l->n; i++) {
        const int32_t x = *(const int8_t *)(const void *)(l->from + i * l->from_step) - zero;
        sum += x * x;
    }
    tw_inverse_root(sum, &multiplier, &shift);
    for (i = 0; i < l->count; i++) {
        const int32_t x =
            *(const int8_t *)(const void *)(l->from + (l->first + i) * l->from_step) - zero;
        *(int8_t *)(void *)(l->to + i * l->to_step) = (int8_t)tw_clamp_s32(
            tw_requantize(x, multiplier, shift + 7), call->clamp_low.s32, call->clamp_high.s32);
    }
}

static int32_t axis_of(const tw_call *call)
{
    return tw_axis(((const tw_unit_normalize_attributes *)call->attributes)->axis,
                   (int32_t)call->out[0].tensor->rank);
}

static tw_status run(const tw_call *call)
{
    return tw_lanes(call, axis_of(call), lane);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *in;
    if (call->out_count != 1 || !call->out[0].tensor ||
        call->attribute_bytes != sizeof(tw_unit_normalize_attributes) ||
        tw_check_lanes(call, axis_of(call), TW_S8, TW_S8, work) != TW_OK)
        return TW_E_CHECK;
    in = call->in[0].tensor;
    if (in->dim[axis_of(call)] > TW_UNIT_NORMALIZE_LONGEST || in->zero_point < INT8_MIN ||
        in->zero_point > INT8_MAX || call->clamp_low.s32 < INT8_MIN ||
        call->clamp_high.s32 > INT8_MAX || call->clamp_low.s32 > call->clamp_high.s32)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(unit_normalize, s8, run, check);
