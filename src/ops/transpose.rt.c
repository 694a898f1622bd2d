/* Transpose: kernel. */
#include "ops/codes.h"
#include "ops/transpose.h"
#include "runtime/move.h"

static tw_status run(const tw_call *call)
{
    const tw_transpose_attributes *a = (const tw_transpose_attributes *)call->attributes;
    int32_t perm[TW_MAX_RANK], k;
    const int32_t rank = (int32_t)call->out[0].tensor->rank;
    tw_move m;
    tw_move_same(&m, &call->out[0]);
    if (!tw_transpose_perm(&a->perm, rank, perm))
        return TW_E_DATA;
    for (k = 0; k < rank; k++)
        m.axis[k] = perm[k];
    return tw_move_elements(&call->out[0], &call->in[0], &m);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_transpose_attributes *a = (const tw_transpose_attributes *)call->attributes;
    const tw_tensor *in, *out;
    int32_t perm[TW_MAX_RANK], k;
    const tw_status status = tw_check_move(call, 1, 1, work);
    if (status != TW_OK || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    in = call->in[0].tensor;
    out = call->out[0].tensor;
    if (in->rank != out->rank || !tw_transpose_perm(&a->perm, (int32_t)in->rank, perm))
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)in->rank; k++)
        if (out->dim[k] != in->dim[perm[k]])
            return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL_BLOCKS(transpose, any, run, check);
