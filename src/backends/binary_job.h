/* What the adapters of element-wise operators share, of every library. Device code. */
#ifndef TW_BACKENDS_BINARY_JOB_H
#define TW_BACKENDS_BINARY_JOB_H

#include "backends/bounds.h"
#include "ops/binary.h"
#include "runtime/spans.h"

/* int8 or int16 operands (`dtype`) of the output's shape, all dense, sound zero points, bounds and
 * scales. */
static inline int tw_native_binary_check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    const int32_t least = dtype == TW_S8 ? INT8_MIN : 0; /* int16 has no zero points */
    const tw_binary_scales *scales;
    int32_t i;
    if (call->in_count != 2 || tw_check_spans(call, 2, work) != TW_OK || call->blob_count != 1 ||
        call->blobs[0].bytes != sizeof *scales || !tw_native_bounded(call, dtype))
        return 0;
    for (i = 0; i < 3; i++) {
        const tw_tensor *t = i < 2 ? call->in[i].tensor : call->out[0].tensor;
        if (t->dtype != dtype || !tw_is_dense(t) || t->zero_point < least ||
            t->zero_point > (least ? -1 - least : 0) || !tw_same_shape(t, call->out[0].tensor))
            return 0;
    }
    scales = (const tw_binary_scales *)call->blobs[0].data;
    return scales->left >= 0 && scales->left <= (dtype == TW_S8 ? 20 : 15) &&
           scales->a_shift >= -31 && scales->a_shift <= 0 && scales->b_shift >= -31 &&
           scales->b_shift <= 0 && scales->out_shift >= -31 && scales->out_shift <= 14;
}

static inline const tw_binary_scales *tw_native_binary_scales(const tw_call *call)
{
    return (const tw_binary_scales *)call->blobs[0].data;
}

#endif
