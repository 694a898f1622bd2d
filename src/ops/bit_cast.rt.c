/* BitCast: kernel. */
#include "ops/bit_cast.h"

#include "ops/codes.h"
#include "runtime/indices.h"

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *out = &call->out[0];
    const int32_t x_rank = (int32_t)x->tensor->rank, out_rank = (int32_t)out->tensor->rank;
    const int32_t rank = x_rank < out_rank ? x_rank : out_rank, last = rank;
    const uint32_t from_bytes = tw_dtype_bytes(x->tensor->dtype);
    const uint32_t to_bytes = tw_dtype_bytes(out->tensor->dtype);
    const uint32_t bytes = from_bytes < to_bytes ? from_bytes : to_bytes;
    int32_t first = 0, end = 1, k;
    tw_box box;
    if (!tw_box_of(&box, out, out_rank))
        return TW_OK;
    if (out_rank > rank) { /* parts of an element: those in the band */
        first = box.low[last];
        end = box.high[last];
    } else if (x_rank > rank) {
        end = x->tensor->dim[last];
        if (x->axis == last && !tw_holds(x, 0, end))
            return TW_E_SCHEDULE;
    }
    box.rank = rank;
    do {
        const char *from;
        char *to;
        int32_t at[TW_MAX_RANK];
        memcpy(at, box.index, sizeof at);
        if (rank < TW_MAX_RANK)
            at[last] = out_rank > rank ? first : 0;
        to = tw_element(out, at);
        if (rank < TW_MAX_RANK)
            at[last] = 0;
        if (x_rank > 0 && x->axis < rank && !tw_holds(x, at[x->axis], 1))
            return TW_E_SCHEDULE;
        from = tw_element(x, at);
        for (k = first; k < end; k++) {
            const ptrdiff_t to_at = out_rank > rank
                                        ? (k - first) * tw_step(out->tensor->stride[last], to_bytes)
                                        : (ptrdiff_t)k * (ptrdiff_t)bytes;
            const ptrdiff_t from_at = x_rank > rank
                                          ? k * tw_step(x->tensor->stride[last], from_bytes)
                                          : (ptrdiff_t)k * (ptrdiff_t)bytes;
            memmove(to + to_at, from + from_at, bytes);
        }
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_bit_cast_attributes *a = (const tw_bit_cast_attributes *)call->attributes;
    const tw_tensor *x, *out, *wide, *narrow;
    uint32_t wide_bytes, narrow_bytes;
    int32_t k;
    if (call->in_count != 1 || call->out_count != 1 || !call->in[0].tensor ||
        !call->out[0].tensor || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    x = call->in[0].tensor;
    out = call->out[0].tensor;
    if ((uint32_t)a->dtype != out->dtype)
        return TW_E_CHECK;
    wide = tw_dtype_bytes(x->dtype) > tw_dtype_bytes(out->dtype) ? x : out;
    narrow = wide == x ? out : x;
    wide_bytes = tw_dtype_bytes(wide->dtype);
    narrow_bytes = tw_dtype_bytes(narrow->dtype);
    for (k = 0; k < (int32_t)wide->rank; k++)
        if (wide->dim[k] != narrow->dim[k])
            return TW_E_CHECK;
    if (narrow->rank != wide->rank + (wide_bytes > narrow_bytes) ||
        (wide_bytes > narrow_bytes &&
         narrow->dim[wide->rank] != (int32_t)(wide_bytes / narrow_bytes)))
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(narrow);
    return TW_OK;
}

TW_KERNEL(bit_cast, any, run, check);
