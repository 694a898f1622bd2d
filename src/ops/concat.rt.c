/* Concat: kernel. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/concat.h"
#include "runtime/move.h"

static tw_status run(const tw_call *call)
{
    const tw_concat_attributes *a = (const tw_concat_attributes *)call->attributes;
    const tw_view *out = &call->out[0];
    const int32_t axis = tw_axis(a->axis, (int32_t)out->tensor->rank);
    int32_t start = 0;
    uint32_t i;
    for (i = 0; i < call->in_count; i++) {
        const tw_view *in = &call->in[i];
        const int32_t end = start + in->tensor->dim[axis];
        int32_t low = start, high = end;
        tw_move m;
        tw_status status;
        tw_move_same(&m, out);
        /* the part of this input that the band holds */
        low = low < m.to[axis] ? m.to[axis] : low;
        high = high > m.to[axis] + m.extent[axis] ? m.to[axis] + m.extent[axis] : high;
        m.to[axis] = low;
        m.from[axis] = low - start;
        m.extent[axis] = high - low;
        status = tw_move_elements(out, in, &m);
        if (status != TW_OK)
            return status;
        start = end;
    }
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_concat_attributes *a = (const tw_concat_attributes *)call->attributes;
    const tw_tensor *out;
    int32_t axis, k;
    int64_t total = 0;
    uint32_t i;
    const tw_status status = tw_check_move(call, 1, TW_MAX_OPERANDS - 1, work);
    if (status != TW_OK || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    out = call->out[0].tensor;
    axis = tw_axis(a->axis, (int32_t)out->rank);
    if (axis < 0)
        return TW_E_CHECK;
    for (i = 0; i < call->in_count; i++) {
        const tw_tensor *in = call->in[i].tensor;
        if (in->rank != out->rank)
            return TW_E_CHECK;
        for (k = 0; k < (int32_t)out->rank; k++)
            if (k != axis && in->dim[k] != out->dim[k])
                return TW_E_CHECK;
        total += in->dim[axis];
    }
    return total == out->dim[axis] ? TW_OK : TW_E_CHECK;
}

TW_KERNEL_BLOCKS(concat, any, run, check);
