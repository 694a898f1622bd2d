/* LogSoftmax: kernel. A lane is read three times and written in the last pass, element by element, so
 * that the output may lie over the input. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/log_fixed.h"
#include "ops/log_softmax.h"
#include "runtime/fixed.h"
#include "runtime/lanes.h"
#include "runtime/math.h"

static float at(const tw_lane *l, int32_t i)
{
    return *(const float *)(const void *)(l->from + i * l->from_step);
}

static void lane(const tw_call *call, const tw_lane *l)
{
    float peak = -TW_INFINITY, sum = 0.0f, log_sum;
    int32_t i;
    for (i = 0; i < l->n; i++)
        peak = at(l, i) > peak ? at(l, i) : peak;
    for (i = 0; i < l->n; i++)
        sum += tw_expf(at(l, i) - peak);
    log_sum = tw_logf(sum);
    for (i = 0; i < l->count; i++)
        *(float *)(void *)(l->to + i * l->to_step) = tw_clampf(
            (at(l, l->first + i) - peak) - log_sum, call->clamp_low.f32, call->clamp_high.f32);
}

static int32_t axis_of(const tw_call *call)
{
    return tw_axis(((const tw_log_softmax_attributes *)call->attributes)->axis,
                   (int32_t)call->out[0].tensor->rank);
}

static tw_status run_f32(const tw_call *call)
{
    return tw_lanes(call, axis_of(call), lane);
}

static tw_status check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    if (call->out_count != 1 || !call->out[0].tensor ||
        call->attribute_bytes != sizeof(tw_log_softmax_attributes))
        return TW_E_CHECK;
    return tw_check_lanes(call, axis_of(call), dtype, dtype, work);
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return check(call, TW_F32, work);
}

TW_KERNEL(log_softmax, f32, run_f32, check_f32);

/* --- int8: TFLite's reference arithmetic -------------------------------------------------------- */

static int32_t at_s8(const tw_lane *l, int32_t i)
{
    return *(const int8_t *)(const void *)(l->from + i * l->from_step);
}

static void lane_s8(const tw_call *call, const tw_lane *l)
{
    const tw_log_softmax_table *t = (const tw_log_softmax_table *)call->blobs[0].data;
    int32_t peak = INT8_MIN, sum = 0, log_sum, least, i;
    for (i = 0; i < l->n; i++)
        peak = at_s8(l, i) > peak ? at_s8(l, i) : peak;
    for (i = 0; i < l->n; i++)
        sum += t->exp[peak - at_s8(l, i)];
    log_sum = tw_log_fixed(sum);
    /* Below this, distance and logarithm together leave the range. */
    least = tw_requantize(log_sum + INT32_MIN, t->multiplier, t->shift);
    least = least > -t->most - 1 ? least : -t->most - 1;
    for (i = 0; i < l->count; i++) {
        const int32_t d = peak - at_s8(l, l->first + i);
        int32_t y = INT8_MIN;
        if (-d > least)
            y = tw_shift_right((int32_t)((uint32_t)t->distance[d] - (uint32_t)log_sum), 22) + 127;
        *(int8_t *)(void *)(l->to + i * l->to_step) =
            (int8_t)tw_clamp_s32(y, call->clamp_low.s32, call->clamp_high.s32);
    }
}

static tw_status run_s8(const tw_call *call)
{
    return tw_lanes(call, axis_of(call), lane_s8);
}

/* A sum of exponentials is at least 1 and fits 32 bits. */
static int is_sound(const tw_log_softmax_table *t)
{
    int32_t d;
    if (t->most < 0 || t->most > 255 || t->shift < -31 || t->shift > 0 || t->exp[0] != 1 << 19)
        return 0;
    for (d = 0; d < 256; d++)
        if (t->exp[d] < 0 || t->exp[d] > 1 << 19 || t->distance[d] > 0)
            return 0;
    return 1;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    const tw_status status = check(call, TW_S8, work);
    if (status != TW_OK || call->blob_count != 1 ||
        call->blobs[0].bytes != sizeof(tw_log_softmax_table) ||
        !is_sound((const tw_log_softmax_table *)call->blobs[0].data) ||
        call->in[0].tensor->dim[axis_of(call)] > TW_LOG_SOFTMAX_S8_LONGEST ||
        call->clamp_low.s32 < INT8_MIN || call->clamp_high.s32 > INT8_MAX ||
        call->clamp_low.s32 > call->clamp_high.s32)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(log_softmax, s8, run_s8, check_s8);
