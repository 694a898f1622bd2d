/* Lut's kernel. The table is in[1] where there is one, else blob 0. */
#include "ops/lut.h"

#include "ops/codes.h"
#include "runtime/spans.h"

static const uint8_t *table_of(const tw_call *call)
{
    return (const uint8_t *)(call->in_count == 2 ? call->in[1].data : call->blobs[0].data);
}

static tw_status span(const tw_span *s)
{
    const uint8_t *table = table_of(s->call), *in = (const uint8_t *)s->in[0];
    uint8_t *out = (uint8_t *)s->out;
    for (int32_t i = 0; i < s->count; i++)
        out[i] = table[in[i]];
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    if (call->in_count == 2 && (call->in[1].row != 0 || call->in[1].rows != TW_LUT_SIZE))
        return TW_E_SCHEDULE;
    return tw_for_each_span(call, 1, span);
}

static int has_table(const tw_call *call)
{
    if (call->in_count == 1)
        return call->blob_count == 1 && call->blobs[0].bytes == TW_LUT_SIZE;
    const tw_tensor *t = call->in_count == 2 ? call->in[1].tensor : NULL;
    return t && t->rank == 1 && t->dim[0] == TW_LUT_SIZE && t->stride[0] == 1 && t->window == 0 &&
           tw_dtype_bytes(t->dtype) == 1;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_check_spans(call, 1, work);
    if (status != TW_OK || !has_table(call) ||
        !tw_same_shape(call->in[0].tensor, call->out[0].tensor) ||
        tw_dtype_bytes(call->in[0].tensor->dtype) != 1 ||
        tw_dtype_bytes(call->out[0].tensor->dtype) != 1)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL_BLOCKS(lut, s8, run, check);
