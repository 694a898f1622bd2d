/* ToSmallFloat: record. */
#include <math.h>

#include "ops/ledger.h"
#include "ops/small_float.h"

TW_ATTRIBUTE_TABLE(small_float, TW_SMALL_FLOAT_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    if (call->in[0]->shape.dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "the operand has type %s; f32 is supported: cast it",
                                    tw_dtype_name(call->in[0]->shape.dtype));
    tw_shape_default(call);
    call->out[0].dtype = TW_U8;
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "its result cannot be clamped; put a Clip in front of it");
    lowering->kernel = tw_op_kernel(node->op, TW_SIG_f32);
    return true;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("e4m3fn", "f32[1,7,5,3]", "-600", "600", "", "ToSmallFloat (%x)")
    TW_SAMPLE("e5m2", "f32[1,7,5]", "-99999", "99999", "", "ToSmallFloat (%x) {format=e5m2, saturate=0}")
    TW_SAMPLE("e2m1", "f32[4,3]", "-9", "9", "", "ToSmallFloat (%x) {format=e2m1}")
    TW_SAMPLE("e8m0", "f32[1,6,3]", "0", "9", "", "ToSmallFloat (%x) {format=e8m0, power=nearest}");
/* clang-format on */

const tw_opdef tw_op_small_float = {
    TW_OP_LEDGER(small_float),
    TW_OP_ATTRIBUTES(small_float),
    .formula = "the code of x in a float format of 8 bits or less",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .lower = lower,
    .limits = "f32",
    .samples = samples,
    .onnx = "",
};
