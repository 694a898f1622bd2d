/* ScatterElements: kernel. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/gather_elements.h"

static tw_status run(const tw_call *call)
{
    const tw_scatter_elements_attributes *a =
        (const tw_scatter_elements_attributes *)call->attributes;
    const tw_view *indices = &call->in[1], *updates = &call->in[2], *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank, axis = tw_axis(a->axis, rank);
    const int32_t band = out->axis;
    tw_view whole = *indices;
    tw_status status = tw_begin_with(out, &call->in[0]);
    tw_box box;
    if (status != TW_OK)
        return status;
    whole.row = 0; /* every update that may lie in the band */
    whole.rows = indices->tensor->dim[whole.axis];
    if (!tw_box_of(&box, &whole, rank) || tw_view_count(out) == 0)
        return TW_OK;
    if (band != axis) {
        box.low[band] = box.index[band] = out->row;
        if (box.high[band] > out->row + out->rows)
            box.high[band] = out->row + out->rows;
        if (box.low[band] >= box.high[band])
            return TW_OK;
    }
    do {
        int32_t to[TW_MAX_RANK];
        const char *index = tw_held(indices, box.index), *update = tw_held(updates, box.index);
        if (!index || !update)
            return TW_E_SCHEDULE;
        memcpy(to, box.index, sizeof to);
        if (!tw_index_within(index, indices->tensor->dtype, out->tensor->dim[axis], &to[axis]))
            return TW_E_DATA;
        if (tw_holds(out, to[band], 1))
            tw_combine(tw_element(out, to), update, out->tensor->dtype, a->reduction);
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_scatter_elements_attributes *a =
        (const tw_scatter_elements_attributes *)call->attributes;
    const tw_tensor *indices, *out;
    int32_t axis, k;
    if (tw_check_indexed(call, 3, 1, work) != TW_OK || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    indices = call->in[1].tensor;
    out = call->out[0].tensor;
    axis = tw_axis(a->axis, (int32_t)out->rank);
    if (axis < 0 || call->in[2].tensor->dtype != out->dtype || indices->rank != out->rank ||
        !tw_same_shape(call->in[0].tensor, out) || !tw_same_shape(call->in[2].tensor, indices) ||
        !tw_can_combine(out->dtype, a->reduction))
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)out->rank; k++)
        if (k != axis && indices->dim[k] > out->dim[k])
            return TW_E_CHECK;
    *work += (uint64_t)tw_element_count(indices);
    return TW_OK;
}

TW_KERNEL(scatter_elements, any, run, check);
