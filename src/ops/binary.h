/* The binary family: what its rows (binary.def) have in common. out[i] = f(a[i], b[i]), operands
 * broadcast against each other.
 *
 * int8: sa, sb, so are the scales, qa, qb the stored values less their zero points.
 *
 *     SUM, compare   a = qa * 2^20 * sa / twice, b = qb * 2^20 * sb / twice, twice = 2 * max(sa, sb);
 *                    result f(a, b) * twice / (2^20 * so)
 *     SQUARE         the same with 2^7, result f(a, b) * twice^2 / (2^14 * so)
 *     PRODUCT        qa * qb * (sa * sb / so)
 *     QUOTIENT       qa / qb * (sa / (sb * so)), by a reciprocal of 31 bits; x / 0 saturates, 0 / 0
 *                    is 0
 *     SLOPE          qa >= 0: qa * (sa / so), else qa * qb * (sa * sb / so)
 *     REAL           round(f(sa * qa, sb * qb) * (1 / so)) in float32, halves away from zero
 *
 * Each multiplication with a scale is tw_requantize: these are TFLite's reference kernels, bit for
 * bit; where those demand equal scales (Max, Min, compare) other scales work too.
 *
 * int16, without zero points: the same, with 2^15 instead of 2^20 and 2^0 instead of 2^7. */
#ifndef TW_OPS_BINARY_H
#define TW_OPS_BINARY_H

#include <stdint.h>

/* Blob 0 of the int8 and int16 kernels other than REAL's. Unused fields are 0. */
typedef struct tw_binary_scales {
    int32_t left; /* bits by which operands are shifted before they are rescaled */
    int32_t a_multiplier, a_shift;
    int32_t b_multiplier, b_shift;
    int32_t out_multiplier, out_shift;
} tw_binary_scales;

#endif
