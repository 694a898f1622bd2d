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
    .onnx = "",
};
