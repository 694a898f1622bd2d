/* UpdateSlice: kernel. */
#include "ops/codes.h"
#include "runtime/indices.h"

static tw_status run(const tw_call *call)
{
    const tw_view *part = &call->in[1], *begin = &call->in[2], *out = &call->out[0];
    tw_status status = tw_begin_with(out, &call->in[0]);
    tw_move m;
    int32_t k;
    if (status != TW_OK)
        return status;
    tw_move_same(&m, out);
    for (k = 0; k < (int32_t)out->tensor->rank; k++) {
        const int32_t at[TW_MAX_RANK] = {k}, most = out->tensor->dim[k] - part->tensor->dim[k];
        const char *index = tw_held(begin, at);
        int64_t first, low, high;
        if (!index)
            return TW_E_SCHEDULE;
        first = tw_read_index(index, begin->tensor->dtype);
        first = first < 0 ? 0 : first > most ? most : first;
        low = first > m.to[k] ? first : m.to[k];
        high = (int64_t)m.to[k] + m.extent[k];
        high = high < first + part->tensor->dim[k] ? high : first + part->tensor->dim[k];
        m.to[k] = (int32_t)low;
        m.from[k] = (int32_t)(low - first);
        m.extent[k] = high > low ? (int32_t)(high - low) : 0;
    }
    return tw_move_elements(out, part, &m);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *part, *begin, *out;
    int32_t k;
    if (tw_check_indexed(call, 3, 2, work) != TW_OK)
        return TW_E_CHECK;
    part = call->in[1].tensor;
    begin = call->in[2].tensor;
    out = call->out[0].tensor;
    if (!tw_same_shape(call->in[0].tensor, out) || part->dtype != out->dtype ||
        part->rank != out->rank || begin->rank != 1 || begin->dim[0] != (int32_t)out->rank)
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)out->rank; k++)
        if (part->dim[k] > out->dim[k])
            return TW_E_CHECK;
    *work += (uint64_t)tw_element_count(part);
    return TW_OK;
}

TW_KERNEL(update_slice, any, run, check);
