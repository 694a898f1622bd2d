/* Padding with a constant by CMSIS-NN, elements of one byte. A band is a tensor of its own: fewer rows, and
 * padding only where the whole has it. */
#include "backends/cmsis_nn/library.h"
#include "ops/pad.h"

enum { AXES = 4 };

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_pad_attributes *a = (const tw_pad_attributes *)call->attributes;
    const tw_tensor *x;
    int i;
    if (tw_k_pad_any.check(call, work) != TW_OK || a->mode != TW_PAD_CONSTANT)
        return TW_E_CHECK;
    x = call->in[0].tensor;
    if (tw_dtype_bytes(x->dtype) != 1 || x->rank < 1 || x->rank > AXES || !tw_is_dense(x) ||
        !tw_is_dense(call->out[0].tensor))
        return TW_E_CHECK;
    for (i = 0; i < (int)x->rank; i++)
        if (x->dim[i] < 1)
            return TW_E_CHECK;
    return TW_OK;
}

static cmsis_nn_dims dims_of(const int32_t v[AXES])
{
    return tw_cmsis_nn_dims(v[0], v[1], v[2], v[3]);
}

static tw_status run(const tw_call *call)
{
    const tw_pad_attributes *a = (const tw_pad_attributes *)call->attributes;
    const tw_view *x = &call->in[0], *y = &call->out[0];
    const int32_t missing = AXES - (int32_t)x->tensor->rank;
    int32_t size[AXES] = {1, 1, 1, 1}, before[AXES] = {0}, after[AXES] = {0}, k;
    const int8_t *from = (const int8_t *)x->data;
    cmsis_nn_dims in, pre, post;
    for (k = 0; k < (int32_t)x->tensor->rank; k++) {
        const int32_t n = x->tensor->dim[k], pad = tw_pad_before(a, k);
        const int32_t first = k == y->axis ? y->row : 0;
        const int32_t rows = k == y->axis ? y->rows : y->tensor->dim[k];
        /* Input rows [low, high) are in the band, at output rows [low + pad, high + pad). */
        int32_t low = first - pad < 0 ? 0 : first - pad, high = first + rows - pad;
        low = low > n ? n : low;
        high = high > n ? n : high < low ? low : high;
        if (rows < 1)
            return TW_OK;
        if (k == x->axis) {
            if (high > low && (low < x->row || high > x->row + x->rows))
                return TW_E_SCHEDULE;
            if (high > low)
                from += (ptrdiff_t)(low - x->row) * x->tensor->stride[k];
        } else if (high - low != n) {
            return TW_E_SCHEDULE; /* only the band axis is cut */
        }
        size[k + missing] = high - low;
        before[k + missing] = high > low ? low + pad - first : rows;
        after[k + missing] = rows - (high - low) - before[k + missing];
    }
    in = dims_of(size);
    pre = dims_of(before);
    post = dims_of(after);
    return tw_cmsis_nn_status(arm_pad_s8(from, (int8_t *)y->data,
                                         *(const int8_t *)call->blobs[0].data, &in, &pre, &post));
}

TW_CMSIS_NN_KERNEL(pad_bytes, run, check);
