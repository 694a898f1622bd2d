/* Slice: out[i] = x[begin + i * step] on every axis. */
#ifndef TW_OPS_SLICE_H
#define TW_OPS_SLICE_H

#include "ops/attributes.h"

#define TW_SLICE_ATTRIBUTES(A, T)                                                                  \
    A(T, INTS, begin, 0, 0, INT32_MAX,                                                             \
      "first index on each axis; empty: the first, or the last "                                   \
      "where the step is negative")                                                                \
    A(T, INTS, size, 0, 0, INT32_MAX, "elements taken on each axis; empty: all up to the end")     \
    A(T, INTS, step, 0, -INT32_MAX, INT32_MAX, "from one index to the next, not 0; empty: 1")
TW_ATTRIBUTE_STRUCT(slice, TW_SLICE_ATTRIBUTES);

/* What is taken on one axis. */
typedef struct tw_slice_axis {
    int32_t begin, size, step;
} tw_slice_axis;

/* Axis k of `dim` elements in a tensor of `rank`; 0 when the slice leaves it. */
static inline int tw_slice_resolve(const tw_slice_attributes *a, int32_t rank, int32_t k,
                                   int32_t dim, tw_slice_axis *s)
{
    int64_t last;
    if ((a->begin.count != 0 && a->begin.count != rank) ||
        (a->size.count != 0 && a->size.count != rank) ||
        (a->step.count != 0 && a->step.count != rank))
        return 0;
    s->step = a->step.count != 0 ? a->step.v[k] : 1;
    s->begin = a->begin.count != 0 ? a->begin.v[k] : s->step < 0 && dim > 0 ? dim - 1 : 0;
    if (s->step == 0 || s->begin < 0 || dim < 0)
        return 0;
    if (a->size.count != 0)
        s->size = a->size.v[k];
    else if (s->begin >= dim)
        s->size = 0;
    else
        s->size = 1 + (s->step < 0 ? (int32_t)(s->begin / -(int64_t)s->step)
                                   : (dim - 1 - s->begin) / s->step);
    if (s->size <= 0)
        return s->size == 0;
    last = s->begin + (int64_t)(s->size - 1) * s->step;
    if (s->size == 1)
        s->step = 1;
    return s->begin < dim && last >= 0 && last < dim;
}

#endif
