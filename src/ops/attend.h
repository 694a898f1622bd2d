/* Attention by query rows: scores are made a row at a time and never stand in memory all at once.
 *
 *     Attend (q, k, v, mask?)   q [B, T, H * D], k [B, S, H * D], v [B, S, H * E], out [B, T, H * E],
 *                               mask [B or 1, H or 1, T or 1, S or 1]
 *
 *     s[b, h, t, .] = q[b, t, h] . k[b, ., h] * scale (or / scale) + mask[b, h, t, .]
 *     out[b, t, h]  = softmax(s[b, h, t]) . v[b, ., h]
 *
 * Tokens come before heads, which lie side by side: query tokens are rows, what makes and follows them rolls. Every sum is that of MatMul,
 * Softmax and MatMul, term by term: the same bytes as of these three. */
#ifndef TW_OPS_ATTEND_H
#define TW_OPS_ATTEND_H

#include "ops/attributes.h"

#define TW_ATTEND_ATTRIBUTES(A, T)                                                                 \
    A(T, INT, heads, 1, 1, INT32_MAX, "H")                                                         \
    A(T, FLOAT, scale, 1, -3.4e38, 3.4e38, "of the products")                                      \
    A(T, BOOL, divide, 0, 0, 1, "products are divided by the scale")
TW_ATTRIBUTE_STRUCT(attend, TW_ATTEND_ATTRIBUTES);

enum { TW_ATTEND_Q, TW_ATTEND_K, TW_ATTEND_V, TW_ATTEND_MASK, TW_ATTEND_OPERANDS };

#endif
