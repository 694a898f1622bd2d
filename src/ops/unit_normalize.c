/* UnitNormalize: record. float32 is L2Normalize. */
#include "ops/unit_normalize.h"

#include "ops/axes.h"
#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(unit_normalize, TW_UNIT_NORMALIZE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_unit_normalize_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape;
    int axis = tw_shape_axis(call, a->axis);
    if (axis < 0)
        return false;
    if (x->dtype != TW_S8)
        return TW_SHAPE_UNSUPPORTED(call, "a tensor of %s; it is for s8, L2Normalize for f32",
                                    tw_dtype_name(x->dtype));
    if (x->dim[axis] > TW_UNIT_NORMALIZE_LONGEST)
        return TW_SHAPE_UNSUPPORTED(call, "the axis has %d elements; at most %d are supported",
                                    (int)x->dim[axis], TW_UNIT_NORMALIZE_LONGEST);
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_unit_normalize_attributes *a = node->attributes;
    return tw_rows_along(node, input, axis, a->axis);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_quant *in = &node->in[0]->quant, *out = &node->out[0]->quant;
    if (in->count != 1 || out->count != 1 || out->scale[0] != 1.0f / 128 || out->zero_point[0] != 0)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the input needs one scale, the result has scale 1/128 and zero point 0; "
                       "use f32 here");
    return tw_lower_default(node, arena, lowering, diag);
}

/* A vector is read to its end before its first result is written. */
static bool in_place(const tw_node *node, int input)
{
    (void)node;
    return input == 0;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("channel", "s8[1,7,3,5] quant(scale=0.05, zero=-4)", "-128", "128",
              " : s8[1,7,3,5] quant(scale=0.0078125, zero=0)", "UnitNormalize (%x)")
    TW_SAMPLE("rows", "s8[1,7,4] quant(scale=0.05, zero=0)", "-9", "9",
              " : s8[1,7,4] quant(scale=0.0078125, zero=0)", "UnitNormalize (%x) {axis=1}");
/* clang-format on */

const tw_opdef tw_op_unit_normalize = {
    TW_OP_LEDGER(unit_normalize),
    TW_OP_ATTRIBUTES(unit_normalize),
    .formula = "x / sqrt(sum of x * x) along `axis`; 0 / 0 is 0",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .in_place = in_place,
    .limits =
        "s8 of one scale to scale 1/128 and zero point 0; at most 32768 elements along the axis",
    .samples = samples,
    .onnx = "",
};
