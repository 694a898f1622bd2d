/* The element-wise families' common half of their records. */
#include "ops/elementwise.h"

#include <math.h>

bool tw_shape_broadcast(const tw_shape_call *call, tw_dtype dtype)
{
    const tw_shape *a = &call->in[0]->shape, *b = &call->in[1]->shape;
    tw_shape *out = &call->out[0];
    if (a->dtype != b->dtype)
        return TW_SHAPE_FAIL(call, "the operands are %s and %s; cast one of them",
                             tw_dtype_name(a->dtype), tw_dtype_name(b->dtype));
    out->dtype = dtype == TW_NO_DTYPE ? a->dtype : dtype;
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int k = 0; k < out->rank; k++) {
        int ka = k - (out->rank - a->rank), kb = k - (out->rank - b->rank);
        int32_t da = ka < 0 ? 1 : a->dim[ka], db = kb < 0 ? 1 : b->dim[kb];
        if (da != db && da != 1 && db != 1)
            return TW_SHAPE_FAIL(call,
                                 "extents %d and %d on axis %d of the result do not broadcast; "
                                 "they must be equal or one of them 1",
                                 (int)da, (int)db, k);
        out->dim[k] = da == 1 ? db : da;
    }
    return true;
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
