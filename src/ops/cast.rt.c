/* Cast: kernel. Every type is taken apart into sign, magnitude and exponent, and put together again
 * from them, in integers: exact between any two types, and no double is computed with. */
#include "ops/cast.h"

#include "ops/codes.h"
#include "runtime/elements.h"
#include "runtime/move.h"

enum { FINITE, INFINITE, NOT_A_NUMBER };

/* (negative ? -1 : 1) * magnitude * 2^exponent, when finite. */
typedef struct tw_number {
    uint64_t magnitude;
    int32_t exponent;
    int32_t negative, kind;
    int32_t is_integer; /* it came from an integer: exponent 0 */
} tw_number;

/* What a type is made of. fraction_bits 0: an integer. */
typedef struct tw_layout {
    uint8_t bits, is_signed, exponent_bits, fraction_bits;
} tw_layout;

static const tw_layout layouts[] = {
    {0, 0, 0, 0},  {32, 1, 8, 23}, /* f32 */
    {8, 1, 0, 0},  {8, 0, 0, 0},   /* s8, u8 */
    {16, 1, 0, 0}, {16, 0, 0, 0},  /* s16, u16 */
    {32, 1, 0, 0}, {32, 0, 0, 0},  /* s32, u32 */
    {64, 1, 0, 0}, {64, 0, 0, 0},  /* s64, u64 */
    {8, 0, 0, 0},  {16, 1, 5, 10}, /* bool, f16 */
    {16, 1, 8, 7}, {64, 1, 11, 52} /* bf16, f64 */
};

static tw_number from_float(uint64_t bits, const tw_layout *l)
{
    const uint64_t fraction = bits & (((uint64_t)1 << l->fraction_bits) - 1);
    const int32_t top = (1 << l->exponent_bits) - 1;
    const int32_t stored = (int32_t)(bits >> l->fraction_bits) & top;
    tw_number n;
    n.is_integer = 0;
    n.negative = (int32_t)(bits >> (l->bits - 1)) & 1;
    n.kind = stored < top ? FINITE : fraction == 0 ? INFINITE : NOT_A_NUMBER;
    n.magnitude = stored == 0 ? fraction : fraction | (uint64_t)1 << l->fraction_bits;
    n.exponent = (stored == 0 ? 1 : stored) - (top >> 1) - l->fraction_bits;
    return n;
}

static tw_number from_integer(uint64_t bits, const tw_layout *l)
{
    const uint64_t sign = (uint64_t)1 << (l->bits - 1);
    tw_number n;
    n.is_integer = 1;
    n.kind = FINITE;
    n.exponent = 0;
    n.negative = l->is_signed && (bits & sign) != 0;
    /* Sign extension, then the magnitude; the least number is its own. */
    n.magnitude = n.negative ? 0 - ((bits ^ sign) - sign) : bits;
    return n;
}

/* magnitude / 2^shift, halves to even. */
static uint64_t shift_round(uint64_t magnitude, int32_t shift)
{
    uint64_t kept, rest, half;
    if (shift <= 0)
        return magnitude << -shift;
    if (shift > 64)
        return 0;
    half = (uint64_t)1 << (shift - 1);
    kept = shift == 64 ? 0 : magnitude >> shift;
    rest = shift == 64 ? magnitude : magnitude - (kept << shift);
    return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

static uint64_t to_float(const tw_number *n, const tw_layout *l)
{
    const uint64_t sign = (uint64_t)n->negative << (l->bits - 1);
    const int32_t top = (1 << l->exponent_bits) - 1, bias = top >> 1;
    const uint64_t infinity = (uint64_t)top << l->fraction_bits;
    uint64_t bits;
    int32_t exponent, least;
    if (n->kind == NOT_A_NUMBER)
        return sign | infinity | (uint64_t)1 << (l->fraction_bits - 1);
    if (n->kind == INFINITE)
        return sign | infinity;
    if (n->magnitude == 0)
        return sign;
    exponent = 63 - __builtin_clzll(n->magnitude) + n->exponent; /* of the leading bit */
    least = exponent < 1 - bias ? 1 - bias : exponent;
    if (exponent > bias)
        return sign | infinity;
    bits = shift_round(n->magnitude, least - l->fraction_bits - n->exponent);
    /* The leading bit of a normal number adds one to the exponent's field, and so does a carry. */
    if (exponent >= 1 - bias)
        bits += (uint64_t)(exponent + bias - 1) << l->fraction_bits;
    return sign | (bits < infinity ? bits : infinity);
}

static uint64_t to_integer(const tw_number *n, const tw_layout *l)
{
    const uint64_t most = UINT64_MAX >> (64 - l->bits + l->is_signed);
    const uint64_t limit = !n->negative ? most : l->is_signed ? most + 1 : 0;
    uint64_t v = n->magnitude;
    if (n->is_integer)
        return n->negative ? 0 - v : v;
    if (n->kind == NOT_A_NUMBER)
        return 0;
    if (n->kind == INFINITE || (n->exponent > 0 && v != 0 && n->exponent > __builtin_clzll(v)))
        v = limit;
    else if (n->exponent > 0)
        v <<= v == 0 ? 0 : n->exponent;
    else
        v = n->exponent < -63 ? 0 : v >> -n->exponent;
    v = v > limit ? limit : v;
    return n->negative ? 0 - v : v;
}

static void elements(const tw_call *call, const tw_line *r)
{
    const uint32_t from_type = call->in[0].tensor->dtype, to_type = call->out[0].tensor->dtype;
    const tw_layout *from = &layouts[from_type], *to = &layouts[to_type];
    const uint32_t from_bytes = from->bits / 8u, to_bytes = to->bits / 8u;
    int32_t i;
    for (i = 0; i < r->n; i++) {
        uint64_t bits = 0;
        tw_number n;
        memcpy(&bits, r->from + i * r->from_step, from_bytes);
        n = from->fraction_bits != 0 ? from_float(bits, from) : from_integer(bits, from);
        if (to_type == TW_BOOL)
            bits = n.magnitude != 0 || n.kind != FINITE;
        else
            bits = to->fraction_bits != 0 ? to_float(&n, to) : to_integer(&n, to);
        memcpy(r->to + i * r->to_step, &bits, to_bytes);
    }
}

static tw_status run(const tw_call *call)
{
    tw_move m;
    if (call->in[0].tensor->dtype != call->out[0].tensor->dtype)
        return tw_elements(call, -1, elements);
    tw_move_same(&m, &call->out[0]);
    return tw_move_elements(&call->out[0], &call->in[0], &m);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    if (tw_check_elements(call, work) != TW_OK ||
        call->attribute_bytes != sizeof(tw_cast_attributes) ||
        tw_dtype_bytes(call->in[0].tensor->dtype) == 0 ||
        tw_dtype_bytes(call->out[0].tensor->dtype) == 0)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(cast, any, run, check);
