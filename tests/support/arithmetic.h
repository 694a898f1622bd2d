/* Arithmetic written a second time, from the published definitions, for tests to compare with. */
#ifndef TW_TESTS_SUPPORT_ARITHMETIC_H
#define TW_TESTS_SUPPORT_ARITHMETIC_H

#include <math.h>
#include <stdint.h>

/* floor(a / b) for positive b. */
static inline int64_t arithmetic_floor(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* The TFLite reference's requantisation of `sum` by `real`: significand rounded to 31 bits, high half
 * of the doubled product rounded to nearest (a tie up), then a rounding shift (a tie away from
 * zero). */
static inline int64_t arithmetic_requantize(int64_t sum, double real)
{
    int exponent = 0;
    int64_t significand = (int64_t)round(ldexp(frexp(real, &exponent), 31));
    if (significand == INT64_C(1) << 31) {
        significand >>= 1;
        exponent++;
    }
    int64_t scaled = exponent > 0 ? sum * (INT64_C(1) << exponent) : sum;
    int64_t high = arithmetic_floor(scaled * significand + (INT64_C(1) << 30), INT64_C(1) << 31);
    if (exponent >= 0)
        return high;
    int64_t half = INT64_C(1) << (-exponent - 1), whole = half * 2;
    return high >= 0 ? (high + half) / whole : -((-high + half) / whole);
}

static inline int64_t arithmetic_clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* A value as it is stored: rounded half away from zero. */
static inline int64_t arithmetic_stored(double real, double scale, int64_t zero)
{
    return (int64_t)round(real / scale) + zero;
}

#endif
