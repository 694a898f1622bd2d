/* Fixed-point requantisation: TFLite's reference arithmetic with its double rounding.
 * Source of the formulas: the TFLite quantisation specification and gemmlowp's fixed point. */
#ifndef TW_RUNTIME_FIXED_H
#define TW_RUNTIME_FIXED_H

#include <stdint.h>

/* High 32 bits of 2 * a * b, rounded to nearest, halves up (gemmlowp's two cases for the sign of the
 * product come to this); saturates the one overflow. */
static inline int32_t tw_high_mul(int32_t a, int32_t b)
{
    if (a == b && a == INT32_MIN)
        return INT32_MAX;
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* x / 2^exponent, rounded to nearest, halves away from zero. 0 <= exponent <= 31. */
static inline int32_t tw_shift_right(int32_t x, int32_t exponent)
{
    int32_t mask = (int32_t)(((uint32_t)1 << exponent) - 1u);
    int32_t remainder = x & mask;
    int32_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
    return (x >> exponent) + (remainder > threshold ? 1 : 0);
}

/* x * multiplier * 2^(shift - 31), multiplier in [2^30, 2^31) or 0, shift in [-31, 30]. A left
 * shift wraps as the reference does; the compiler proves that it cannot. */
static inline int32_t tw_requantize(int32_t x, int32_t multiplier, int32_t shift)
{
    int32_t left = shift > 0 ? shift : 0;
    int32_t right = shift > 0 ? 0 : -shift;
    int32_t shifted = (int32_t)((uint32_t)x << left);
    return tw_shift_right(tw_high_mul(shifted, multiplier), right);
}

/* The same for a sum of 64 bits: the multiplier is rounded to 16 bits first, the product once.
 * |x| < 2^47 and shift <= 14, else bits are lost. */
static inline int32_t tw_requantize_wide(int64_t x, int32_t multiplier, int32_t shift)
{
    int64_t rough = multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
    int32_t right = 15 - shift;
    uint64_t product = (uint64_t)x * (uint64_t)rough + ((uint64_t)1 << (right - 1));
    return (int32_t)((int64_t)product >> right);
}

/* The same where multiplier >= 0 and shift < 0, in fewer instructions: a negative number less one unit
 * rounds halves up to where they are away from zero. */
static inline int32_t tw_requantize_down(int32_t x, int32_t multiplier, int32_t shift)
{
    const int32_t v = (int32_t)(((int64_t)x * multiplier + ((int64_t)1 << 30)) >> 31);
    return (((v + (v >> 31)) >> (-shift - 1)) + 1) >> 1;
}

/* x * 2^shift, saturating. 0 <= shift <= 30. */
static inline int32_t tw_saturating_left(int32_t x, int32_t shift)
{
    int32_t most = INT32_MAX >> shift;
    return x > most ? INT32_MAX : x < -most - 1 ? INT32_MIN : x * (1 << shift);
}

/* 1 / (1 + x), 0 <= x < 1, with 31 fraction bits: three Newton steps, as gemmlowp rounds them. */
static inline int32_t tw_reciprocal(int32_t x)
{
    int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2); /* (1 + x) / 2 */
    int32_t y = 1515870810 + tw_high_mul(half, -1010580540);    /* 48/17 - 32/17 * half */
    for (int i = 0; i < 3; i++) {                               /* 29 fraction bits */
        int32_t rest = (1 << 29) - tw_high_mul(half, y);
        y += tw_saturating_left(tw_high_mul(y, rest), 2);
    }
    return tw_saturating_left(y, 1);
}

static inline int32_t tw_clamp_s32(int32_t x, int32_t low, int32_t high)
{
    return x < low ? low : (x > high ? high : x);
}

#endif
