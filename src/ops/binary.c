/* The binary family's records, one a row of binary.def, and the scales of its integer kernels. */
#include "ops/binary.h"

#include <math.h>

#include "ops/elementwise.h"
#include "ops/ledger.h"
#include "ops/scale.h"

/* ---- int8 and int16: real scales to multipliers ---- */

typedef struct tw_scale_call {
    const tw_node *node;
    double a, b, out; /* scales; out is 1 for compare */
    int bits;         /* of an element less its zero point, without the sign: 8 or 15 */
    tw_binary_scales *scales;
    tw_diag *diag;
} tw_scale_call;

/* The multiplier of the result; `most` is the largest left shift that provably cannot overflow. */
static bool set_out(const tw_scale_call *c, double real, int most)
{
    tw_quantize_multiplier(real, &c->scales->out_multiplier, &c->scales->out_shift);
    if (c->scales->out_shift > most)
        return tw_fail(c->diag, TW_CODE_UNSUPPORTED, c->node->name, c->node->op->name,
                       "scales %g and %g of the operands are too large for a result of scale %g; "
                       "give the result a larger scale",
                       c->a, c->b, c->out);
    return true;
}

/* Both operands in units of twice / 2^left, twice = 2 * max(a, b). */
static double set_common(const tw_scale_call *c, int left)
{
    double twice = 2 * (c->a > c->b ? c->a : c->b);
    c->scales->left = left;
    tw_quantize_multiplier(c->a / twice, &c->scales->a_multiplier, &c->scales->a_shift);
    tw_quantize_multiplier(c->b / twice, &c->scales->b_multiplier, &c->scales->b_shift);
    return twice;
}

/* Bits by which the operands of a sum are shifted left. */
static int sum_shift(const tw_scale_call *c)
{
    return c->bits == 8 ? 20 : 15;
}

static bool scale_compare(const tw_scale_call *c)
{
    set_common(c, sum_shift(c));
    return true;
}

static bool scale_sum(const tw_scale_call *c)
{
    int left = sum_shift(c);
    double twice = set_common(c, left);
    return set_out(c, twice / ((1 << left) * c->out), 0);
}

static bool scale_square(const tw_scale_call *c)
{
    int left = c->bits == 8 ? 7 : 0;
    double twice = set_common(c, left);
    return set_out(c, twice * twice / ((1 << 2 * left) * c->out), 0);
}

/* |product| <= 2^(2 bits) */
static bool scale_product(const tw_scale_call *c)
{
    return set_out(c, c->a * c->b / c->out, 30 - 2 * c->bits);
}

static bool scale_quotient(const tw_scale_call *c)
{
    return set_out(c, c->a / (c->b * c->out), 30);
}

static bool scale_slope(const tw_scale_call *c)
{
    double same = c->a / c->out;
    if (!set_out(c, same, 30 - c->bits))
        return false;
    c->scales->a_multiplier = c->scales->out_multiplier;
    c->scales->a_shift = c->scales->out_shift;
    return scale_product(c);
}

static bool lower_scaled(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag,
                         bool (*scale)(const tw_scale_call *))
{
    const tw_value *a = node->in[0], *b = node->in[1], *out = node->out[0];
    const bool compare = out->shape.dtype == TW_BOOL, wide = a->shape.dtype == TW_S16;
    if (a->quant.count != 1 || b->quant.count != 1 || (!compare && out->quant.count != 1))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "on %s each operand and the result need one scale (they have %d, %d and %d)",
                       tw_dtype_name(a->shape.dtype), a->quant.count, b->quant.count,
                       compare ? 1 : out->quant.count);
    if (wide && (a->quant.zero_point[0] || b->quant.zero_point[0] ||
                 (!compare && out->quant.zero_point[0])))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "zero points other than 0 on s16; quantise symmetrically");
    tw_lower_clamp(node, lowering);
    lowering->kernel = tw_op_kernel(node->op, wide ? TW_SIG_s16 : TW_SIG_s8);
    if (!scale)
        return true;
    tw_binary_scales *scales = tw_alloc(arena, sizeof *scales);
    tw_scale_call call = {node,
                          (double)a->quant.scale[0],
                          (double)b->quant.scale[0],
                          compare ? 1.0 : (double)out->quant.scale[0],
                          wide ? 15 : 8,
                          scales,
                          diag};
    lowering->blob_count = 1;
    lowering->blob[0].data = scales;
    lowering->blob[0].bytes = sizeof *scales;
    return scale(&call);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag,
                  bool (*scale)(const tw_scale_call *))
{
    const tw_value *a = node->in[0], *b = node->in[1];
    bool scaled = a->quant.count || b->quant.count || node->out[0]->quant.count;
    if ((a->shape.dtype == TW_S8 || a->shape.dtype == TW_S16) && scaled)
        return lower_scaled(node, arena, lowering, diag, scale);
    if (a->shape.dtype == TW_F32 && node->out[0]->shape.dtype == TW_F32)
        return tw_lower_default(node, arena, lowering, diag);
    return tw_lower_plain(node, lowering, diag);
}

/* METHOD to its function: lower_METHOD. */
#define LOWER(METHOD, scale)                                                                       \
    static bool lower_##METHOD(const tw_node *node, tw_arena *arena, tw_lowering *lowering,        \
                               tw_diag *diag)                                                      \
    {                                                                                              \
        return lower(node, arena, lowering, diag, scale);                                          \
    }
LOWER(SUM, scale_sum)
LOWER(SQUARE, scale_square)
LOWER(PRODUCT, scale_product)
LOWER(QUOTIENT, scale_quotient)
LOWER(SLOPE, scale_slope)
LOWER(REAL, NULL)
LOWER(COMPARE, scale_compare)

static bool lower_logic(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    return tw_lower_plain(node, lowering, diag);
}

/* ---- shapes ---- */

static bool shape_same(const tw_shape_call *call)
{
    return tw_shape_broadcast_pair(call, TW_NO_DTYPE);
}

static bool shape_bool(const tw_shape_call *call)
{
    return tw_shape_broadcast_pair(call, TW_BOOL);
}

/* ---- samples for the property tests: dense, one scalar, a channel, both broadcast ---- */

#define SAMPLE(graph, type, a_dims, b_dims, low, high, result, Name)                               \
    "graph \"" graph "\" {\n"                                                                      \
    "  const %a : " type a_dims " = random 1 " low " " high "\n"                                   \
    "  const %b : " type b_dims " = random 2 " low " " high "\n"                                   \
    "  %y" result " = " Name " (%a, %b)\n"                                                         \
    "  output %y\n}\n"
#define SAMPLES(type, low, high, Name)                                                             \
    SAMPLE(type " dense", type, "[1,7,5,3]", "[1,7,5,3]", low, high, "", Name)                     \
    SAMPLE(type " scalar", type, "[1,7,5,3]", "[]", low, high, "", Name)                           \
    SAMPLE(type " channel", type, "[3]", "[1,7,5,3]", low, high, "", Name)                         \
    SAMPLE(type " both", type, "[1,7,1,3]", "[1,1,4,1]", low, high, "", Name)
#define S8_QUANT(scale, zero) " quant(scale=" scale ", zero=" zero ")"
#define SAMPLES_S8(result, Name)                                                                   \
    SAMPLE("s8 dense", "s8", "[1,7,5,3]" S8_QUANT("0.05", "-4"),                                   \
           "[1,7,5,3]" S8_QUANT("0.03", "7"), "-128", "128", result, Name)                         \
    SAMPLE("s8 channel", "s8", "[1,7,5,3]" S8_QUANT("0.05", "-4"), "[3]" S8_QUANT("0.03", "7"),    \
           "-128", "128", result, Name)
#define SAMPLES_S16(result, Name)                                                                  \
    SAMPLE("s16 dense", "s16", "[1,7,5,3]" S8_QUANT("0.0005", "0"),                                \
           "[1,7,5,3]" S8_QUANT("0.0003", "0"), "-32768", "32768", result, Name)

#define RECORD(symbol, shape_function, lower_function, onnx_names, formula_text, limits_text,      \
               samples_text)                                                                       \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        .formula = formula_text,                                                                   \
        .min_in = 2,                                                                               \
        .max_in = 2,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape_function,                                                                   \
        .rows = tw_rows_broadcast,                                                                 \
        .lower = lower_function,                                                                   \
        .in_place = tw_in_place_elementwise,                                                       \
        .limits = limits_text,                                                                     \
        .samples = samples_text,                                                                   \
        .onnx = onnx_names,                                                                        \
    };

#define TW_BINARY(code, Name, symbol, METHOD, onnx, formula, real, integer)                        \
    RECORD(symbol, shape_same, lower_##METHOD, onnx, formula,                                      \
           "f32; s8 and s16 with one scale a tensor; plain integers, which wrap around",           \
           SAMPLES("f32", "-3", "3", #Name) SAMPLES("s32", "1", "40", #Name)                       \
               SAMPLES_S8(" : s8[1,7,5,3] quant(scale=0.08, zero=3)", #Name)                       \
                   SAMPLES_S16(" : s16[1,7,5,3] quant(scale=0.0011, zero=0)", #Name))
#define TW_COMPARE(code, Name, symbol, onnx, formula, expression)                                  \
    RECORD(symbol, shape_bool, lower_COMPARE, onnx, formula,                                       \
           "f32; s8 and s16 with one scale a tensor; plain integers; bool",                        \
           SAMPLES("f32", "-3", "3", #Name) SAMPLES("u8", "0", "5", #Name) SAMPLES_S8("", #Name)   \
               SAMPLES_S16("", #Name))
#define TW_LOGIC(code, Name, symbol, TYPES, onnx, formula, expression)                             \
    RECORD(symbol, shape_same, lower_logic, onnx, formula, LIMITS_##TYPES, SAMPLES_##TYPES(#Name))
#define LIMITS_BOOL "bool"
#define LIMITS_REAL "f32"
#define LIMITS_INTEGERS "plain integers"
#define LIMITS_UNSIGNED "plain unsigned integers"
#define SAMPLES_BOOL(Name) SAMPLES("bool", "0", "2", Name)
#define SAMPLES_REAL(Name) SAMPLES("f32", "-3", "3", Name)
#define SAMPLES_INTEGERS(Name) SAMPLES("s32", "-1000", "1000", Name)
#define SAMPLES_UNSIGNED(Name) SAMPLES("u8", "0", "256", Name)
#include "ops/binary.def"
