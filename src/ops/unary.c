/* The unary family's records, one a row of unary.def. */
#include "ops/unary.h"

#include <math.h>
#include <stddef.h>

#include "ops/elementwise.h"
#include "ops/ledger.h"

static bool shape_bool(const tw_shape_call *call)
{
    call->out[0] = call->in[0]->shape;
    call->out[0].dtype = TW_BOOL;
    return true;
}

static bool lower_plain(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    return tw_lower_plain(node, lowering, diag);
}

/* RESULT of TW_UNARY_PLAIN: null takes the input's type. */
#define SHAPE_SAME NULL
#define SHAPE_BOOL shape_bool

/* Samples of the types that TYPES names. */
#define SAMPLE(graph, dtype, low, high, Name)                                                      \
    "graph \"" graph "\" {\n  const %x : " dtype "[1,7,5,3] = random 1 " low " " high              \
    "\n  %y = " Name " (%x)\n  output %y\n}\n"
#define SAMPLE_S8(Name)                                                                            \
    "graph \"s8\" {\n  const %x : s8[1,7,5,3] quant(scale=0.05, zero=-4) = random 2 -128 128\n"    \
    "  %y : s8[1,7,5,3] quant(scale=0.04, zero=3) = " Name " (%x)\n  output %y\n}\n"
#define SAMPLE_S16(Name)                                                                           \
    "graph \"s16\" {\n  const %x : s16[1,7,5,3] quant(scale=0.0003, zero=0) = random 2 -32768 "    \
    "32768\n"                                                                                      \
    "  %y : s16[1,7,5,3] quant(scale=0.000030517578125, zero=0) = " Name " (%x)\n  output %y\n}\n"
#define SAMPLES_INTEGERS(Name)                                                                     \
    SAMPLE("s32", "s32", "-2147483648", "2147483648", Name)                                        \
    SAMPLE("u8", "u8", "0", "256", Name) SAMPLE("s64", "s64", "-1e18", "1e18", Name)
#define SAMPLES_BOOL(Name) SAMPLE("bool", "bool", "0", "2", Name)
#define SAMPLES_REAL(Name) SAMPLE("f32", "f32", "-3", "3", Name)

#define RECORD(symbol, parameters, first, second, onnx_names, formula_text, limits_text,           \
               samples_text)                                                                       \
    static const tw_attribute attributes_##symbol[] = {                                            \
        {TW_ATTRIBUTE_FLOAT, "alpha", offsetof(tw_unary_attributes, alpha), first, -INFINITY,      \
         INFINITY, "alpha of the formula"},                                                        \
        {TW_ATTRIBUTE_FLOAT, "beta", offsetof(tw_unary_attributes, beta), second, -INFINITY,       \
         INFINITY, "beta of the formula"}};                                                        \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        .formula = formula_text,                                                                   \
        .min_in = 1,                                                                               \
        .max_in = 1,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .attributes = attributes_##symbol,                                                         \
        .attribute_count = parameters,                                                             \
        .attribute_bytes = parameters * sizeof(float),                                             \
        .lower = tw_lower_table,                                                                   \
        .in_place = tw_in_place_elementwise,                                                       \
        .scalar = tw_unary_##symbol,                                                               \
        .limits = limits_text,                                                                     \
        .samples = samples_text,                                                                   \
        .onnx = onnx_names,                                                                        \
    };

#define TW_UNARY(code, Name, symbol, parameters, alpha, beta, low, high, onnx, formula,            \
                 expression)                                                                       \
    RECORD(symbol, parameters, alpha, beta, onnx, formula, "f32; s8, u8 and s16 with one scale",   \
           SAMPLE("f32", "f32", #low, #high, #Name) SAMPLE_S8(#Name) SAMPLE_S16(#Name))
#define TW_UNARY_INTEGER(code, Name, symbol, parameters, alpha, beta, low, high, onnx, formula,    \
                         expression, integer)                                                      \
    RECORD(symbol, parameters, alpha, beta, onnx, formula,                                         \
           "f32; s8, u8 and s16 with one scale; plain integers",                                   \
           SAMPLE("f32", "f32", #low, #high, #Name) SAMPLE_S8(#Name) SAMPLE_S16(#Name)             \
               SAMPLES_INTEGERS(#Name))
#define TW_UNARY_PLAIN(code, Name, symbol, TYPES, RESULT, onnx_names, formula_text, expression)    \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        .formula = formula_text,                                                                   \
        .min_in = 1,                                                                               \
        .max_in = 1,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = SHAPE_##RESULT,                                                                   \
        .lower = lower_plain,                                                                      \
        .in_place = tw_in_place_elementwise,                                                       \
        .samples = SAMPLES_##TYPES(#Name),                                                         \
        .onnx = onnx_names,                                                                        \
    };
#include "ops/unary.def"
