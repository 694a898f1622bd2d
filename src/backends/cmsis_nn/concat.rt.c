/* Joining by CMSIS-NN, elements of one byte: each input's part of every row of the output. */
#include "backends/cmsis_nn/library.h"
#include "ops/axes.h"
#include "ops/concat.h"

/* Elements behind an axis. */
static int64_t behind(const tw_tensor *t, int32_t axis)
{
    int64_t n = 1;
    int32_t k;
    for (k = axis + 1; k < (int32_t)t->rank; k++)
        n *= t->dim[k];
    return n;
}

static int32_t axis_of(const tw_call *call)
{
    const tw_concat_attributes *a = (const tw_concat_attributes *)call->attributes;
    return tw_axis(a->axis, (int32_t)call->out[0].tensor->rank);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *y;
    uint32_t i;
    if (tw_k_concat_any.check(call, work) != TW_OK)
        return TW_E_CHECK;
    y = call->out[0].tensor;
    if (call->in_count < 2 || tw_dtype_bytes(y->dtype) != 1 || !tw_is_dense(y) ||
        behind(y, axis_of(call)) * y->dim[axis_of(call)] > UINT16_MAX)
        return TW_E_CHECK;
    for (i = 0; i < call->in_count; i++)
        if (!tw_is_dense(call->in[i].tensor))
            return TW_E_CHECK;
    return TW_OK;
}

/* The band axis is the one along which parts are joined: nothing is in front of it. */
static tw_status join_rows(const tw_call *call, int32_t axis)
{
    const tw_view *y = &call->out[0];
    const int64_t each = behind(y->tensor, axis);
    int32_t start = 0;
    uint32_t i;
    for (i = 0; i < call->in_count; i++) {
        const tw_view *x = &call->in[i];
        const int32_t end = start + x->tensor->dim[axis];
        const int32_t low = start > y->row ? start : y->row;
        const int32_t high = end < y->row + y->rows ? end : y->row + y->rows;
        if (high > low) {
            if (x->axis != axis || low - start < x->row || high - start > x->row + x->rows)
                return TW_E_SCHEDULE;
            arm_concatenation_s8_w((const int8_t *)x->data + (low - start - x->row) * each,
                                   (uint16_t)each, 1, 1, (uint16_t)(high - low), (int8_t *)y->data,
                                   (uint32_t)(low - y->row));
        }
        start = end;
    }
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    const tw_view *y = &call->out[0];
    const int32_t axis = axis_of(call);
    const int64_t row = behind(y->tensor, axis) * y->tensor->dim[axis];
    const int64_t rows = row ? tw_view_count(y) / row : 0;
    uint32_t i, offset = 0;
    if (y->axis == axis)
        return join_rows(call, axis);
    if (y->axis > axis || rows > INT32_MAX)
        return TW_E_SCHEDULE; /* the joined axis would have to be 1 long */
    for (i = 0; i < call->in_count; i++) {
        const tw_view *x = &call->in[i];
        const uint32_t part = (uint32_t)(behind(x->tensor, axis) * x->tensor->dim[axis]);
        const int32_t skip = y->row - x->row;
        int32_t done, n;
        const int8_t *from = (const int8_t *)x->data;
        if (x->axis != y->axis || skip < 0 || x->row + x->rows < y->row + y->rows)
            return TW_E_SCHEDULE;
        from += (ptrdiff_t)skip * x->tensor->stride[x->axis];
        for (done = 0; done < rows; done += n) { /* counts are of 16 bits */
            n = rows - done < UINT16_MAX ? (int32_t)rows - done : (int32_t)UINT16_MAX;
            arm_concatenation_s8_x(
                from + (ptrdiff_t)done * (ptrdiff_t)part, (uint16_t)part, (uint16_t)n, 1, 1,
                (int8_t *)y->data + (ptrdiff_t)done * (ptrdiff_t)row, (uint16_t)row, offset);
        }
        offset += part;
    }
    return TW_OK;
}

TW_CMSIS_NN_KERNEL(concat_bytes, run, check);
