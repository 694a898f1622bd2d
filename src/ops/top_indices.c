/* TopIndices: record. */
#include "ops/top_indices.h"

#include <math.h>

#include "ops/axes.h"
#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(top_indices, TW_TOP_INDICES_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_top_indices_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape;
    int axis = tw_shape_axis(call, a->axis);
    if (axis < 0)
        return false;
    if (a->k < 0 || a->k > x->dim[axis])
        return TW_SHAPE_FAIL(call, "%d elements of %d are asked for", (int)a->k, (int)x->dim[axis]);
    if (a->dtype != TW_S64 && a->dtype != TW_S32)
        return TW_SHAPE_UNSUPPORTED(call, "indices of type %s; s64 and s32 are supported",
                                    tw_dtype_name((tw_dtype)a->dtype));
    if (x->dtype == TW_F16 || x->dtype == TW_BF16 || x->dtype == TW_F64)
        return TW_SHAPE_UNSUPPORTED(call, "elements of type %s; cast them to f32",
                                    tw_dtype_name(x->dtype));
    call->out[0] = *x;
    call->out[0].dtype = (tw_dtype)a->dtype;
    call->out[0].dim[axis] = a->k;
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_top_indices_attributes *a = node->attributes;
    return tw_rows_along(node, input, axis, a->axis);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_top_indices_attributes *a = node->attributes;
    (void)arena;
    if (node->in[0]->quant.count > 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "elements of several scales cannot be compared; put Requantize before it");
    if (a->k > INT32_MAX / 4)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "more than %d elements cannot be ordered", INT32_MAX / 4);
    lowering->kernel = &tw_k_top_indices_any;
    lowering->scratch = (uint32_t)a->k * 4u;
    return true;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("greatest", "f32[1,6,5,8]", "-4", "4", "", "TopIndices (%x)")
    TW_SAMPLE("three", "s8[1,6,9]", "-3", "3", "", "TopIndices (%x) {k=3, largest=0, dtype=s32}")
    TW_SAMPLE("rows", "s64[1,7,3]", "-5", "5", "", "TopIndices (%x) {axis=1, k=7, last=1}");
/* clang-format on */

const tw_opdef tw_op_top_indices = {
    TW_OP_LEDGER(top_indices),
    TW_OP_ATTRIBUTES(top_indices),
    .formula = "indices of the `k` greatest elements along `axis`, in order; NaN is greater than "
               "any number",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .limits = "f32, integers, bool; quantised ones with one scale",
    .samples = samples,
    .onnx = "",
};
