/* GatherND: kernel, and the tuples that ScatterND reads too. */
#include "ops/gather_nd.h"

#include "ops/codes.h"

tw_status tw_read_tuple(const tw_view *indices, const tw_tuples *t, const int32_t *at,
                        const tw_tensor *x, int32_t *to)
{
    int32_t where[TW_MAX_RANK] = {0}, k;
    for (k = 0; k < t->lead; k++)
        where[k] = at[k];
    for (k = 0; k < t->width; k++) {
        const char *index;
        where[t->lead] = k;
        index = tw_held(indices, where);
        if (!index)
            return TW_E_SCHEDULE;
        if (!tw_index_within(index, indices->tensor->dtype, x->dim[t->batch + k],
                             &to[t->batch + k]))
            return TW_E_DATA;
    }
    return TW_OK;
}

static int resolve(const tw_call *call, tw_tuples *t)
{
    const tw_tensor *indices = call->in[1].tensor;
    const int32_t rank = (int32_t)indices->rank;
    return tw_tuples_resolve((int32_t)call->in[0].tensor->rank, rank,
                             rank > 0 ? indices->dim[rank - 1] : -1,
                             ((const tw_gather_nd_attributes *)call->attributes)->batch_dims, t);
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *out = &call->out[0];
    int32_t from[TW_MAX_RANK] = {0}, k;
    tw_tuples t;
    tw_box box;
    if (!resolve(call, &t))
        return TW_E_DATA;
    if (!tw_box_of(&box, out, t.lead))
        return TW_OK;
    do {
        tw_status status = tw_read_tuple(&call->in[1], &t, box.index, x->tensor, from);
        for (k = 0; k < t.batch; k++)
            from[k] = box.index[k];
        if (status == TW_OK)
            status = tw_move_block(out, box.index, t.lead, x, from, t.batch + t.width);
        if (status != TW_OK)
            return status;
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *x, *indices, *out;
    tw_tuples t;
    int32_t k;
    if (tw_check_indexed(call, 2, 1, work) != TW_OK ||
        call->attribute_bytes != sizeof(tw_gather_nd_attributes) || !resolve(call, &t))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    indices = call->in[1].tensor;
    out = call->out[0].tensor;
    if (t.rank != (int32_t)out->rank)
        return TW_E_CHECK;
    for (k = 0; k < t.batch; k++)
        if (x->dim[k] != indices->dim[k])
            return TW_E_CHECK;
    for (k = 0; k < t.rank; k++)
        if (out->dim[k] != (k < t.lead ? indices->dim[k] : x->dim[t.batch + t.width + k - t.lead]))
            return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(gather_nd, any, run, check);
