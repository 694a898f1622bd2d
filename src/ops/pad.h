/* Pad: out[i] = x[i - before] on every axis; elements outside x by the mode. */
#ifndef TW_OPS_PAD_H
#define TW_OPS_PAD_H

#include "ops/attributes.h"

enum {
    TW_PAD_CONSTANT = 0,  /* value */
    TW_PAD_REFLECT = 1,   /* mirrored about the first and last element: 3 2 | 1 2 3 | 2 1 */
    TW_PAD_EDGE = 2,      /* the first or last element */
    TW_PAD_WRAP = 3,      /* from the other end */
    TW_PAD_SYMMETRIC = 4, /* mirrored about the borders: 2 1 | 1 2 3 | 3 2 */
    TW_PAD_MODES = 5
};

#define TW_PAD_ATTRIBUTES(A, T)                                                                    \
    A(T, INTS, before, 0, 0, INT32_MAX, "elements added before each axis; empty: none")            \
    A(T, INTS, after, 0, 0, INT32_MAX, "elements added behind each axis; empty: none")             \
    A(T, ENUM, mode, 0, 0, TW_PAD_MODES - 1,                                                       \
      "constant|reflect|edge|wrap|symmetric: what the added elements are")                         \
    A(T, FLOAT, value, 0, -INFINITY, INFINITY,                                                     \
      "of constant: the real value, quantised where the tensor is")
TW_ATTRIBUTE_STRUCT(pad, TW_PAD_ATTRIBUTES);

static inline int32_t tw_pad_before(const tw_pad_attributes *a, int32_t k)
{
    return k < a->before.count ? a->before.v[k] : 0;
}

static inline int32_t tw_pad_after(const tw_pad_attributes *a, int32_t k)
{
    return k < a->after.count ? a->after.v[k] : 0;
}

/* Where position i of an axis of n elements is taken from, i from -before to n + after - 1; -1: the
 * constant. Mirrors repeat as often as the pads need. */
static inline int32_t tw_pad_source(int32_t mode, int32_t i, int32_t n)
{
    int64_t period, at;
    if (i >= 0 && i < n)
        return i;
    if (mode == TW_PAD_CONSTANT || n <= 0)
        return -1;
    if (mode == TW_PAD_EDGE || n == 1)
        return i < 0 ? 0 : n - 1;
    period = mode == TW_PAD_WRAP ? n : mode == TW_PAD_REFLECT ? 2 * (int64_t)n - 2 : 2 * (int64_t)n;
    at = i % period;
    if (at < 0)
        at += period;
    if (at >= n)
        at = mode == TW_PAD_REFLECT ? period - at : period - 1 - at;
    return (int32_t)at;
}

#endif
