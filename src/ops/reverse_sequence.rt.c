/* ReverseSequence: kernel. Two moves for each index of the batch axis: what is turned, and the rest. */
#include "ops/reverse_sequence.h"

#include "ops/axes.h"
#include "ops/codes.h"
#include "runtime/indices.h"

/* The part first..end-1 of m's axis: from from0 on, in steps of `step`, at first. */
static tw_status move_part(const tw_call *call, tw_move m, int32_t axis, int32_t first, int32_t end,
                           int32_t from0, int32_t step)
{
    const int32_t low = m.to[axis] > first ? m.to[axis] : first;
    const int32_t high = m.to[axis] + m.extent[axis] < end ? m.to[axis] + m.extent[axis] : end;
    m.to[axis] = low;
    m.extent[axis] = high - low;
    m.from[axis] = from0 + (low - first) * step;
    m.step[axis] = step;
    return high > low ? tw_move_elements(&call->out[0], &call->in[0], &m) : TW_OK;
}

static tw_status run(const tw_call *call)
{
    const tw_reverse_sequence_attributes *a =
        (const tw_reverse_sequence_attributes *)call->attributes;
    const tw_view *lengths = &call->in[1], *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank, axis = tw_axis(a->axis, rank);
    const int32_t batch = tw_axis(a->batch_axis, rank), extent = out->tensor->dim[axis];
    tw_move whole, m;
    int32_t b;
    tw_move_same(&whole, out);
    if (tw_view_count(out) == 0)
        return TW_OK;
    for (b = whole.to[batch]; b < whole.to[batch] + whole.extent[batch]; b++) {
        const int32_t at[TW_MAX_RANK] = {b};
        const char *length = tw_held(lengths, at);
        int64_t n;
        tw_status status;
        if (!length)
            return TW_E_SCHEDULE;
        n = tw_read_index(length, lengths->tensor->dtype);
        if (n < 0 || n > extent)
            return TW_E_DATA;
        m = whole;
        m.to[batch] = m.from[batch] = b;
        m.extent[batch] = 1;
        status = move_part(call, m, axis, 0, (int32_t)n, (int32_t)n - 1, -1);
        if (status == TW_OK)
            status = move_part(call, m, axis, (int32_t)n, extent, (int32_t)n, 1);
        if (status != TW_OK)
            return status;
    }
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_reverse_sequence_attributes *a =
        (const tw_reverse_sequence_attributes *)call->attributes;
    const tw_tensor *out, *lengths;
    int32_t axis, batch;
    if (tw_check_indexed(call, 2, 1, work) != TW_OK || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    out = call->out[0].tensor;
    lengths = call->in[1].tensor;
    axis = tw_axis(a->axis, (int32_t)out->rank);
    batch = tw_axis(a->batch_axis, (int32_t)out->rank);
    if (axis < 0 || batch < 0 || axis == batch || !tw_same_shape(call->in[0].tensor, out) ||
        lengths->rank != 1 || lengths->dim[0] != out->dim[batch])
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(reverse_sequence, any, run, check);
