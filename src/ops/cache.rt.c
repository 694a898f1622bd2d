/* Advance and Append: kernels. */
#include "ops/cache.h"

#include "ops/codes.h"
#include "ops/whole.h"
#include "runtime/move.h"

static int is_number(const tw_view *v)
{
    return tw_is_plain(v, TW_S32, 1) && v->tensor->dim[0] == 1;
}

static int32_t number_of(const tw_view *v)
{
    return *(const int32_t *)v->data;
}

/* ---- Advance ---- */

static tw_status advance_run(const tw_call *call)
{
    const tw_advance_attributes *a = (const tw_advance_attributes *)call->attributes;
    const tw_view *counted = tw_given(call, 1);
    int32_t at, count = a->tokens;
    if (!tw_is_present(&call->in[0]) || !tw_is_present(&call->out[0]) ||
        (counted && !tw_is_present(counted)))
        return TW_E_SCHEDULE;
    at = number_of(&call->in[0]);
    if (counted)
        count = number_of(counted);
    if (count < 0 || count > a->tokens || at < 0 || at > a->limit - count)
        return TW_E_DATA;
    *(int32_t *)call->out[0].data = at + count;
    return TW_OK;
}

static tw_status advance_check(const tw_call *call, uint64_t *work)
{
    const tw_advance_attributes *a = (const tw_advance_attributes *)call->attributes;
    if (call->in_count < 1 || call->in_count > 2 || call->out_count != 1 ||
        call->attribute_bytes != sizeof *a || !is_number(&call->in[0]) ||
        !is_number(&call->out[0]) || (tw_given(call, 1) && !is_number(&call->in[1])) ||
        a->tokens < 0 || a->limit < 0)
        return TW_E_CHECK;
    *work = 1;
    return TW_OK;
}

TW_KERNEL(advance, s32, advance_run, advance_check);

/* ---- Append ---- */

/* Rows [from, from + count) of x become rows [to, ..) of the output, of the heads that are here. */
static tw_status put_rows(const tw_call *call, int32_t from, int32_t to, int32_t count)
{
    tw_move m;
    tw_move_same(&m, &call->out[0]);
    m.extent[2] = count;
    m.from[2] = from;
    m.to[2] = to;
    return count > 0 ? tw_move_elements(&call->out[0], &call->in[TW_APPEND_X], &m) : TW_OK;
}

static tw_status append_run(const tw_call *call)
{
    const tw_append_attributes *a = (const tw_append_attributes *)call->attributes;
    const tw_view *counted = tw_given(call, TW_APPEND_COUNT), *out = &call->out[0];
    const int32_t rows = out->tensor->dim[2];
    int32_t at, count = call->in[TW_APPEND_X].tensor->dim[2], first;
    tw_status status;
    tw_move same;
    if (!tw_is_present(&call->in[TW_APPEND_POSITION]) || (counted && !tw_is_present(counted)) ||
        (out->axis == 2 && !tw_is_present(out)))
        return TW_E_SCHEDULE;
    at = number_of(&call->in[TW_APPEND_POSITION]);
    if (counted) {
        if (number_of(counted) < 0 || number_of(counted) > count)
            return TW_E_DATA;
        count = number_of(counted);
    }
    if (at < 0 || (!a->ring && at > rows - count))
        return TW_E_DATA;
    tw_move_same(&same, out);
    status = tw_move_elements(out, &call->in[TW_APPEND_CACHE], &same);
    if (status != TW_OK || rows == 0)
        return status;
    at %= rows; /* of a cache that is no ring, it is below already, or nothing comes */
    first = count < rows - at ? count : rows - at;
    status = put_rows(call, 0, at, first);
    return status == TW_OK ? put_rows(call, first, 0, count - first) : status;
}

static tw_status append_check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *cache, *x, *out;
    if (call->in_count < 3 || call->in_count > TW_APPEND_OPERANDS || call->out_count != 1 ||
        call->attribute_bytes != sizeof(tw_append_attributes) || !tw_given(call, TW_APPEND_CACHE) ||
        !tw_given(call, TW_APPEND_X) || !call->out[0].tensor ||
        !is_number(&call->in[TW_APPEND_POSITION]) ||
        (tw_given(call, TW_APPEND_COUNT) && !is_number(&call->in[TW_APPEND_COUNT])))
        return TW_E_CHECK;
    cache = call->in[TW_APPEND_CACHE].tensor;
    x = call->in[TW_APPEND_X].tensor;
    out = call->out[0].tensor;
    if (out->rank != 4 || x->rank != 4 || !tw_same_shape(cache, out) ||
        cache->dtype != out->dtype || x->dtype != out->dtype || tw_dtype_bytes(out->dtype) == 0 ||
        x->dim[0] != out->dim[0] || x->dim[1] != out->dim[1] || x->dim[2] > out->dim[2] ||
        x->dim[3] != out->dim[3])
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(x);
    return TW_OK;
}

TW_KERNEL(append, any, append_run, append_check);
