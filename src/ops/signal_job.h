/* What the kernels of the audio front end share: operands are whole, and worked on vector by vector along
 * the last axis. The first input and the result may have gaps between vectors, the rest is dense.
 * Device code. */
#ifndef TW_OPS_SIGNAL_JOB_H
#define TW_OPS_SIGNAL_JOB_H

#include "ops/product.h"
#include "ops/signal.h"

/* Elements of the last axis, and vectors. */
static inline int32_t tw_signal_length(const tw_tensor *t)
{
    return t->dim[t->rank - 1];
}

static inline int32_t tw_signal_vectors(const tw_tensor *t)
{
    const int32_t n = tw_signal_length(t);
    return n ? (int32_t)(tw_element_count(t) / n) : 0;
}

/* Elements from the start to vector v. */
static inline ptrdiff_t tw_signal_at(const tw_tensor *t, int32_t v)
{
    ptrdiff_t at = 0;
    int i;
    for (i = (int)t->rank - 2; i >= 0; i--) {
        at += tw_steps(v % t->dim[i], t->stride[i]);
        v /= t->dim[i];
    }
    return at;
}

/* Present, dense, of this type and of rank 1 or more. */
static inline int tw_signal_is(const tw_view *v, uint32_t dtype)
{
    return tw_extents_check(v, dtype, 1, TW_MAX_RANK) && tw_is_dense(v->tensor);
}

/* Alike in all axes but the last? */
static inline int tw_signal_alike(const tw_tensor *a, const tw_tensor *b)
{
    int i;
    if (a->rank != b->rank)
        return 0;
    for (i = 0; i < (int)a->rank - 1; i++)
        if (a->dim[i] != b->dim[i])
            return 0;
    return 1;
}

/* Is every operand there as a whole? */
int tw_signal_is_whole(const tw_call *call);

/* One input and one output of these types, alike but for the last axis, and so many inputs and outputs
 * in all, with attributes of so many bytes. *work: the output's elements. */
int tw_signal_check(const tw_call *call, uint32_t in, uint32_t out, uint32_t ins, uint32_t outs,
                    uint32_t bytes, uint64_t *work);

/* Significant bits of x; 0 for 0. */
static inline int32_t tw_signal_bits(uint32_t x)
{
    return x ? 32 - __builtin_clz(x) : 0;
}

#endif
