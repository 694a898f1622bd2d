/* Softmax: out[i] = exp(beta * x[i]) / sum over j of exp(beta * x[j]), i and j along one axis. */
#ifndef TW_OPS_SOFTMAX_H
#define TW_OPS_SOFTMAX_H

#include "ops/attributes.h"

#define TW_SOFTMAX_ATTRIBUTES(A, T)                                                                \
    A(T, INT, axis, -1, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis whose elements sum to 1")             \
    A(T, FLOAT, beta, 1, 0, 1e6, "factor of x before the exponential")                             \
    A(T, DTYPE, dtype, 0, 0, TW_F64, "type of the result, s16 for an int8 x; none: the type of x")
TW_ATTRIBUTE_STRUCT(softmax, TW_SOFTMAX_ATTRIBUTES);

/* int8. exp[d]: exp(-d * scale * beta) with 31 fractional bits, for an element d steps below the
 * largest; [0] is INT32_MAX. Output of scale 1/256, or 1/65536 where it is s16: multiplier 0,
 * TFLite's rounding. Of another: probabilities are rounded to 16 fractional bits first, and then
 * scaled. */
typedef struct tw_softmax_table {
    int32_t exp[256];
    int32_t multiplier, shift;
} tw_softmax_table;

/* So long that the sum, kept with 19 fractional bits, fits 32 bits. */
#define TW_SOFTMAX_S8_LONGEST 8191

/* int16. The multiplier takes a difference below the largest element to 65535ths of 10; `exp` is e^x
 * from x = -10 to 0, `reciprocal` 1 / (1 + x) from 0 to 1, both with 15 fractional bits, and straight
 * lines between their values (tw_lut_between). */
typedef struct tw_softmax_s16 {
    int32_t multiplier, shift;
    int16_t exp[513], reciprocal[513];
} tw_softmax_s16;

/* So long that the sum, kept with 15 fractional bits, fits 31 bits. */
#define TW_SOFTMAX_S16_LONGEST 65535

#endif
