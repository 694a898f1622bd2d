/* What the functions of math.h do with the bits of a number. */
#ifndef TW_RUNTIME_MANTISSA_H
#define TW_RUNTIME_MANTISSA_H

#include "runtime/math.h"

/* Of 64 bits; 63 for 0. */
static inline int tw_leading_zeros(uint64_t x)
{
    int n = 0;
    for (int step = 32; step > 0; step /= 2)
        if (x >> (64 - step) == 0) {
            n += step;
            x <<= step;
        }
    return n;
}

/* 24-bit mantissa of a positive finite x: x = mantissa * 2^exponent. */
static inline uint32_t tw_mantissa_of(float x, int32_t *exponent)
{
    uint32_t bits = tw_bits_of(x), mantissa = bits & 0x7FFFFFu;
    *exponent = (int32_t)(bits >> 23) - 150;
    if (bits >= 0x800000u)
        return mantissa | 0x800000u;
    int shift = tw_leading_zeros(mantissa) - 40;
    *exponent = -149 - shift;
    return mantissa << shift;
}

#endif
