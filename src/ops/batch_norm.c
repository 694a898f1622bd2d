/* BatchNorm: record. A pass turns it into a convolution's weights, or into Mul and Add. */
#include "ops/batch_norm.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(batch_norm, TW_BATCH_NORM_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    static const char *const names[] = {"x", "scale", "bias", "mean", "variance"};
    const tw_shape *x = &call->in[0]->shape;
    if (x->rank < 1)
        return TW_SHAPE_FAIL(call, "x is a scalar; it needs a channel axis");
    for (int i = 0; i < 5; i++)
        if (call->in[i]->shape.dtype != TW_F32)
            return TW_SHAPE_UNSUPPORTED(call, "%s is %s; convert it to f32", names[i],
                                        tw_dtype_name(call->in[i]->shape.dtype));
    int32_t channels = x->dim[x->rank - 1];
    for (int i = 1; i < 5; i++) {
        const tw_shape *s = &call->in[i]->shape;
        if (s->rank != 1 || s->dim[0] != channels)
            return TW_SHAPE_FAIL(call, "%s must hold one value for each of the %d channels",
                                 names[i], (int)channels);
    }
    return tw_shape_default(call);
}

const tw_opdef tw_op_batch_norm = {
    TW_OP_LEDGER(batch_norm),
    TW_OP_ATTRIBUTES(batch_norm),
    .formula = "(x - mean) / sqrt(variance + epsilon) * scale + bias, by the last axis",
    .min_in = 5,
    .max_in = 5,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .limits = "f32; folded or lowered before planning",
    .onnx = "",
};
