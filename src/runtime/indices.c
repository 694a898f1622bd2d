/* Blocks and elements found by index: indices.h says what they are. */
#include "runtime/indices.h"

#include "runtime/math.h"

/* Walk over the axes behind `lead`, on the rows that `out` holds. 0: nothing there; -1: rows missing. */
static int open_block(tw_walk *w, const tw_view *out, const int32_t *to, int32_t to_lead,
                      const tw_view *in, const int32_t *from, int32_t from_lead)
{
    const uint32_t bytes = tw_dtype_bytes(out->tensor->dtype);
    const int32_t rank = (int32_t)out->tensor->rank, skew = from_lead - to_lead;
    int32_t out_at[TW_MAX_RANK] = {0}, in_at[TW_MAX_RANK] = {0}, k;
    for (k = 0; k < to_lead; k++)
        out_at[k] = to[k];
    for (k = 0; k < from_lead; k++)
        in_at[k] = from[k];
    for (k = to_lead; k < rank; k++)
        out_at[k] = in_at[k + skew] = k == out->axis ? out->row : 0;
    if (in->tensor->rank > 0) {
        k = in->axis - skew; /* the axis of `out` that the input's band axis is */
        if (!tw_holds(in, in_at[in->axis],
                      in->axis < from_lead ? 1
                      : k == out->axis     ? out->rows
                                           : in->tensor->dim[in->axis]))
            return -1;
    }
    tw_walk_begin(w, tw_element(out, out_at), tw_element(in, in_at));
    for (k = to_lead; k < rank; k++)
        tw_walk_axis(w, k == out->axis ? out->rows : out->tensor->dim[k],
                     tw_step(out->tensor->stride[k], bytes),
                     tw_step(in->tensor->stride[k + skew], bytes));
    return tw_walk_open(w);
}

tw_status tw_move_block(const tw_view *out, const int32_t *to, int32_t to_lead, const tw_view *in,
                        const int32_t *from, int32_t from_lead)
{
    tw_walk w;
    const int opened = open_block(&w, out, to, to_lead, in, from, from_lead);
    if (opened > 0)
        tw_move_walk(&w, tw_dtype_bytes(out->tensor->dtype));
    return opened < 0 ? TW_E_SCHEDULE : TW_OK;
}

tw_status tw_combine_block(const tw_view *out, const int32_t *to, int32_t to_lead,
                           const tw_view *in, const int32_t *from, int32_t from_lead, int32_t how)
{
    tw_walk w;
    const int opened = open_block(&w, out, to, to_lead, in, from, from_lead);
    if (opened > 0)
        do
            tw_combine(w.to, w.from, out->tensor->dtype, how);
        while (tw_walk_next(&w, w.rank));
    return opened < 0 ? TW_E_SCHEDULE : TW_OK;
}

tw_status tw_begin_with(const tw_view *out, const tw_view *in)
{
    tw_move m;
    if (out->data == in->data && out->row == in->row && out->axis == in->axis &&
        tw_holds(in, out->row, out->rows) &&
        memcmp(out->tensor->stride, in->tensor->stride, sizeof out->tensor->stride) == 0)
        return TW_OK;
    tw_move_same(&m, out);
    return tw_move_elements(out, in, &m);
}

tw_status tw_check_indexed(const tw_call *call, uint32_t inputs, uint32_t index, uint64_t *work)
{
    uint32_t i;
    if (call->in_count != inputs || call->out_count != 1 || !call->out[0].tensor)
        return TW_E_CHECK;
    for (i = 0; i < inputs; i++)
        if (!call->in[i].tensor)
            return TW_E_CHECK;
    if (!tw_is_index(call->in[index].tensor) ||
        call->in[0].tensor->dtype != call->out[0].tensor->dtype)
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(call->out[0].tensor);
    return TW_OK;
}

/* --- combining ---------------------------------------------------------------------------------- */

int tw_can_combine(uint32_t dtype, int32_t how)
{
    switch (dtype) {
    case TW_F32:
    case TW_S8:
    case TW_U8:
    case TW_S16:
    case TW_U16:
    case TW_S32:
    case TW_U32:
    case TW_S64:
    case TW_U64: return how >= TW_COMBINE_NONE && how <= TW_COMBINE_MIN;
    default: return how == TW_COMBINE_NONE;
    }
}

static float combine_f32(float a, float b, int32_t how)
{
    switch (how) {
    case TW_COMBINE_ADD: return a + b;
    case TW_COMBINE_MUL: return a * b;
    case TW_COMBINE_MAX: return tw_maxf(a, b);
    default: return tw_minf(a, b);
    }
}

static uint64_t combine_unsigned(uint64_t a, uint64_t b, int32_t how)
{
    switch (how) {
    case TW_COMBINE_ADD: return a + b;
    case TW_COMBINE_MUL: return a * b;
    case TW_COMBINE_MAX: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

/* Sums and products of two's complement are those of unsigned numbers. */
static int64_t combine_signed(int64_t a, int64_t b, int32_t how)
{
    if (how == TW_COMBINE_MAX)
        return a > b ? a : b;
    if (how == TW_COMBINE_MIN)
        return a < b ? a : b;
    return (int64_t)combine_unsigned((uint64_t)a, (uint64_t)b, how);
}

#define TW_COMBINE(type, function)                                                                 \
    do {                                                                                           \
        type *t = (type *)(void *)to;                                                              \
        *t = (type)function(*t, *(const type *)(const void *)from, how);                           \
    } while (0)

void tw_combine(char *to, const char *from, uint32_t dtype, int32_t how)
{
    if (how == TW_COMBINE_NONE) {
        memcpy(to, from, tw_dtype_bytes(dtype));
        return;
    }
    switch (dtype) {
    case TW_F32: TW_COMBINE(float, combine_f32); break;
    case TW_S8: TW_COMBINE(int8_t, combine_signed); break;
    case TW_U8: TW_COMBINE(uint8_t, combine_unsigned); break;
    case TW_S16: TW_COMBINE(int16_t, combine_signed); break;
    case TW_U16: TW_COMBINE(uint16_t, combine_unsigned); break;
    case TW_S32: TW_COMBINE(int32_t, combine_signed); break;
    case TW_U32: TW_COMBINE(uint32_t, combine_unsigned); break;
    case TW_S64: TW_COMBINE(int64_t, combine_signed); break;
    default: TW_COMBINE(uint64_t, combine_unsigned); break;
    }
}
