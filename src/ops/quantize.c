/* Quantize: record. The result's quantisation says how. */
#include "ops/quantize.h"

#include "ops/ledger.h"
#include "ops/scales.h"

TW_ATTRIBUTE_TABLE(quantize, TW_QUANTIZE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_quantize_attributes *a = call->attributes;
    tw_shape_default(call);
    call->out[0].dtype = (tw_dtype)a->dtype;
    if (call->in[0]->shape.dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "x is %s; convert it to f32",
                                    tw_dtype_name(call->in[0]->shape.dtype));
    if (!tw_is_quantised_type((tw_dtype)a->dtype))
        return TW_SHAPE_UNSUPPORTED(call, "dtype is %s; s8, u8, s16, u16 and s32 are supported",
                                    tw_dtype_name((tw_dtype)a->dtype));
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    return tw_lower_scales(node, TW_SIG_f32, arena, lowering, diag);
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("s8", "f32[1,7,5,3]", "-9", "9",
              " : s8[1,7,5,3] quant(scale=0.05, zero=-4)", "Quantize (%x)")
    TW_SAMPLE("u16", "f32[1,7,5,3]", "-9", "9",
              " : u16[1,7,5,3] quant(scale=0.001, zero=300)",
              "Quantize (%x) {dtype=u16, rounding=half_away}")
    TW_SAMPLE("by_channel", "f32[1,7,5,3]", "-9", "9",
              " : s8[1,7,5,3] quant(scale=[0.05,0.1,0.02], zero=[0,3,-9], axis=3)",
              "Quantize (%x)");
/* clang-format on */

const tw_opdef tw_op_quantize = {
    TW_OP_LEDGER(quantize),
    TW_OP_ATTRIBUTES(quantize),
    .formula = "round(x / scale) + zero_point, within `dtype`",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .lower = lower,
    .limits = "f32 to s8, u8, s16, u16, s32 (zero point 0)",
    .samples = samples,
    .onnx = "",
};
