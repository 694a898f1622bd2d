/* Where: record. */
#include <math.h>

#include "ops/elementwise.h"
#include "ops/ledger.h"

static bool shape(const tw_shape_call *call)
{
    const tw_shape *a = &call->in[1]->shape, *b = &call->in[2]->shape;
    if (call->in[0]->shape.dtype != TW_BOOL)
        return TW_SHAPE_FAIL(call, "the condition must be bool, not %s",
                             tw_dtype_name(call->in[0]->shape.dtype));
    if (a->dtype != b->dtype)
        return TW_SHAPE_FAIL(call, "the operands are %s and %s; cast one of them",
                             tw_dtype_name(a->dtype), tw_dtype_name(b->dtype));
    return tw_shape_broadcast(call, a->dtype);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    const tw_quant *out = &node->out[0]->quant;
    if (!tw_quant_equal(&node->in[1]->quant, out) || !tw_quant_equal(&node->in[2]->quant, out) ||
        out->count > 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "operands and result must have the same scale and zero point, one a "
                       "tensor; put Requantize before it");
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; put Clip behind it");
    lowering->kernel = &tw_k_where_any;
    return true;
}

const tw_opdef tw_op_where = {
    TW_OP_LEDGER(where),
    .formula = "out[i] = c[i] ? a[i] : b[i]",
    .min_in = 3,
    .max_in = 3,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = tw_rows_broadcast,
    .lower = lower,
    .in_place = tw_in_place_elementwise,
    .limits = "every type; quantised operands share the result's scale and zero point",
    .samples = "graph \"f32\" {\n"
               "  const %c : bool[1,7,1,3] = random 1 0 2\n"
               "  const %a : f32[1,7,5,3] = random 2 -1 1\n"
               "  const %b : f32[3] = random 3 -1 1\n"
               "  %y = Where (%c, %a, %b)\n"
               "  output %y\n"
               "}\n"
               "graph \"s64\" {\n"
               "  const %c : bool[1,7,5,3] = random 1 0 2\n"
               "  const %a : s64[] = random 2 -9 9\n"
               "  const %b : s64[1,7,5,3] = random 3 -9 9\n"
               "  %y = Where (%c, %a, %b)\n"
               "  output %y\n"
               "}\n",
    .onnx = "Where",
};
