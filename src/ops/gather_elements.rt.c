/* GatherElements: kernel. */
#include "ops/gather_elements.h"

#include "ops/axes.h"
#include "ops/codes.h"

static tw_status run(const tw_call *call)
{
    const tw_gather_elements_attributes *a =
        (const tw_gather_elements_attributes *)call->attributes;
    const tw_view *x = &call->in[0], *indices = &call->in[1], *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank, axis = tw_axis(a->axis, rank);
    const uint32_t bytes = tw_dtype_bytes(out->tensor->dtype);
    tw_box box;
    if (!tw_box_of(&box, out, rank))
        return TW_OK;
    do {
        int32_t from[TW_MAX_RANK];
        const char *index = tw_held(indices, box.index), *element;
        if (!index)
            return TW_E_SCHEDULE;
        memcpy(from, box.index, sizeof from);
        if (!tw_index_within(index, indices->tensor->dtype, x->tensor->dim[axis], &from[axis]))
            return TW_E_DATA;
        element = tw_held(x, from);
        if (!element)
            return TW_E_SCHEDULE;
        memcpy(tw_element(out, box.index), element, bytes);
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_gather_elements_attributes *a =
        (const tw_gather_elements_attributes *)call->attributes;
    const tw_tensor *x, *out;
    int32_t axis, k;
    if (tw_check_indexed(call, 2, 1, work) != TW_OK || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    x = call->in[0].tensor;
    out = call->out[0].tensor;
    axis = tw_axis(a->axis, (int32_t)out->rank);
    if (axis < 0 || x->rank != out->rank || !tw_same_shape(call->in[1].tensor, out))
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)out->rank; k++)
        if (k != axis && out->dim[k] > x->dim[k])
            return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(gather_elements, any, run, check);
