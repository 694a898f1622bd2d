/* How the compiler thinks about matrix products. */
#include "ops/matmul.h"

#include <math.h>

#include "ops/ledger.h"
#include "ops/matmul_shape.h"
#include "ops/prepare.h"

TW_ATTRIBUTE_TABLE(matmul, TW_MATMUL_ATTRIBUTES);

static bool batches(const tw_shape_call *call, tw_shape *out)
{
    for (int k = 0; k < out->rank - 2; k++) {
        out->dim[k] = 1;
        for (int i = 0; i < 2; i++) {
            const tw_shape *in = &call->in[i]->shape;
            int axis = k - out->rank + in->rank;
            int32_t dim = axis >= 0 ? in->dim[axis] : 1;
            if (dim != 1 && out->dim[k] != 1 && dim != out->dim[k])
                return TW_SHAPE_FAIL(call, "batch extents %d and %d do not broadcast",
                                     (int)out->dim[k], (int)dim);
            out->dim[k] = dim != 1 ? dim : out->dim[k];
        }
    }
    return true;
}

bool tw_matmul_extents(const tw_shape_call *call, bool transposed)
{
    const tw_shape *a = &call->in[0]->shape, *b = &call->in[1]->shape;
    if (a->rank < 2 || b->rank < 2)
        return TW_SHAPE_FAIL(call, "operands of rank %d and %d; both need rows and columns",
                             a->rank, b->rank);
    int32_t depth = b->dim[b->rank - (transposed ? 1 : 2)];
    if (a->dim[a->rank - 1] != depth)
        return TW_SHAPE_FAIL(call, "the first operand has %d columns, the second %d rows",
                             (int)a->dim[a->rank - 1], (int)depth);
    tw_shape *out = &call->out[0];
    *out = a->rank >= b->rank ? *a : *b;
    if (!batches(call, out))
        return false;
    out->dim[out->rank - 2] = a->dim[a->rank - 2];
    out->dim[out->rank - 1] = b->dim[b->rank - (transposed ? 2 : 1)];
    return true;
}

static bool shape(const tw_shape_call *call)
{
    const tw_matmul_attributes *attributes = call->attributes;
    const tw_dtype a = call->in[0]->shape.dtype, b = call->in[1]->shape.dtype;
    if (a != b)
        return TW_SHAPE_UNSUPPORTED(call, "operands of %s and %s; convert one of them",
                                    tw_dtype_name(a), tw_dtype_name(b));
    return tw_matmul_extents(call, attributes->transpose_b);
}

/* Rows are a's, columns b's (where it is not transposed), batches whose extent is not broadcast. */
tw_rowmap tw_matmul_rows(const tw_node *node, int input, int axis, bool transposed)
{
    const tw_shape *in = &node->in[input]->shape, *out = &node->out[0]->shape;
    if (in->rank != out->rank || axis >= out->rank)
        return tw_rows_whole();
    bool own;
    if (axis == out->rank - 2)
        own = input == 0;
    else if (axis == out->rank - 1)
        own = input == 1 && !transposed;
    else
        own = in->dim[axis] == out->dim[axis];
    return own ? tw_rows_identity() : tw_rows_whole();
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_matmul_attributes *attributes = node->attributes;
    return tw_matmul_rows(node, input, axis, attributes->transpose_b);
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *a = &node->in[0]->shape;
    return (uint64_t)tw_shape_elements(&node->out[0]->shape) * (uint64_t)a->dim[a->rank - 1];
}

/* int16: no zero points; sums of 64 bits, which always hold. */
static bool lower_s16(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_value *operand[] = {node->in[0], node->in[1], node->out[0]};
    for (int i = 0; i < 3; i++)
        if (operand[i]->quant.count != 1 || operand[i]->quant.zero_point[0] != 0)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "int16 operands and result need one scale each and zero point 0");
    float product = node->in[0]->quant.scale[0] * node->in[1]->quant.scale[0]; /* as TFLite */
    return tw_prepare_single_wide(node, (double)product / (double)node->out[0]->quant.scale[0],
                                  arena, lowering, diag);
}

/* Zero points within int8, usable scales, and sums that 32 bits hold for any values. */
static bool check_s8(const tw_node *node, tw_diag *diag)
{
    const tw_value *operand[] = {node->in[0], node->in[1], node->out[0]};
    int32_t reach[3];
    for (int i = 0; i < 3; i++) {
        const tw_quant *q = &operand[i]->quant;
        if (q->count != 1 || q->zero_point[0] < INT8_MIN || q->zero_point[0] > INT8_MAX ||
            !(q->scale[0] > 0) || !isfinite(q->scale[0]))
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "%s needs one scale and a zero point within -128..127",
                           i == 2 ? "the output"
                           : i    ? "the second operand"
                                  : "the first operand");
        int32_t zero = q->zero_point[0];
        reach[i] = zero - INT8_MIN > INT8_MAX - zero ? zero - INT8_MIN : INT8_MAX - zero;
    }
    const tw_shape *a = &node->in[0]->shape;
    int64_t bound = (int64_t)a->dim[a->rank - 1] * reach[0] * reach[1];
    if (bound > INT32_MAX)
        tw_warn(
            diag, node->name, node->op->name,
            "sums over %d products can reach %lld, which 32 bits do not hold: they wrap, as the "
            "reference's do; keep the operator in float",
            (int)a->dim[a->rank - 1], (long long)bound);
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_matmul_attributes *attributes = node->attributes;
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    if (node->in[0]->shape.dtype == TW_S8) {
        if (!check_s8(node, diag))
            return false;
        float product = node->in[0]->quant.scale[0] * node->in[1]->quant.scale[0]; /* as TFLite */
        tw_prepare_single((double)product / (double)node->out[0]->quant.scale[0], arena, lowering);
        return true;
    }
    if (node->in[0]->shape.dtype == TW_S16)
        return lower_s16(node, arena, lowering, diag);
    if (attributes->transpose_b) { /* columns innermost */
        int order[TW_MAX_RANK], rank = node->in[1]->shape.rank;
        for (int k = 0; k < rank; k++)
            order[k] = k < rank - 2 ? k : 2 * rank - 3 - k;
        tw_prepare_order(node, 1, order, arena, lowering);
    }
    return true;
}

static const char samples[] =
    "graph \"f32\" {\n"
    "  const %a : f32[1,9,7] = random 1 -1 1\n"
    "  const %b : f32[1,7,13] = random 2 -1 1\n"
    "  %y = MatMul (%a, %b)\n"
    "  output %y\n}\n"
    "graph \"f32 heads, turned\" {\n"
    "  const %a : f32[1,4,9,7] = random 1 -1 1\n"
    "  const %b : f32[1,4,5,7] = random 2 -1 1\n"
    "  %y = MatMul (%a, %b) {transpose_b=1}\n"
    "  output %y\n}\n"
    "graph \"s8\" {\n"
    "  const %a : s8[1,9,30] quant(scale=0.05, zero=-20) = random 1 -128 128\n"
    "  const %b : s8[1,30,19] quant(scale=0.03, zero=4) = random 2 -128 128\n"
    "  %y : s8[1,9,19] quant(scale=0.4, zero=5) = MatMul (%a, %b)\n"
    "  output %y\n}\n"
    "graph \"s8 heads, turned\" {\n"
    "  const %a : s8[1,4,9,30] quant(scale=0.05, zero=-20) = random 1 -128 128\n"
    "  const %b : s8[1,4,5,30] quant(scale=0.03, zero=4) = random 2 -128 128\n"
    "  %y : s8[1,4,9,5] quant(scale=0.4, zero=5) = MatMul (%a, %b) {transpose_b=1}\n"
    "  output %y\n}\n"
    "graph \"s16\" {\n"
    "  const %a : s16[1,9,30] quant(scale=0.0005, zero=0) = random 1 -32768 32768\n"
    "  const %b : s16[1,30,19] quant(scale=0.0003, zero=0) = random 2 -32768 32768\n"
    "  %y : s16[1,9,19] quant(scale=0.02, zero=0) = MatMul (%a, %b)\n"
    "  output %y\n}\n";

const tw_opdef tw_op_matmul = {
    TW_OP_LEDGER(matmul),
    TW_OP_ATTRIBUTES(matmul),
    .formula = "out[..,m,n] = sum over k of a[..,m,k] * b[..,k,n]",
    .min_in = 2,
    .max_in = 2,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .macs = macs,
    .lower = lower,
    .limits = "ranks from 2; f32, or s8 or s16 with one scale an operand",
    .samples = samples,
    .onnx = "",
};
