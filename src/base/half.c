/* The two 16-bit float formats. */
#include "base/half.h"

#include <math.h>
#include <string.h>

float tw_float_from_bfloat(uint16_t bfloat)
{
    uint32_t bits = (uint32_t)bfloat << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float tw_float_from_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = half >> 10 & 31u, fraction = half & 1023u;
    uint32_t bits;
    float value;
    if (exponent == 0) {
        value = ldexpf((float)fraction, -24);
        return sign ? -value : value;
    }
    bits = sign | (exponent == 31 ? 0x7F800000u : (exponent + 112u) << 23) | fraction << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float tw_float_widened(tw_dtype stored, const void *element)
{
    uint16_t half;
    double wide;
    if (stored == TW_F64) {
        memcpy(&wide, element, sizeof wide);
        return (float)wide;
    }
    memcpy(&half, element, sizeof half);
    return stored == TW_F16 ? tw_float_from_half(half) : tw_float_from_bfloat(half);
}

/* A format of `fraction_bits` and of exponents from `least` up, its infinity being `infinity`. The
 * encoding is linear between powers of two, so a carry out of the fraction lands in the exponent. */
static uint16_t narrow(double value, int fraction_bits, int least, uint16_t infinity)
{
    uint16_t sign = signbit(value) ? 0x8000u : 0;
    if (isnan(value)) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint16_t payload = (uint16_t)(bits << 12 >> (64 - fraction_bits));
        return (uint16_t)(sign | infinity | (payload ? payload : 1u));
    }
    value = fabs(value);
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    int exponent = 0;
    frexp(value, &exponent); /* value in [2^(exponent-1), 2^exponent) */
    exponent = value == 0 || exponent - 1 < least ? least : exponent - 1;
    double steps = nearbyint(ldexp(value, fraction_bits - exponent));
    double code = steps + ldexp(exponent - least, fraction_bits);
    return (uint16_t)(sign | (code >= infinity ? infinity : (uint16_t)code));
}

uint16_t tw_half_from_double(double value)
{
    return narrow(value, 10, -14, 0x7C00u);
}

uint16_t tw_bfloat_from_double(double value)
{
    return narrow(value, 7, -126, 0x7F80u);
}
