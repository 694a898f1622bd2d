/* ToSmallFloat: kernel, on the bits of f32. */
#include "ops/small_float.h"

#include "ops/codes.h"
#include "runtime/elements.h"

/* What a format is made of; codes are without the sign. */
typedef struct tw_small_format {
    uint8_t fraction_bits, bias, sign;
    uint8_t greatest, beyond; /* codes of the greatest number and of what is beyond it */
    uint8_t nan;
    uint8_t has_one_zero; /* the code of a negative zero is the NaN's */
} tw_small_format;

static const tw_small_format formats[] = {
    {3, 7, 0x80, 0x7E, 0x7F, 0x7F, 0},  /* e4m3fn */
    {3, 8, 0x80, 0x7F, 0x80, 0x80, 1},  /* e4m3fnuz */
    {2, 15, 0x80, 0x7B, 0x7C, 0x7E, 0}, /* e5m2 */
    {2, 16, 0x80, 0x7F, 0x80, 0x80, 1}, /* e5m2fnuz */
    {1, 1, 0x08, 0x07, 0x07, 0x08, 0},  /* e2m1 */
};

enum { FRACTION = 23, EXPONENT = 255, INFINITE = 255 << FRACTION };

/* magnitude / 2^shift, halves to even; shift at least 1. */
static uint32_t shift_round(uint32_t magnitude, int32_t shift)
{
    uint32_t kept, rest, half;
    if (shift > 31)
        return 0;
    half = (uint32_t)1 << (shift - 1);
    kept = magnitude >> shift;
    rest = magnitude - (kept << shift);
    return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

static uint8_t encode(uint32_t bits, const tw_small_format *f, int32_t saturate)
{
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    const int32_t stored = (int32_t)(magnitude >> FRACTION), least = 128 - f->bias;
    const uint8_t sign = bits >> 31 != 0 ? f->sign : 0;
    /* Exponents as f32 stores them; `least` is that of the smallest normal number. */
    const int32_t exponent = stored < least ? least : stored;
    uint32_t code;
    if (magnitude > INFINITE)
        return f->nan;
    code = (magnitude & 0x7FFFFFu) | (stored != 0 ? 0x800000u : 0);
    code = shift_round(code, FRACTION - f->fraction_bits + exponent - (stored != 0 ? stored : 1));
    /* The leading bit of a normal number adds one to the exponent's field, and so does a carry. */
    if (stored >= least)
        code += (uint32_t)(stored - least) << f->fraction_bits;
    if (code > f->greatest)
        code = saturate != 0 ? f->greatest : f->beyond;
    return (uint8_t)(f->has_one_zero != 0 && code == 0 ? 0 : code | sign);
}

/* The stored exponent of the power of two; the sign is lost. */
static uint8_t encode_power(uint32_t bits, int32_t power, int32_t saturate)
{
    const uint32_t stored = bits >> FRACTION & EXPONENT, fraction = bits & 0x7FFFFFu;
    uint32_t up = 0;
    if (stored == EXPONENT)
        return EXPONENT;
    if (power == TW_POWER_UP)
        up = fraction != 0;
    else if (power == TW_POWER_NEAREST) /* a half goes up, but from zero's exponent */
        up = fraction > 0x400000u || (fraction == 0x400000u && stored > 0);
    if (saturate != 0 && stored == EXPONENT - 1)
        up = 0;
    return (uint8_t)(stored + up);
}

static void elements(const tw_call *call, const tw_line *r)
{
    const tw_small_float_attributes *a = (const tw_small_float_attributes *)call->attributes;
    int32_t i;
    for (i = 0; i < r->n; i++) {
        uint32_t bits;
        uint8_t code;
        memcpy(&bits, r->from + i * r->from_step, sizeof bits);
        code = a->format == TW_E8M0 ? encode_power(bits, a->power, a->saturate)
                                    : encode(bits, &formats[a->format], a->saturate);
        memcpy(r->to + i * r->to_step, &code, sizeof code);
    }
}

static tw_status run(const tw_call *call)
{
    return tw_elements(call, -1, elements);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_small_float_attributes *a = (const tw_small_float_attributes *)call->attributes;
    if (tw_check_elements(call, work) != TW_OK ||
        call->attribute_bytes != sizeof(tw_small_float_attributes) || a->format < 0 ||
        a->format > TW_E8M0 || call->in[0].tensor->dtype != TW_F32 ||
        call->out[0].tensor->dtype != TW_U8)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(small_float, f32, run, check);
