/* Softmax of int16 by CMSIS-NN: the tables are the portable kernel's. */
#include "backends/cmsis_nn/library.h"
#include "ops/axes.h"
#include "ops/softmax.h"

static int32_t last_of(const tw_call *call)
{
    return (int32_t)call->out[0].tensor->rank - 1;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_softmax_attributes *a = (const tw_softmax_attributes *)call->attributes;
    if (tw_k_softmax_s16.check(call, work) != TW_OK ||
        tw_axis(a->axis, (int32_t)call->out[0].tensor->rank) != last_of(call) ||
        !tw_is_dense(call->in[0].tensor) || !tw_is_dense(call->out[0].tensor) ||
        call->out[0].tensor->dim[last_of(call)] < 1 || call->clamp_low.s32 > 0 ||
        call->clamp_high.s32 < INT16_MAX)
        return TW_E_CHECK;
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    const tw_softmax_s16 *t = (const tw_softmax_s16 *)call->blobs[0].data;
    const int32_t n = y->tensor->dim[last_of(call)];
    const int32_t skip = y->row - x->row;
    cmsis_nn_softmax_lut_s16 tables;
    if (y->axis == last_of(call) && y->rows != n)
        return tw_k_softmax_s16.run(call); /* a part of a row: the library makes whole ones */
    if (x->axis != y->axis || skip < 0 || x->row + x->rows < y->row + y->rows)
        return TW_E_SCHEDULE;
    tables.exp_lut = t->exp;
    tables.one_by_one_lut = t->reciprocal;
    return tw_cmsis_nn_status(arm_softmax_s16(
        (const int16_t *)x->data + (ptrdiff_t)skip * x->tensor->stride[x->axis],
        (int32_t)(tw_view_count(y) / n), n, t->multiplier, t->shift, &tables, (int16_t *)y->data));
}

TW_CMSIS_NN_KERNEL(softmax_s16, run, check);
