/* Gather: kernel. */
#include "ops/codes.h"
#include "ops/gather.h"
#include "runtime/indices.h"

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *indices = &call->in[1], *out = &call->out[0];
    int32_t from[TW_MAX_RANK] = {0}, at[TW_MAX_RANK] = {0}, k;
    tw_gathering g;
    tw_box box;
    if (!tw_gather_resolve((const tw_gather_attributes *)call->attributes, (int32_t)x->tensor->rank,
                           (int32_t)indices->tensor->rank, &g))
        return TW_E_DATA;
    if (!tw_box_of(&box, out, g.lead))
        return TW_OK;
    do {
        const char *index;
        tw_status status;
        for (k = 0; k < g.lead; k++) {
            if (k < g.axis)
                from[k] = box.index[k];
            if (k < g.batch)
                at[k] = box.index[k];
            if (k >= g.axis)
                at[g.batch + k - g.axis] = box.index[k];
        }
        index = tw_held(indices, at);
        if (!index)
            return TW_E_SCHEDULE;
        if (!tw_index_within(index, indices->tensor->dtype, x->tensor->dim[g.axis], &from[g.axis]))
            return TW_E_DATA;
        status = tw_move_block(out, box.index, g.lead, x, from, g.axis + 1);
        if (status != TW_OK)
            return status;
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *x, *indices, *out;
    tw_gathering g;
    int32_t k;
    if (tw_check_indexed(call, 2, 1, work) != TW_OK ||
        call->attribute_bytes != sizeof(tw_gather_attributes))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    indices = call->in[1].tensor;
    out = call->out[0].tensor;
    if (!tw_gather_resolve((const tw_gather_attributes *)call->attributes, (int32_t)x->rank,
                           (int32_t)indices->rank, &g) ||
        g.rank != (int32_t)out->rank)
        return TW_E_CHECK;
    for (k = 0; k < g.batch; k++)
        if (x->dim[k] != indices->dim[k])
            return TW_E_CHECK;
    for (k = 0; k < g.rank; k++)
        if (out->dim[k] != (k < g.axis   ? x->dim[k]
                            : k < g.lead ? indices->dim[g.batch + k - g.axis]
                                         : x->dim[g.axis + 1 + k - g.lead]))
            return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(gather, any, run, check);
