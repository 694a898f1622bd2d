/* Cast: record. Looks at stored numbers: scales neither matter nor go on. */
#include <math.h>

#include "ops/cast.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(cast, TW_CAST_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_cast_attributes *a = call->attributes;
    tw_shape_default(call);
    call->out[0].dtype = (tw_dtype)a->dtype;
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "its result cannot be clamped; put a Clip behind it");
    lowering->kernel = tw_op_kernel(node->op, TW_SIG_any);
    return true;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("to_s32", "f32[1,7,5,3]", "-99", "99", "", "Cast (%x) {dtype=s32}")
    TW_SAMPLE("to_f16", "s64[1,7,5]", "-99999", "99999", "", "Cast (%x) {dtype=f16}")
    TW_SAMPLE("to_bool", "f64[4,3]", "-1", "1", "", "Cast (%x) {dtype=bool}");
/* clang-format on */

const tw_opdef tw_op_cast = {
    TW_OP_LEDGER(cast),
    TW_OP_ATTRIBUTES(cast),
    .formula = "x in another type: floats are cut off and saturate, integers wrap, bool is x != 0",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .lower = lower,
    .limits = "",
    .samples = samples,
    .onnx = "",
};
