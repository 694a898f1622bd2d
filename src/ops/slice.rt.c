/* Slice: kernel. */
#include "ops/codes.h"
#include "ops/slice.h"
#include "runtime/move.h"

static tw_status run(const tw_call *call)
{
    const tw_slice_attributes *a = (const tw_slice_attributes *)call->attributes;
    const tw_tensor *in = call->in[0].tensor;
    const int32_t rank = (int32_t)in->rank;
    int32_t k;
    tw_move m;
    tw_move_same(&m, &call->out[0]);
    for (k = 0; k < rank; k++) {
        tw_slice_axis s;
        if (m.extent[k] <= 0)
            return TW_OK;
        if (!tw_slice_resolve(a, rank, k, in->dim[k], &s))
            return TW_E_DATA;
        m.step[k] = s.step;
        m.from[k] = s.begin + m.to[k] * s.step;
    }
    return tw_move_elements(&call->out[0], &call->in[0], &m);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_slice_attributes *a = (const tw_slice_attributes *)call->attributes;
    const tw_tensor *in, *out;
    int32_t k;
    const tw_status status = tw_check_move(call, 1, 1, work);
    if (status != TW_OK || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    in = call->in[0].tensor;
    out = call->out[0].tensor;
    if (in->rank != out->rank)
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)in->rank; k++) {
        tw_slice_axis s;
        if (!tw_slice_resolve(a, (int32_t)in->rank, k, in->dim[k], &s) || s.size != out->dim[k])
            return TW_E_CHECK;
    }
    return TW_OK;
}

TW_KERNEL_BLOCKS(slice, any, run, check);
