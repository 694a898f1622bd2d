/* Lrn, local response normalisation: out[i] = x[i] / (bias + alpha * sum of x[j] * x[j])^beta, j in a
 * window of `size` around i along one axis, (size - 1) / 2 of them before it, cut off at the ends. */
#ifndef TW_OPS_LRN_H
#define TW_OPS_LRN_H

#include "ops/attributes.h"

#define TW_LRN_ATTRIBUTES(A, T)                                                                    \
    A(T, INT, axis, -1, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis along which the window runs")         \
    A(T, INT, size, 1, 1, INT32_MAX, "elements of the window")                                     \
    A(T, FLOAT, alpha, 1e-4, -1e30, 1e30, "factor of the sum (not divided by size)")               \
    A(T, FLOAT, beta, 0.75, -1e30, 1e30, "exponent")                                               \
    A(T, FLOAT, bias, 1, -1e30, 1e30, "added to the sum")
TW_ATTRIBUTE_STRUCT(lrn, TW_LRN_ATTRIBUTES);

/* Elements under the windows of a lane of n elements. */
static inline uint64_t tw_lrn_reads(int32_t size, int32_t n)
{
    return (uint64_t)n * (uint64_t)(size < n ? size : n);
}

#endif
