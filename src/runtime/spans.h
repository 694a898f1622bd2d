/* Element-wise kernels' common walk: one output, up to three operands broadcast against it (right
 * aligned, extents equal or 1), any strides, any band. The walk merges axes as far as the strides
 * allow and hands the kernel one run of elements after the other. */
#ifndef TW_RUNTIME_SPANS_H
#define TW_RUNTIME_SPANS_H

#include "runtime/kernel.h"

#define TW_SPAN_INPUTS 3

/* A run of `count` elements, at least one, stored without gaps in the output. in_step: 1, or 0 where
 * the operand is one element for the whole run; always 1 where there is one operand. */
typedef struct tw_span {
    void *out;
    const void *in[TW_SPAN_INPUTS];
    int32_t in_step[TW_SPAN_INPUTS];
    int32_t count;
    const tw_call *call;
} tw_span;

typedef tw_status (*tw_span_function)(const tw_span *span);

/* Calls `function` for every run of the band that out[0] holds, operands in[0..inputs-1]. Stops at
 * the first status that is not TW_OK. TW_E_SCHEDULE where an operand lacks rows of the band. */
tw_status tw_for_each_span(const tw_call *call, uint32_t inputs, tw_span_function function);

/* For a kernel's check: the operands exist, there is one output and the operands broadcast to it.
 * *work is the output's element count. */
tw_status tw_check_spans(const tw_call *call, uint32_t inputs, uint64_t *work);

/* --- what other kernels with broadcast operands need of it --- */

/* Is every extent of the operand 1 or the output's, right aligned? */
int tw_broadcasts(const tw_tensor *operand, const tw_tensor *out);

/* Elements from one index of the output's axis k to the next; 0 where the operand is broadcast. */
int32_t tw_step_along(const tw_tensor *operand, const tw_tensor *out, int k);

/* Are the rows there that the output's band needs? Operands that do not run along the band axis
 * must be whole. */
int tw_has_rows(const tw_view *operand, const tw_view *out);

/* The operand's element that meets the first element of the output's band. */
const char *tw_span_start(const tw_view *operand, const tw_view *out);

#endif
