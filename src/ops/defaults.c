/* Family defaults of the operator record, and running one node on constants. */
#include "ops/op.h"

#include <math.h>
#include <string.h>

#include "ops/axes.h"
#include "ops/double.h"

bool tw_shape_default(const tw_shape_call *call)
{
    for (int i = 0; i < call->out_count; i++)
        call->out[i] = call->in[0]->shape;
    return true;
}

tw_rowmap tw_rows_default(const tw_node *node, int input, int axis)
{
    const tw_shape *in = &node->in[input]->shape, *out = &node->out[0]->shape;
    bool same = axis < out->rank && in->rank == out->rank && in->dim[axis] == out->dim[axis];
    return same ? tw_rows_identity() : tw_rows_whole();
}

int tw_shape_axis(const tw_shape_call *call, int32_t axis)
{
    const int rank = call->in[0]->shape.rank, found = tw_axis(axis, rank);
    if (found < 0)
        TW_SHAPE_FAIL(call, "axis %d does not exist in a tensor of rank %d", (int)axis, rank);
    return found;
}

tw_rowmap tw_rows_along(const tw_node *node, int input, int axis, int32_t along)
{
    const int rank = node->in[input]->shape.rank;
    return axis >= rank || tw_axis(along, rank) == axis ? tw_rows_once() : tw_rows_identity();
}

tw_rowmap tw_rows_steps(const tw_node *node, int input, int axis)
{
    if (input != 0)
        return tw_rows_whole();
    return axis == 1 && node->in[0]->shape.dim[0] == 1 ? tw_rows_identity() : tw_rows_once();
}

tw_rowmap tw_rows_at_once(const tw_node *node, int input, int axis)
{
    (void)node, (void)axis;
    return input == 0 ? tw_rows_once() : tw_rows_whole();
}

bool tw_final_but_first(const tw_node *node, int output)
{
    (void)node;
    return output > 0;
}

int tw_signature_of(const tw_value *value)
{
    bool scaled = value->quant.count != 0;
    switch (value->shape.dtype) {
    case TW_F32: return TW_SIG_f32;
    case TW_S8: return scaled ? TW_SIG_s8 : TW_SIG_s8x;
    case TW_S16: return scaled ? TW_SIG_s16 : TW_SIG_s16x;
    case TW_U8: return scaled ? 0 : TW_SIG_u8;
    case TW_U16: return scaled ? 0 : TW_SIG_u16;
    case TW_S32: return scaled ? 0 : TW_SIG_s32;
    case TW_U32: return TW_SIG_u32;
    case TW_S64: return TW_SIG_s64;
    case TW_U64: return TW_SIG_u64;
    case TW_BOOL: return TW_SIG_bool;
    case TW_F64: return TW_SIG_f64;
    default: return 0;
    }
}

const tw_kernel *tw_op_kernel(const tw_opdef *op, int signature)
{
    if (signature == TW_SIG_f64)
        return tw_double_kernel(op->code);
    for (const tw_kernel *const *k = op->kernels; k && *k; k++)
        if ((int)((*k)->id & 255u) == signature)
            return *k;
    return NULL;
}

/* Divided in float, as TFLite does: near a tie that decides. */
static int32_t to_stored(float real, float scale, int32_t zero_point, int32_t low, int32_t high)
{
    double v = (double)roundf(real / scale) + zero_point; /* infinities stay */
    return v < low ? low : v > high ? high : (int32_t)v;
}

void tw_lower_clamp(const tw_node *node, tw_lowering *lowering)
{
    const tw_value *out = node->out[0];
    int32_t low = INT32_MIN, high = INT32_MAX;
    switch (out->shape.dtype) {
    case TW_F32:
        lowering->clamp_low.f32 = node->clamp.low;
        lowering->clamp_high.f32 = node->clamp.high;
        return;
    case TW_S8: low = INT8_MIN, high = INT8_MAX; break;
    case TW_U8: low = 0, high = UINT8_MAX; break;
    case TW_S16: low = INT16_MIN, high = INT16_MAX; break;
    default: break;
    }
    lowering->clamp_low.s32 = low;
    lowering->clamp_high.s32 = high;
    if (out->quant.count == 1) {
        float scale = out->quant.scale[0];
        int32_t zero = out->quant.zero_point[0];
        lowering->clamp_low.s32 = to_stored(node->clamp.low, scale, zero, low, high);
        lowering->clamp_high.s32 = to_stored(node->clamp.high, scale, zero, low, high);
    }
}

bool tw_lower_default(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    int signature = node->op->kind == TW_MOVE ? TW_SIG_any : tw_signature_of(node->in[0]);
    lowering->kernel = tw_op_kernel(node->op, signature);
    if (!lowering->kernel)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "no kernel for %s%s; convert the operand to f32 or a supported type",
                       tw_dtype_name(node->in[0]->shape.dtype),
                       node->in[0]->quant.count ? " with scales" : "");
    tw_lower_clamp(node, lowering);
    return true;
}

const void *tw_lowered_input(const tw_node *node, const tw_lowering *lowering, int i,
                             tw_tensor *tensor)
{
    *tensor = tw_tensor_of(node->in[i]);
    if (!lowering->stored[i].data)
        return node->in[i]->data;
    for (int k = 0; k < (int)tensor->rank; k++)
        tensor->stride[k] = lowering->stored[i].stride[k];
    return lowering->stored[i].data;
}
