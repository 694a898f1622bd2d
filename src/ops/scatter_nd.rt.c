/* ScatterND: kernel. */
#include "ops/codes.h"
#include "ops/gather_nd.h"

static int resolve(const tw_call *call, tw_tuples *t)
{
    const tw_tensor *indices = call->in[1].tensor;
    const int32_t rank = (int32_t)indices->rank;
    return tw_tuples_resolve((int32_t)call->out[0].tensor->rank, rank,
                             rank > 0 ? indices->dim[rank - 1] : -1, 0, t);
}

static tw_status run(const tw_call *call)
{
    const tw_scatter_nd_attributes *a = (const tw_scatter_nd_attributes *)call->attributes;
    const tw_view *updates = &call->in[2], *out = &call->out[0];
    tw_view whole = *updates;
    tw_status status = tw_begin_with(out, &call->in[0]);
    tw_tuples t;
    tw_box box;
    if (status != TW_OK || !resolve(call, &t))
        return status != TW_OK ? status : TW_E_DATA;
    whole.row = 0; /* every update that may lie in the band */
    whole.rows = updates->tensor->dim[whole.axis];
    if (!tw_box_of(&box, &whole, t.lead) || tw_view_count(out) == 0)
        return TW_OK;
    do {
        int32_t to[TW_MAX_RANK] = {0};
        status = tw_read_tuple(&call->in[1], &t, box.index, out->tensor, to);
        if (status == TW_OK && (out->axis >= t.width || tw_holds(out, to[out->axis], 1)))
            status =
                a->reduction == TW_COMBINE_NONE
                    ? tw_move_block(out, to, t.width, updates, box.index, t.lead)
                    : tw_combine_block(out, to, t.width, updates, box.index, t.lead, a->reduction);
        if (status != TW_OK)
            return status;
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_scatter_nd_attributes *a = (const tw_scatter_nd_attributes *)call->attributes;
    const tw_tensor *indices, *updates, *out;
    tw_tuples t;
    int32_t k;
    if (tw_check_indexed(call, 3, 1, work) != TW_OK || call->attribute_bytes != sizeof *a ||
        !resolve(call, &t))
        return TW_E_CHECK;
    indices = call->in[1].tensor;
    updates = call->in[2].tensor;
    out = call->out[0].tensor;
    if (t.rank != (int32_t)updates->rank || updates->dtype != out->dtype ||
        !tw_same_shape(call->in[0].tensor, out) || !tw_can_combine(out->dtype, a->reduction))
        return TW_E_CHECK;
    for (k = 0; k < t.rank; k++)
        if (updates->dim[k] != (k < t.lead ? indices->dim[k] : out->dim[t.width + k - t.lead]))
            return TW_E_CHECK;
    *work += (uint64_t)tw_element_count(updates);
    return TW_OK;
}

TW_KERNEL(scatter_nd, any, run, check);
