/* What the kernels of running sums and products share for every type. Device code. */
#ifndef TW_OPS_CUMULATE_JOB_H
#define TW_OPS_CUMULATE_JOB_H

#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/cumulate.h"
#include "runtime/lanes.h"

/* Everything but tables. */
tw_status tw_cumulate_check(const tw_call *call, uint32_t dtype, uint64_t *work);

/* The running value goes over the whole lane; results outside the band are not kept. */
#define TW_CUMULATE_FUNCTIONS(symbol, signature, type, dtype, initial, step)                       \
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
        return tw_cumulate_check(call, dtype, work);                                               \
    }

#endif
