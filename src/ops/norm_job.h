/* What the normalisation kernels of every type share: nested loops over groups, the check, the walk.
 * Device code. */
#ifndef TW_OPS_NORM_JOB_H
#define TW_OPS_NORM_JOB_H

#include "ops/norm.h"
#include "runtime/kernel.h"

/* What a walk steps through; a group's numbers have one index, kept as the number of the group. */
enum { TW_NORM_X, TW_NORM_Y, TW_NORM_SCALE, TW_NORM_BIAS, TW_NORM_POINTERS };

/* Nested loops, outermost first. Steps in elements and in groups. */
typedef struct tw_norm_loops {
    int32_t rank, extent[TW_MAX_RANK], index[TW_MAX_RANK];
    ptrdiff_t step[TW_MAX_RANK][TW_NORM_POINTERS];
    int32_t group_step[TW_MAX_RANK];
    ptrdiff_t at[TW_NORM_POINTERS]; /* elements from the operands' first ones */
    int32_t group;
} tw_norm_loops;

/* A run of n elements at the innermost loop of some walk. */
typedef struct tw_norm_run {
    const tw_norm_loops *w;
    ptrdiff_t x_step;
    int32_t n, group, group_step;
} tw_norm_run;

typedef struct tw_norming tw_norming;
typedef void (*tw_norm_take)(const tw_norming *p, const tw_norm_run *run);

/* One row of norm.def and one type: normalise all groups behind one outer index. */
typedef struct tw_norm {
    int centred;
    tw_norm_take add; /* the second pass */
    float (*factor)(float s, float n, float e);
    void (*normalise)(const tw_norming *p, const tw_norm_loops *inner);
} tw_norm;

struct tw_norming {
    const tw_call *call;
    const tw_norm *norm;
    tw_norm_axes axes;
    const void *base[TW_NORM_POINTERS]; /* the elements that the loops' offsets count from */
    float epsilon;
};

tw_status tw_norm_run_call(const tw_call *call, const tw_norm *norm);

/* group_bytes: of scratch, a group. x and y are of the type, scale and bias floats. */
tw_status tw_norm_check(const tw_call *call, uint32_t dtype, uint32_t group_bytes, uint64_t *work);

/* Every run behind one outer index. */
void tw_norm_each_run(const tw_norming *p, const tw_norm_loops *inner, tw_norm_take take);

static inline float tw_norm_inverse(float v)
{
    return v == 0.0f ? 0.0f : 1.0f / v;
}

#endif
