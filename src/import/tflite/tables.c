/* Tables of the int8 reference kernels. All in integers, with the fixed point of the reference: a
 * 32-bit number of so many integer bits, the sign bit, and the rest fraction. */
#include "import/tflite/tables.h"

#include <math.h>

#include "ops/scale.h"
#include "runtime/fixed.h"
#include "runtime/math.h"

static int8_t clamp_s8(int64_t x)
{
    return (int8_t)(x < INT8_MIN ? INT8_MIN : x > INT8_MAX ? INT8_MAX : x);
}

/* x * 2^exponent, saturating to the left, rounding to the right. */
static int32_t scale_by_power(int32_t x, int exponent)
{
    if (exponent <= 0)
        return tw_shift_right(x, -exponent);
    int64_t wide = (int64_t)x * ((int64_t)1 << exponent);
    return wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
}

static int32_t wrap_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* e^x for -1/4 <= x < 0, no integer bits: the fourth-order series about -1/8. */
static int32_t exp_near_zero(int32_t x)
{
    const int32_t exp_minus_eighth = 1895147668, third = 715827883;
    int32_t y = x + (1 << 28);
    int32_t y2 = tw_high_mul(y, y), y3 = tw_high_mul(y2, y), y4 = tw_high_mul(y2, y2);
    int32_t tail = tw_high_mul(wrap_add(tw_shift_right(y4, 2), y3), third);
    tail = tw_shift_right(wrap_add(tail, y2), 1);
    return wrap_add(exp_minus_eighth, tw_high_mul(exp_minus_eighth, wrap_add(y, tail)));
}

/* e^x for x <= 0 of `bits` integer bits; the result has none. The quarters of x become factors. */
static int32_t exp_of_negative(int32_t x, int bits)
{
    static const int32_t factor[] = {1672461947, 1302514674, 790015084, 290630308,
                                     39332535,   720401,     242}; /* e^-1/4, e^-1/2, e^-1, ... */
    const int fraction = 31 - bits;
    const int32_t quarter = 1 << (fraction - 2);
    if (x == 0)
        return INT32_MAX;
    int32_t rest = (x & (quarter - 1)) - quarter;
    int32_t result = exp_near_zero(scale_by_power(rest, bits));
    int32_t quarters = rest - x;
    for (int i = 0; i < (int)(sizeof factor / sizeof *factor); i++)
        if (bits > i - 2 && quarters & (1 << (fraction + i - 2)))
            result = tw_high_mul(result, factor[i]);
    return result;
}

/* 1 / ((1 + x) / 2) for 0 <= x <= 1, two integer bits: three steps of Newton and Raphson from 48/17 -
 * 32/17 of the denominator. */
static int32_t reciprocal_of_half_sum(int32_t x)
{
    const int32_t first = 1515870810, slope = -1010580540, one = 1 << 29;
    int64_t sum = (int64_t)x + INT32_MAX;
    int32_t half = (int32_t)((sum + 1) / 2);
    int32_t y = wrap_add(first, tw_high_mul(half, slope));
    for (int i = 0; i < 3; i++) {
        int32_t error = one - tw_high_mul(half, y);
        y = wrap_add(y, scale_by_power(tw_high_mul(y, error), 2));
    }
    return y;
}

/* 1 / (1 + e^-x), four integer bits in, none out. */
static int32_t fixed_logistic(int32_t x)
{
    if (x == 0)
        return 1 << 30;
    int32_t e = exp_of_negative(x > 0 ? -x : x, 4);
    int32_t positive = scale_by_power(reciprocal_of_half_sum(e), 1);
    return x > 0 ? positive : INT32_MAX - positive;
}

/* tanh(x), four integer bits in, none out. */
static int32_t fixed_tanh(int32_t x)
{
    if (x == 0)
        return 0;
    int32_t e = exp_of_negative(x > 0 ? -x : x, 5); /* the same bits, read as twice x */
    int32_t positive = scale_by_power(reciprocal_of_half_sum(e) - (1 << 29), 2);
    return x > 0 ? positive : -positive;
}

/* Stored x to fixed point with four integer bits, f, and back with `shift` fewer bits. Beyond the
 * radius the input would leave its range, and the result is an end of its own. */
static void fixed_table(const tw_tfl_table_call *call, int32_t (*f)(int32_t), int shift,
                        int32_t zero, int8_t table[256])
{
    int exponent;
    double fraction = frexp((double)call->in_scale * (double)(1 << 27), &exponent);
    int64_t multiplier = llround(fraction * 2147483648.0);
    double radius = floor(15.0 * (double)(1 << 27) / ldexp(1.0, exponent));
    if (multiplier > INT32_MAX)
        multiplier = INT32_MAX;
    for (int i = 0; i < 256; i++) {
        int32_t x = (int8_t)i - call->in_zero;
        if (x <= -radius || x >= radius) {
            table[i] = x <= -radius ? INT8_MIN : INT8_MAX;
            continue;
        }
        int32_t y = f(tw_requantize(x, (int32_t)multiplier, exponent < -31 ? -31 : exponent));
        table[i] = clamp_s8(tw_shift_right(y, shift) + zero);
    }
}

void tw_tfl_table_logistic(const tw_tfl_table_call *call, int8_t table[256])
{
    fixed_table(call, fixed_logistic, 23, INT8_MIN, table);
}

void tw_tfl_table_tanh(const tw_tfl_table_call *call, int8_t table[256])
{
    fixed_table(call, fixed_tanh, 24, 0, table);
}

/* ---- HARD_SWISH: 16-bit fixed point ---- */

static int32_t clamp_s16(int32_t x)
{
    return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x;
}

/* High 16 bits of 2 * a * b of 16-bit numbers, rounded half away from zero, or cut off. */
static int32_t high_mul_s16(int32_t a, int32_t b, bool rounded)
{
    if (a == INT16_MIN && b == INT16_MIN)
        return INT16_MAX;
    int32_t product = a * b;
    int32_t nudge = !rounded ? 0 : product >= 0 ? 1 << 14 : 1 - (1 << 14);
    return (product + nudge) / (1 << 15);
}

static void multiplier_s16(double real, int32_t *multiplier, int32_t *exponent)
{
    int32_t wide;
    tw_quantize_multiplier(real, &wide, exponent);
    *multiplier = wide >= INT32_MAX - (1 << 15) ? INT16_MAX : (wide + (1 << 15)) >> 16;
}

void tw_tfl_table_hard_swish(const tw_tfl_table_call *call, int8_t table[256])
{
    const float fine_scale = 1.0f / 128.0f * call->in_scale, gate_scale = 3.0f / 32768.0f;
    int32_t out_multiplier, out_exponent, gate_multiplier, gate_exponent;
    multiplier_s16((double)(fine_scale / call->out_scale), &out_multiplier, &out_exponent);
    multiplier_s16((double)(fine_scale / gate_scale), &gate_multiplier, &gate_exponent);
    for (int i = 0; i < 256; i++) {
        int32_t fine = clamp_s16(((int8_t)i - call->in_zero) * 128);
        int32_t value = high_mul_s16(fine, out_multiplier, true);
        int32_t gate = fine; /* becomes (x + 3) / 6, 15 fraction bits */
        if (gate_exponent > 0)
            gate = clamp_s16(gate << (gate_exponent - 1 > 15 ? 15 : gate_exponent - 1));
        gate = high_mul_s16(gate, gate_multiplier, true);
        if (gate_exponent > 0)
            gate = clamp_s16(gate * 2);
        if (gate_exponent < 0)
            gate = tw_shift_right(gate, gate_exponent < -31 ? 31 : -gate_exponent);
        gate = (gate + (1 << 15)) >> 1;
        int32_t y = high_mul_s16(gate, value, false);
        y = out_exponent > 0 ? y << (out_exponent > 15 ? 15 : out_exponent)
                             : tw_shift_right(y, out_exponent < -31 ? 31 : -out_exponent);
        table[i] = clamp_s8((int64_t)y + call->out_zero);
    }
}

/* ---- piecewise linear functions: a multiplier for each piece ---- */

typedef struct tw_rescale {
    int32_t multiplier, shift;
} tw_rescale;

static tw_rescale rescale_by(float real)
{
    tw_rescale r;
    tw_quantize_multiplier((double)real, &r.multiplier, &r.shift);
    return r;
}

static int64_t rescaled(const tw_rescale *r, int32_t x)
{
    return tw_requantize(x, r->multiplier, r->shift);
}

void tw_tfl_table_relu(const tw_tfl_table_call *call, int8_t table[256])
{
    const tw_rescale r = rescale_by(call->in_scale / call->out_scale);
    for (int i = 0; i < 256; i++) {
        int64_t y = call->out_zero + rescaled(&r, (int8_t)i - call->in_zero);
        table[i] = clamp_s8(y < call->out_zero ? call->out_zero : y);
    }
}

/* Stored values are clamped as they are: the result is read with the input's scale. */
void tw_tfl_table_relu6(const tw_tfl_table_call *call, int8_t table[256])
{
    float stored_six = tw_roundf(6.0f / call->in_scale) + (float)call->in_zero;
    int32_t six = stored_six > INT8_MAX ? INT8_MAX : (int32_t)stored_six;
    for (int i = 0; i < 256; i++) {
        int32_t x = (int8_t)i;
        table[i] = clamp_s8(x > six ? six : x < call->in_zero ? call->in_zero : x);
    }
}

void tw_tfl_table_leaky_relu(const tw_tfl_table_call *call, int8_t table[256])
{
    const tw_rescale positive = rescale_by(call->in_scale / call->out_scale);
    /* A negative slope has no multiplier of its own: the sign is taken apart. */
    const float slope = call->alpha < 0 ? -call->alpha : call->alpha;
    const tw_rescale negative = rescale_by(call->in_scale * slope / call->out_scale);
    const int sign = call->alpha < 0 ? -1 : 1;
    for (int i = 0; i < 256; i++) {
        int32_t x = (int8_t)i - call->in_zero;
        int64_t y = x >= 0 ? rescaled(&positive, x) : rescaled(&negative, sign * x);
        table[i] = clamp_s8(y + call->out_zero);
    }
}

void tw_tfl_table_abs(const tw_tfl_table_call *call, int8_t table[256])
{
    const tw_rescale r = rescale_by(call->in_scale / call->out_scale);
    for (int i = 0; i < 256; i++) {
        int32_t x = (int8_t)i - call->in_zero, size = x < 0 ? -x : x;
        int64_t y = call->in_scale == call->out_scale ? size : rescaled(&r, size);
        table[i] = clamp_s8(y + call->out_zero);
    }
}

/* ---- by float: dequantise, apply, multiply by the scale's reciprocal, round ---- */

void tw_tfl_table_elu(const tw_tfl_table_call *call, int8_t table[256])
{
    const float inverse = 1.0f / call->out_scale;
    for (int i = 0; i < 256; i++) {
        float x = call->in_scale * (float)((int8_t)i - call->in_zero);
        float y = x < 0 ? tw_expf(x) - 1.0f : x;
        float stored = tw_roundf(y * inverse) + (float)call->out_zero;
        table[i] = (int8_t)(stored < INT8_MIN   ? INT8_MIN
                            : stored > INT8_MAX ? INT8_MAX
                                                : (int32_t)stored);
    }
}

/* ---- RSQRT: an integer root's multiplier ---- */

/* 1 / sqrt(x) = multiplier * 2^(shift - 31) for x > 0: x is brought into [1/2, 2) by powers of four, three
 * integer bits, and five steps of Newton and Raphson start from 1. */
static tw_rescale inverse_root(int32_t x)
{
    const int32_t half_root_of_two = 1518500250, three_halves = (1 << 28) + (1 << 27);
    int32_t shift = 11;
    if (x <= 1)
        return (tw_rescale){INT32_MAX, 0};
    while (x < 1 << 27) {
        x *= 4;
        shift--;
    }
    const int32_t fixed = x >> 1, half = tw_shift_right(fixed, 1);
    int32_t y = 1 << 28;
    for (int i = 0; i < 5; i++) {
        int32_t cube = scale_by_power(tw_high_mul(tw_high_mul(y, y), y), 6);
        y = scale_by_power(tw_high_mul(three_halves, y) - tw_high_mul(half, cube), 3);
    }
    y = tw_high_mul(y, half_root_of_two);
    return shift < 0 ? (tw_rescale){(int32_t)((uint32_t)y << -shift), 0} : (tw_rescale){y, -shift};
}

void tw_tfl_table_rsqrt(const tw_tfl_table_call *call, int8_t table[256])
{
    enum { FINE = 20 }; /* bits that keep the root from being cut off */
    tw_rescale out;
    tw_quantize_multiplier(1.0 / (double)(sqrtf(call->in_scale) * call->out_scale), &out.multiplier,
                           &out.shift);
    out.shift -= FINE;
    if (out.shift < -31)
        out = (tw_rescale){0, 0};
    for (int i = 0; i < 256; i++) {
        int32_t x = (int8_t)i - call->in_zero;
        if (x <= 0) { /* undefined below zero: the largest result, as at zero */
            table[i] = INT8_MAX;
            continue;
        }
        tw_rescale root = inverse_root(x);
        int32_t fine = tw_requantize(1, root.multiplier, root.shift + FINE);
        table[i] = clamp_s8(rescaled(&out, fine) + call->out_zero);
    }
}
