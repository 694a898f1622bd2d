/* TFLite's fixed-point unary operators. Source of the arithmetic: the reference kernels of TensorFlow
 * Lite Micro; checked against them by the vectors in unary_s8.txt. */
#include "ops/lut_fixed.h"

#include <math.h>

#include "ops/exponential.h"
#include "ops/ledger.h"
#include "ops/scale.h"
#include "ops/unary.h"
#include "runtime/fixed.h"
#include "runtime/math.h"

/* q * real in two roundings. */
static int32_t scaled(int32_t q, double real)
{
    int32_t multiplier, shift;
    tw_quantize_multiplier(real, &multiplier, &shift);
    if (shift > 22) /* |q| < 2^8 */
        return q == 0 ? 0 : q > 0 ? INT16_MAX : INT16_MIN;
    return tw_requantize(q, multiplier, shift);
}

static float ratio(const tw_node *node)
{
    return node->in[0]->quant.scale[0] / node->out[0]->quant.scale[0];
}

static int32_t fixed_relu(int32_t q, const tw_node *node)
{
    return q > 0 ? scaled(q, (double)ratio(node)) : 0;
}

static int32_t fixed_leaky_relu(int32_t q, const tw_node *node)
{
    const tw_unary_attributes *a = node->attributes;
    float slope = node->in[0]->quant.scale[0] * a->alpha / node->out[0]->quant.scale[0];
    if (q >= 0)
        return scaled(q, (double)ratio(node));
    return slope < 0 ? -scaled(q, -(double)slope) : scaled(q, (double)slope);
}

static int32_t fixed_abs(int32_t q, const tw_node *node)
{
    return scaled(q < 0 ? -q : q, (double)ratio(node));
}

/* ---- 1 / sqrt(x) ---- */

/* 1 / sqrt(q) = multiplier * 2^(shift - 31), q > 0. */
static void inverse_root(int32_t q, int32_t *multiplier, int32_t *shift)
{
    if (q == 1) {
        *multiplier = INT32_MAX;
        *shift = 0;
        return;
    }
    int pairs = 0; /* by how many factors of 4 q fits below 2^29 */
    while ((int64_t)q << 2 * (pairs + 1) < (int64_t)1 << 29)
        pairs++;
    int32_t half = tw_shift_right(q << 2 * pairs >> 1, 1);
    int32_t x = 1 << 28;          /* 3 integer bits; each product adds those of its factors */
    for (int i = 0; i < 5; i++) { /* Newton: x = 3/2 x - half x^3 */
        int32_t cube = tw_saturating_left(tw_high_mul(tw_high_mul(x, x), x), 6);
        int32_t next = tw_high_mul((1 << 28) + (1 << 27), x) - tw_high_mul(half, cube);
        x = tw_saturating_left(next, 3);
    }
    *multiplier = tw_high_mul(x, 1518500250); /* sqrt(1/2) */
    *shift = pairs - 11;
    if (*shift > 0) {
        *multiplier = (int32_t)((uint32_t)*multiplier << *shift);
        *shift = 0;
    }
}

static int32_t fixed_rsqrt(int32_t q, const tw_node *node)
{
    const int extra = 20; /* fraction bits of the root */
    int32_t multiplier, shift, out_multiplier, out_shift;
    double in = sqrt((double)node->in[0]->quant.scale[0]);
    if (q <= 0) /* infinite; undefined is stored as zero */
        return q == 0 ? INT16_MAX : 0;
    inverse_root(q, &multiplier, &shift);
    int32_t root = tw_requantize(1, multiplier, shift + extra);
    tw_quantize_multiplier(1.0 / (in * (double)node->out[0]->quant.scale[0]), &out_multiplier,
                           &out_shift);
    out_shift -= extra;
    if (out_shift < -31)
        return 0;
    return out_shift > 8 ? INT16_MAX : tw_requantize(root, out_multiplier, out_shift);
}

/* ---- x * relu6(x + 3) / 6 in 16 bits ---- */

static int32_t saturate_s16(int32_t x)
{
    return tw_clamp_s32(x, INT16_MIN, INT16_MAX);
}

/* A real as multiplier * 2^(shift - 15), multiplier of 16 bits. */
static int32_t short_multiplier(double real, int32_t *shift)
{
    int32_t multiplier;
    tw_quantize_multiplier(real, &multiplier, shift);
    return multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX : (multiplier + (1 << 15)) >> 16;
}

/* a * b / 2^15, rounded to nearest. */
static int32_t high_mul_s16(int32_t a, int32_t b)
{
    int32_t product = a * b;
    if (a == b && a == INT16_MIN)
        return INT16_MAX;
    return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

static int32_t fixed_hard_swish(int32_t q, const tw_node *node)
{
    float fine = node->in[0]->quant.scale[0] / 128.0f; /* scale of q * 2^7 */
    int32_t out_shift, gate_shift;
    int32_t out_multiplier =
        short_multiplier((double)(fine / node->out[0]->quant.scale[0]), &out_shift);
    int32_t gate_multiplier = short_multiplier((double)(fine / (3.0f / 32768.0f)), &gate_shift);
    int32_t x = q * (1 << 7);
    int32_t out = high_mul_s16(x, out_multiplier);
    /* The gate: -1 to 1 for x from -3 to 3, saturating beyond; then 0 to 1. */
    int32_t left = gate_shift > 0 ? gate_shift - 1 : 0;
    int32_t gate = saturate_s16(x * (1 << (left < 16 ? left : 16)));
    gate = high_mul_s16(gate, gate_multiplier);
    if (gate_shift > 0)
        gate = saturate_s16(gate * 2);
    if (gate_shift < 0)
        gate = tw_shift_right(gate, -gate_shift);
    gate = (gate + (1 << 15)) >> 1;
    int32_t product = gate * out / (1 << 15);
    return tw_shift_right(product, -out_shift);
}

/* ---- 1 / (1 + e^-x) and tanh(x): four integer bits in, none out ---- */

static int32_t logistic(int32_t x)
{
    if (x == 0)
        return 1 << 30;
    int32_t positive = tw_reciprocal(tw_exp_of_negative(x > 0 ? -x : x, 4));
    return x > 0 ? positive : INT32_MAX - positive;
}

/* 2 / (1 + e^-2x) - 1. Twice x is x's bits read with one more integer bit. */
static int32_t hyperbolic_tangent(int32_t x)
{
    if (x == 0)
        return 0;
    int32_t half = tw_reciprocal(tw_exp_of_negative(x > 0 ? -x : x, 5)) / 2;
    int32_t positive = tw_saturating_left(half - (1 << 29), 2);
    return x > 0 ? positive : -positive;
}

/* f of q, its result cut by `shift` bits. Inputs beyond four integer bits give an end. */
static int32_t sigmoidal(int32_t q, const tw_node *node, int32_t (*f)(int32_t), int shift)
{
    int exponent;
    double real = frexp((double)node->in[0]->quant.scale[0] * (double)(1 << 27), &exponent);
    int64_t multiplier = llround(real * 2147483648.0);
    double radius = floor(ldexp(15.0 * (double)(1 << 27), -exponent));
    if (q <= -radius || q >= radius)
        return q > 0 ? INT16_MAX : INT16_MIN;
    int32_t x = tw_requantize(q, multiplier > INT32_MAX ? INT32_MAX : (int32_t)multiplier,
                              exponent < -31 ? -31 : exponent);
    return tw_shift_right(f(x), shift);
}

static int32_t fixed_sigmoid(int32_t q, const tw_node *node)
{
    return sigmoidal(q, node, logistic, 23);
}

static int32_t fixed_tanh(int32_t q, const tw_node *node)
{
    return sigmoidal(q, node, hyperbolic_tangent, 24);
}

/* The fixed point of a result in [-1, 1] has this quantisation and no other. */
static bool gives(const tw_node *node, float scale, int32_t zero)
{
    const tw_value *out = node->out[0];
    return out->shape.dtype == TW_S8 && out->quant.scale[0] == scale &&
           out->quant.zero_point[0] == zero;
}

/* ---- bounds of a result that is stored as the input is ---- */

static int32_t stored_bound(float bound, float scale)
{
    float stored = tw_roundf(bound / scale);
    return stored < INT16_MIN ? INT16_MIN : stored > INT16_MAX ? INT16_MAX : (int32_t)stored;
}

static int32_t fixed_clip(int32_t q, const tw_node *node)
{
    const tw_unary_attributes *a = node->attributes;
    const float scale = node->in[0]->quant.scale[0];
    return tw_clamp_s32(q, stored_bound(a->alpha, scale), stored_bound(a->beta, scale));
}

/* The result's scale leaves no left shift to do at the end. */
static bool is_fine_enough(const tw_node *node)
{
    int32_t multiplier, shift;
    tw_quantize_multiplier((double)(ratio(node) / 128.0f), &multiplier, &shift);
    return shift <= 0;
}

tw_fixed_unary tw_fixed_unary_of(const tw_node *node)
{
    switch (node->op->code) {
    case TW_OPCODE_relu: return fixed_relu;
    case TW_OPCODE_leaky_relu: return fixed_leaky_relu;
    case TW_OPCODE_abs: return fixed_abs;
    case TW_OPCODE_rsqrt: return fixed_rsqrt;
    case TW_OPCODE_sigmoid: return gives(node, 1.0f / 256, -128) ? fixed_sigmoid : NULL;
    case TW_OPCODE_tanh: return gives(node, 1.0f / 128, 0) ? fixed_tanh : NULL;
    case TW_OPCODE_clip:
        return tw_quant_equal(&node->in[0]->quant, &node->out[0]->quant) ? fixed_clip : NULL;
    case TW_OPCODE_hard_swish: return is_fine_enough(node) ? fixed_hard_swish : NULL;
    default: return NULL;
    }
}
