/* Matrix product of two activations, or of an activation and a constant.
 *
 *     MatMul(a, b)   a [.., M, K]   b [.., K, N], or [.., N, K] with transpose_b   out [.., M, N]
 *
 *     out[.., m, n] = clamp(sum over k of a[.., m, k] * b[.., k, n])
 *
 * The axes before the last two broadcast as in NumPy. Float: k ascending. int8: TFLite's
 * BATCH_MATMUL, both zero points taken off, one multiplier. */
#ifndef TW_OPS_MATMUL_H
#define TW_OPS_MATMUL_H

#include "ops/attributes.h"

#define TW_MATMUL_ATTRIBUTES(A, T)                                                                 \
    A(T, BOOL, transpose_b, 0, 0, 1, "b's last two axes are N, K instead of K, N")
TW_ATTRIBUTE_STRUCT(matmul, TW_MATMUL_ATTRIBUTES);

#endif
