/* The element-wise families' common half of their records. */
#include "ops/elementwise.h"

#include <math.h>

bool tw_shape_broadcast(const tw_shape_call *call, tw_dtype dtype)
{
    tw_shape *out = &call->out[0];
    out->dtype = dtype;
    out->rank = 0;
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i]->shape.rank > out->rank)
            out->rank = call->in[i]->shape.rank;
    for (int k = 0; k < out->rank; k++) {
        out->dim[k] = 1;
        for (int i = 0; i < call->in_count; i++) {
            int own = k - (out->rank - call->in[i]->shape.rank);
            int32_t extent = own < 0 ? 1 : call->in[i]->shape.dim[own];
            if (extent != out->dim[k] && extent != 1 && out->dim[k] != 1)
                return TW_SHAPE_FAIL(call,
                                     "extents %d and %d on axis %d of the result do not broadcast; "
                                     "they must be equal or one of them 1",
                                     (int)out->dim[k], (int)extent, k);
            if (extent != 1)
                out->dim[k] = extent;
        }
    }
    return true;
}

bool tw_shape_broadcast_pair(const tw_shape_call *call, tw_dtype dtype)
{
    const tw_dtype a = call->in[0]->shape.dtype, b = call->in[1]->shape.dtype;
    if (a != b)
        return TW_SHAPE_FAIL(call, "the operands are %s and %s; cast one of them", tw_dtype_name(a),
                             tw_dtype_name(b));
    return tw_shape_broadcast(call, dtype == TW_NO_DTYPE ? a : dtype);
}

tw_rowmap tw_rows_broadcast(const tw_node *node, int input, int axis)
{
    const tw_shape *in = &node->in[input]->shape, *out = &node->out[0]->shape;
    bool along = in->rank == out->rank && axis < out->rank && in->dim[axis] == out->dim[axis];
    return along ? tw_rows_identity() : tw_rows_whole();
}

bool tw_in_place_elementwise(const tw_node *node, int input)
{
    const tw_shape *in = &node->in[input]->shape, *out = &node->out[0]->shape;
    tw_shape same = *in;
    same.dtype = out->dtype;
    return tw_dtype_bytes(in->dtype) == tw_dtype_bytes(out->dtype) && tw_shape_equal(&same, out);
}

bool tw_lower_plain(const tw_node *node, tw_lowering *lowering, tw_diag *diag)
{
    const char *name = tw_dtype_name(node->in[0]->shape.dtype);
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && node->in[i]->quant.count != 0)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "no kernel for %s with scales; convert the operands to s8 with "
                           "Requantize, or to f32 with Dequantize",
                           tw_dtype_name(node->in[i]->shape.dtype));
    if (node->out[0]->quant.count != 0)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the operands are plain %s, the result has scales; quantise all or none",
                       name);
    if (isfinite(node->clamp.low) || isfinite(node->clamp.high))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "no clamp on plain %s; use Max and Min behind it", name);
    lowering->kernel = tw_op_kernel(node->op, tw_signature_of(node->in[0]));
    if (!lowering->kernel)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "no kernel for %s; cast the operands to a type it has", name);
    return true;
}
