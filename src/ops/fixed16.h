/* Logistic function and hyperbolic tangent in the 16-bit fixed point of gemmlowp, which TFLite's integer
 * LSTM uses where it has more than plain gates. A number with b integer bits has 15 - b fraction bits.
 * Device code. */
#ifndef TW_OPS_FIXED16_H
#define TW_OPS_FIXED16_H

#include "runtime/fixed.h"

static inline int32_t tw_hold16(int32_t x)
{
    return tw_clamp_s32(x, INT16_MIN, INT16_MAX);
}

/* High 16 bits of 2 * a * b, rounded; saturates the one overflow. */
static inline int32_t tw_high_mul16(int32_t a, int32_t b)
{
    return tw_hold16((a * b + (1 << 14)) >> 15);
}

static inline int32_t tw_left16(int32_t x, int32_t shift)
{
    return tw_hold16(x * (1 << shift));
}

/* e^x, -1/4 <= x < 0, 15 fraction bits: four terms around -1/8. */
static inline int32_t tw_exp_quarter16(int32_t x)
{
    const int32_t a = x + (1 << 12), a2 = tw_high_mul16(a, a);
    const int32_t a3 = tw_high_mul16(a2, a), a4 = tw_high_mul16(a2, a2);
    const int32_t third = tw_high_mul16((int16_t)(tw_shift_right(a4, 2) + a3), 10923);
    const int32_t terms = tw_shift_right((int16_t)(third + a2), 1);
    return tw_hold16(28918 + tw_high_mul16(28918, (int16_t)(a + terms)));
}

/* e^x, x <= 0 with `bits` integer bits, 0 to 7; the result has none. */
static inline int32_t tw_exp16(int32_t x, int32_t bits)
{
    /* e^-(2^(i - 2)) */
    static const int16_t factor[] = {25520, 19875, 12055, 4435, 600, 11, 0};
    const int32_t fraction = 15 - bits, quarter = 1 << (fraction - 2);
    const int32_t part = (x & (quarter - 1)) - quarter;
    const int32_t rest = part - x;
    int32_t y = tw_exp_quarter16(tw_left16(part, bits)), i;
    if (x == 0)
        return INT16_MAX;
    for (i = 0; i < 7 && bits > i - 2; i++)
        if (rest & (1 << (fraction + i - 2)))
            y = tw_high_mul16(y, factor[i]);
    return bits > 5 && x < -(32 << fraction) ? 0 : y;
}

/* 1 / ((1 + x) / 2), 0 <= x < 1, with two integer bits: three Newton steps. */
static inline int32_t tw_reciprocal16(int32_t x)
{
    const int32_t half = (x + INT16_MAX + 1) / 2;
    int32_t y = (int16_t)(23130 + tw_high_mul16(half, -15420)), i;
    for (i = 0; i < 3; i++) {
        const int32_t rest = (int16_t)(8192 - tw_high_mul16(half, y));
        y = (int16_t)(y + tw_left16(tw_high_mul16(y, rest), 2));
    }
    return y;
}

/* 1 / (1 + e^-x), x with three integer bits. */
static inline int32_t tw_logistic16(int32_t x)
{
    const int32_t y = tw_left16(tw_reciprocal16(tw_exp16(x > 0 ? -x : x, 3)), 1);
    return x == 0 ? 1 << 14 : x > 0 ? y : INT16_MAX - y;
}

/* tanh x, x with `bits` integer bits, 0 to 6. */
static inline int32_t tw_tanh16(int32_t x, int32_t bits)
{
    const int32_t e = tw_exp16(x > 0 ? -x : x, bits + 1);
    const int32_t y = tw_left16((int16_t)(tw_reciprocal16(e) - 8192), 2);
    return x == 0 ? 0 : x > 0 ? y : -y;
}

#endif
