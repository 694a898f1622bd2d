/* LogSoftmax: kernel. A lane is read three times and written in the last pass, element by element, so
 * that the output may lie over the input. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/log_softmax.h"
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

static tw_status run(const tw_call *call)
{
    return tw_lanes(call, axis_of(call), lane);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    if (call->out_count != 1 || !call->out[0].tensor ||
        call->attribute_bytes != sizeof(tw_log_softmax_attributes))
        return TW_E_CHECK;
    return tw_check_lanes(call, axis_of(call), TW_F32, TW_F32, work);
}

TW_KERNEL(log_softmax, f32, run, check);
