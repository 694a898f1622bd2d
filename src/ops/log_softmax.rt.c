/* LogSoftmax: kernel. A lane is read three times and written in the last pass, element by element, so
 * that the output may lie over the input. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/log_softmax.h"
#include "runtime/lanes.h"
#include "runtime/math.h"

static float at(const char *from, ptrdiff_t step, int32_t i)
{
    return *(const float *)(const void *)(from + i * step);
}

static void lane(const tw_call *call, char *to, ptrdiff_t to_step, const char *from,
                 ptrdiff_t from_step, int32_t n)
{
    float peak = -TW_INFINITY, sum = 0.0f, log_sum;
    int32_t i;
    for (i = 0; i < n; i++)
        peak = at(from, from_step, i) > peak ? at(from, from_step, i) : peak;
    for (i = 0; i < n; i++)
        sum += tw_expf(at(from, from_step, i) - peak);
    log_sum = tw_logf(sum);
    for (i = 0; i < n; i++)
        *(float *)(void *)(to + i * to_step) = tw_clampf((at(from, from_step, i) - peak) - log_sum,
                                                         call->clamp_low.f32, call->clamp_high.f32);
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
