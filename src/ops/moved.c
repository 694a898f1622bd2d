/* Operators that move elements by indices: the common half of their records. */
#include "ops/moved.h"

#include <math.h>

#include "runtime/indices.h"

bool tw_shape_is_index(const tw_shape_call *call, int i)
{
    const tw_dtype type = call->in[i]->shape.dtype;
    return type == TW_S32 || type == TW_S64 ||
           TW_SHAPE_FAIL(call, "input %d holds indices; they must be s32 or s64, not %s", i,
                         tw_dtype_name(type));
}

bool tw_shape_is_storable(const tw_shape_call *call, int i)
{
    const tw_shape *s = &call->out[i];
    int64_t bytes = tw_dtype_bytes(s->dtype);
    for (int k = 0; k < s->rank; k++)
        if (s->dim[k] == 0)
            return true;
    for (int k = 0; k < s->rank; k++)
        if ((bytes *= s->dim[k]) > INT32_MAX)
            return TW_SHAPE_UNSUPPORTED(call, "the result has more than %d bytes", INT32_MAX);
    return true;
}

bool tw_lower_moved(const tw_node *node, tw_arena *unused, tw_lowering *lowering, tw_diag *diag)
{
    const tw_value *out = node->out[0];
    (void)unused;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && node->in[i]->shape.dtype == out->shape.dtype &&
            (i == 0 || node->in[i]->quant.count) &&
            (!tw_quant_equal(&node->in[i]->quant, &out->quant) || out->quant.count > 1))
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "operands and result must have the same scale and zero point, one a "
                           "tensor; put Requantize before it");
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; put Clip behind it");
    lowering->kernel = tw_op_kernel(node->op, TW_SIG_any);
    return lowering->kernel || tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                                       "this build has no kernel for it");
}

bool tw_shape_is_combined(const tw_shape_call *call, int32_t how)
{
    const tw_dtype x = call->in[0]->shape.dtype, updates = call->in[2]->shape.dtype;
    if (x != updates)
        return TW_SHAPE_FAIL(call, "the input is %s, the updates are %s; cast one of them",
                             tw_dtype_name(x), tw_dtype_name(updates));
    return tw_can_combine(x, how) ||
           TW_SHAPE_UNSUPPORTED(call,
                                "a reduction of %s; cast input and updates to f32 or integers",
                                tw_dtype_name(x));
}

bool tw_lower_scattered(const tw_node *node, int32_t how, tw_lowering *lowering, tw_diag *diag)
{
    if (node->out[0]->quant.count && (how == TW_COMBINE_ADD || how == TW_COMBINE_MUL))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "no sums or products of quantised elements; put Dequantize before it");
    return tw_lower_moved(node, NULL, lowering, diag);
}

bool tw_in_place_first(const tw_node *node, int input)
{
    (void)node;
    return input == 0;
}
