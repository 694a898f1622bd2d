/* History: kernel. Rows move towards the front, so that the result may lie over what is kept. */
#include "ops/history.h"

#include "ops/axes.h"
#include "ops/codes.h"
#include "runtime/move.h"

/* Everything dense: a block for each index before the axis. */
static void shift_blocks(const tw_call *call, int32_t axis)
{
    const tw_tensor *t = call->out[0].tensor;
    const uint32_t element = tw_dtype_bytes(t->dtype);
    const char *kept = (const char *)call->in[0].data, *x = (const char *)call->in[1].data;
    char *out = (char *)call->out[0].data;
    size_t row = element, block, fresh, blocks = 1, i;
    int32_t k;
    for (k = axis + 1; k < (int32_t)t->rank; k++)
        row *= (size_t)t->dim[k];
    for (k = 0; k < axis; k++)
        blocks *= (size_t)t->dim[k];
    block = row * (size_t)t->dim[axis];
    fresh = row * (size_t)call->in[1].tensor->dim[axis];
    for (i = 0; i < blocks && block != 0; i++) {
        memmove(out + i * block, kept + i * block + fresh, block - fresh);
        memcpy(out + i * block + block - fresh, x + i * fresh, fresh);
    }
}

/* Any strides: row by row, so that no move reads what it writes. */
static tw_status shift_rows(const tw_call *call, int32_t axis)
{
    const tw_view *out = &call->out[0];
    const int32_t all = out->tensor->dim[axis], fresh = call->in[1].tensor->dim[axis];
    tw_move m;
    tw_status status = TW_OK;
    int32_t i;
    tw_move_same(&m, out);
    m.extent[axis] = 1;
    for (i = 0; i < all - fresh && status == TW_OK; i++) {
        m.to[axis] = i;
        m.from[axis] = i + fresh;
        status = tw_move_elements(out, &call->in[0], &m);
    }
    m.to[axis] = all - fresh;
    m.from[axis] = 0;
    m.extent[axis] = fresh;
    return status == TW_OK ? tw_move_elements(out, &call->in[1], &m) : status;
}

static int is_whole(const tw_view *v)
{
    return v->tensor->rank == 0 || (v->row == 0 && v->rows == v->tensor->dim[v->axis]);
}

static tw_status run(const tw_call *call)
{
    const tw_history_attributes *a = (const tw_history_attributes *)call->attributes;
    const tw_view *kept = &call->in[0], *x = &call->in[1], *out = &call->out[0];
    const int32_t axis = tw_axis(a->axis, (int32_t)out->tensor->rank);
    if (!is_whole(kept) || !is_whole(x) || !is_whole(out))
        return TW_E_SCHEDULE;
    if (!tw_is_dense(kept->tensor) || !tw_is_dense(x->tensor) || !tw_is_dense(out->tensor))
        return shift_rows(call, axis);
    shift_blocks(call, axis);
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_history_attributes *a = (const tw_history_attributes *)call->attributes;
    const tw_tensor *x, *out;
    int32_t axis, k;
    const tw_status status = tw_check_move(call, 2, 2, work);
    if (status != TW_OK || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    x = call->in[1].tensor;
    out = call->out[0].tensor;
    axis = tw_axis(a->axis, (int32_t)out->rank);
    if (axis < 0 || !tw_same_shape(call->in[0].tensor, out) || x->rank != out->rank)
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)out->rank; k++)
        if (k == axis ? x->dim[k] > out->dim[k] : x->dim[k] != out->dim[k])
            return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(history, any, run, check);
