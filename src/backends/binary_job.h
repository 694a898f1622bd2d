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

static inline int tw_native_all_rows(const tw_view *v)
{
    return v->row == 0 && (v->tensor->rank == 0 || v->rows == v->tensor->dim[v->axis]);
}

/* What tw_for_each_span does, of operands that passed the check above: the band of each is one run. */
static inline tw_status tw_native_binary_run(const tw_call *call, tw_span_function function)
{
    const tw_view *y = &call->out[0];
    const tw_tensor *t = y->tensor;
    const ptrdiff_t row_bytes = (ptrdiff_t)t->stride[y->axis] * (t->dtype == TW_S16 ? 2 : 1);
    tw_span span;
    int32_t i;
    span.call = call;
    span.out = y->data;
    span.count = y->rows;
    for (i = 0; i < (int32_t)t->rank; i++) {
        if (i < y->axis && t->dim[i] != 1 && !tw_native_all_rows(y))
            return TW_E_SCHEDULE;
        if (i != y->axis)
            span.count *= t->dim[i];
    }
    for (i = 0; i < 2; i++) {
        const tw_view *x = &call->in[i];
        int32_t first = 0;
        if (x->axis == y->axis) {
            first = x->row;
            if (first > y->row || first + x->rows < y->row + y->rows)
                return TW_E_SCHEDULE;
        } else if (!tw_native_all_rows(x)) {
            return TW_E_SCHEDULE;
        }
        span.in[i] = (const int8_t *)x->data + (y->row - first) * row_bytes;
        span.in_step[i] = 1;
    }
    return span.count > 0 ? function(&span) : TW_OK;
}

#endif
