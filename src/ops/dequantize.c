/* Dequantize: record. The input's quantisation says how. */
#include "ops/ledger.h"
#include "ops/scales.h"

static bool shape(const tw_shape_call *call)
{
    tw_shape_default(call);
    call->out[0].dtype = TW_F32;
    if (!tw_is_quantised_type(call->in[0]->shape.dtype))
        return TW_SHAPE_UNSUPPORTED(call, "x is %s; s8, u8, s16, u16 and s32 are supported",
                                    tw_dtype_name(call->in[0]->shape.dtype));
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    return tw_lower_scales(node, TW_SIG_any, arena, lowering, diag);
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("s8", "s8[1,7,5,3] quant(scale=0.05, zero=-4)", "-128", "128", "", "Dequantize (%x)")
    TW_SAMPLE("by_row", "u8[1,3,5] quant(scale=[0.05,0.1,0.02], zero=[0,3,9], axis=1)", "0", "256",
              "", "Dequantize (%x)");
/* clang-format on */

const tw_opdef tw_op_dequantize = {
    TW_OP_LEDGER(dequantize),
    .formula = "(x - zero_point) * scale",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .lower = lower,
    .limits = "s8, u8, s16, u16, s32 (zero point 0) to f32",
    .samples = samples,
    .onnx = "",
};
