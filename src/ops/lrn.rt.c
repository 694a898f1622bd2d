/* Lrn: kernel. Each window is added up on its own, from its first element to its last. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/lrn.h"
#include "runtime/lanes.h"
#include "runtime/math.h"

static const tw_lrn_attributes *attributes_of(const tw_call *call)
{
    return (const tw_lrn_attributes *)call->attributes;
}

static int32_t axis_of(const tw_call *call)
{
    return tw_axis(attributes_of(call)->axis, (int32_t)call->out[0].tensor->rank);
}

static float at(const tw_lane *l, int32_t i)
{
    return *(const float *)(const void *)(l->from + i * l->from_step);
}

static void lane(const tw_call *call, const tw_lane *l)
{
    const tw_lrn_attributes *a = attributes_of(call);
    const int32_t before = (a->size - 1) / 2, behind = a->size - 1 - before;
    int32_t i, k;
    for (i = 0; i < l->count; i++) {
        const int32_t centre = l->first + i;
        const int32_t low = centre < before ? 0 : centre - before;
        const int32_t high = l->n - 1 - centre < behind ? l->n - 1 : centre + behind;
        float sum = 0.0f;
        for (k = low; k <= high; k++)
            sum += at(l, k) * at(l, k);
        *(float *)(void *)(l->to + i * l->to_step) =
            tw_clampf(at(l, centre) / tw_powf(a->bias + a->alpha * sum, a->beta),
                      call->clamp_low.f32, call->clamp_high.f32);
    }
}

static tw_status run(const tw_call *call)
{
    return tw_lanes(call, axis_of(call), lane);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status;
    int32_t n;
    if (call->out_count != 1 || !call->out[0].tensor ||
        call->attribute_bytes != sizeof(tw_lrn_attributes) || attributes_of(call)->size < 1)
        return TW_E_CHECK;
    status = tw_check_lanes(call, axis_of(call), TW_F32, TW_F32, work);
    if (status != TW_OK)
        return status;
    n = call->out[0].tensor->dim[axis_of(call)];
    if (n > 0)
        *work = *work / (uint64_t)n * tw_lrn_reads(attributes_of(call)->size, n);
    return TW_OK;
}

TW_KERNEL(lrn, f32, run, check);
