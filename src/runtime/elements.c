/* Runs of elements: elements.h says what they are. */
#include "runtime/elements.h"

#include "runtime/move.h"

tw_status tw_elements(const tw_call *call, int32_t axis, tw_run_elements elements)
{
    const tw_view *in = &call->in[0], *out = &call->out[0];
    const uint32_t in_bytes = tw_dtype_bytes(in->tensor->dtype);
    const uint32_t out_bytes = tw_dtype_bytes(out->tensor->dtype);
    int32_t first[TW_MAX_RANK] = {0}, k, marked = -1;
    tw_line run;
    tw_walk w;
    if (in->axis != out->axis || !tw_holds(in, out->row, out->rows))
        return TW_E_SCHEDULE;
    first[out->axis] = out->row;
    tw_walk_begin(&w, out->data, tw_element(in, first));
    for (k = 0; k < (int32_t)out->tensor->rank; k++) {
        const int32_t loops = w.rank;
        if (k == axis)
            w.closed = w.rank; /* a loop of its own */
        tw_walk_axis(&w, k == out->axis ? out->rows : out->tensor->dim[k],
                     tw_step(out->tensor->stride[k], out_bytes),
                     tw_step(in->tensor->stride[k], in_bytes));
        if (k == axis) {
            w.closed = w.rank;
            marked = w.rank > loops ? loops : -1;
        }
    }
    if (!tw_walk_open(&w))
        return TW_OK;
    k = w.rank - 1;
    run.to_step = w.to_step[k];
    run.from_step = w.from_step[k];
    run.n = w.extent[k];
    run.channel_step = marked == k ? 1 : 0;
    do {
        run.to = w.to;
        run.from = w.from;
        run.channel =
            (axis >= 0 ? first[axis] : 0) + (marked >= 0 && marked < k ? w.index[marked] : 0);
        elements(call, &run);
    } while (tw_walk_next(&w, k));
    return TW_OK;
}

tw_status tw_check_elements(const tw_call *call, uint64_t *work)
{
    if (call->in_count != 1 || call->out_count != 1 || !call->in[0].tensor ||
        !call->out[0].tensor || !tw_same_shape(call->in[0].tensor, call->out[0].tensor))
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(call->out[0].tensor);
    return TW_OK;
}

int tw_integer_limits(uint32_t dtype, int32_t *low, int32_t *high)
{
    switch (dtype) {
    case TW_S8: *low = INT8_MIN, *high = INT8_MAX; return 1;
    case TW_U8: *low = 0, *high = UINT8_MAX; return 1;
    case TW_S16: *low = INT16_MIN, *high = INT16_MAX; return 1;
    case TW_U16: *low = 0, *high = UINT16_MAX; return 1;
    case TW_S32: *low = INT32_MIN, *high = INT32_MAX; return 1;
    default: return 0;
    }
}

#define TW_LOAD(type)                                                                              \
    for (i = 0; i < n; i++)                                                                        \
        to[i] = *(const type *)(const void *)(from + i * step);                                    \
    break
#define TW_STORE(type)                                                                             \
    for (i = 0; i < n; i++)                                                                        \
        *(type *)(void *)(to + i * step) = (type)from[i];                                          \
    break

void tw_load_integers(int32_t *to, const char *from, ptrdiff_t step, uint32_t dtype, int32_t n)
{
    int32_t i;
    switch (dtype) {
    case TW_S8: TW_LOAD(int8_t);
    case TW_U8: TW_LOAD(uint8_t);
    case TW_S16: TW_LOAD(int16_t);
    case TW_U16: TW_LOAD(uint16_t);
    default: TW_LOAD(int32_t);
    }
}

void tw_store_integers(char *to, ptrdiff_t step, uint32_t dtype, const int32_t *from, int32_t n)
{
    int32_t i;
    switch (dtype) {
    case TW_S8: TW_STORE(int8_t);
    case TW_U8: TW_STORE(uint8_t);
    case TW_S16: TW_STORE(int16_t);
    case TW_U16: TW_STORE(uint16_t);
    default: TW_STORE(int32_t);
    }
}
