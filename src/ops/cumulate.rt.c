/* CumSum and CumProd: kernels. One element after the other, so that the result is the same under any
 * bands. */
#include "ops/cumulate.h"

#include "ops/axes.h"
#include "ops/codes.h"
#include "runtime/lanes.h"

static tw_status check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    const tw_cumulate_attributes *a = (const tw_cumulate_attributes *)call->attributes;
    if (call->attribute_bytes != sizeof *a || call->in_count != 1 || !call->in[0].tensor)
        return TW_E_CHECK;
    return tw_check_lanes(call, tw_axis(a->axis, (int32_t)call->in[0].tensor->rank), dtype, dtype,
                          work);
}

/* The running value goes over the whole lane; results outside the band are not kept. */
#define TW_CUMULATE(symbol, signature, type, dtype, initial, step)                                 \
    static void lane_##symbol##_##signature(const tw_call *call, const tw_lane *l)                 \
    {                                                                                              \
        const tw_cumulate_attributes *a = (const tw_cumulate_attributes *)call->attributes;        \
        type sum = initial;                                                                        \
        int32_t j;                                                                                 \
        for (j = 0; j < l->n; j++) {                                                               \
            const int32_t i = a->reverse ? l->n - 1 - j : j, at = i - l->first;                    \
            const type x = *(const type *)(const void *)(l->from + i * l->from_step);              \
            const type before = sum;                                                               \
            sum = (type)(step);                                                                    \
            if (at >= 0 && at < l->count)                                                          \
                *(type *)(void *)(l->to + at * l->to_step) = a->exclusive ? before : sum;          \
        }                                                                                          \
    }                                                                                              \
    static tw_status run_##symbol##_##signature(const tw_call *call)                               \
    {                                                                                              \
        const tw_cumulate_attributes *a = (const tw_cumulate_attributes *)call->attributes;        \
        return tw_lanes(call, tw_axis(a->axis, (int32_t)call->out[0].tensor->rank),                \
                        lane_##symbol##_##signature);                                              \
    }                                                                                              \
    static tw_status check_##symbol##_##signature(const tw_call *call, uint64_t *work)             \
    {                                                                                              \
        return check(call, dtype, work);                                                           \
    }                                                                                              \
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
