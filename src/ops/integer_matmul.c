/* IntegerMatMul: record. Matrix product of plain 8-bit integers, each less a zero point that may be
 * data: what a model quantised while it runs consists of. Of 32 and 64 bits without zero points, in the
 * operands' own type, wrapping around. */
#include "ops/integer_matmul.h"

#include <math.h>

#include "ops/ledger.h"
#include "ops/matmul_shape.h"

static bool is_byte(tw_dtype dtype)
{
    return dtype == TW_S8 || dtype == TW_U8;
}

static bool is_wide(tw_dtype dtype)
{
    return dtype == TW_S32 || dtype == TW_U32 || dtype == TW_S64 || dtype == TW_U64;
}

/* A list of one or `count` of the operand's type, or nothing. */
static bool is_zero(const tw_value *zero, tw_dtype dtype, int32_t count)
{
    return !zero || (zero->shape.dtype == dtype && zero->shape.rank == 1 &&
                     (zero->shape.dim[0] == 1 || zero->shape.dim[0] == count));
}

static bool shape(const tw_shape_call *call)
{
    const tw_shape *a = &call->in[0]->shape, *b = &call->in[1]->shape;
    bool wide = is_wide(a->dtype) && a->dtype == b->dtype;
    if (!wide && (!is_byte(a->dtype) || !is_byte(b->dtype)))
        return TW_SHAPE_UNSUPPORTED(call,
                                    "operands of %s and %s; s8 and u8 are supported, and two of "
                                    "s32, u32, s64 or u64",
                                    tw_dtype_name(a->dtype), tw_dtype_name(b->dtype));
    if (!tw_matmul_extents(call, false))
        return false;
    if (wide)
        return call->in_count == 2 || TW_SHAPE_FAIL(call, "zero points are for operands of 8 bits");
    if (a->dim[a->rank - 1] > TW_INTEGER_MATMUL_DEEPEST)
        return TW_SHAPE_UNSUPPORTED(call, "sums of %d products; 32 bits hold %d",
                                    (int)a->dim[a->rank - 1], TW_INTEGER_MATMUL_DEEPEST);
    tw_value *const a_zero = call->in_count > 2 ? call->in[2] : NULL;
    tw_value *const b_zero = call->in_count > 3 ? call->in[3] : NULL;
    if (!is_zero(a_zero, a->dtype, a->dim[a->rank - 2]) ||
        !is_zero(b_zero, b->dtype, b->dim[b->rank - 1]))
        return TW_SHAPE_FAIL(call,
                             "zero points are lists of one, or one a row of the first operand "
                             "and one a column of the second, of the operand's type");
    call->out[0].dtype = TW_S32;
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    return input < 2 ? tw_matmul_rows(node, input, axis, false) : tw_rows_whole();
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *a = &node->in[0]->shape;
    return (uint64_t)tw_shape_elements(&node->out[0]->shape) * (uint64_t)a->dim[a->rank - 1];
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && node->in[i]->quant.count)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "it is for plain integers; MatMul is for those with scales");
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; use Max and Min behind it");
    lowering->kernel = &tw_k_integer_matmul_any;
    return true;
}

/* clang-format off */
static const char samples[] =
    "graph \"plain\" {\n  const %a : u8[1,7,12] = random 1 0 256\n  const %b : s8[12,5] = random 2 -128 128\n"
    "  %y = IntegerMatMul (%a, %b)\n  output %y\n}\n"
    "graph \"zero points\" {\n  const %a : s8[1,2,5,9] = random 1 -128 128\n  const %b : u8[1,2,9,4] = random 2 0 256\n"
    "  const %za : s8[1] = [-7]\n  const %zb : u8[1] = [200]\n"
    "  %y = IntegerMatMul (%a, %b, %za, %zb)\n  output %y\n}\n"
    "graph \"by row and column\" {\n  const %a : s8[6,9] = random 1 -128 128\n  const %b : s8[9,4] = random 2 -128 128\n"
    "  const %za : s8[6] = random 3 -128 128\n  const %zb : s8[4] = random 4 -128 128\n"
    "  %y = IntegerMatMul (%a, %b, %za, %zb)\n  output %y\n}\n"
    "graph \"s32\" {\n  const %a : s32[1,7,12] = random 1 -70000 70000\n  const %b : s32[12,5] = random 2 -70000 70000\n"
    "  %y = IntegerMatMul (%a, %b)\n  output %y\n}\n"
    "graph \"u64\" {\n  const %a : u64[2,3,9] = random 1 0 100000\n  const %b : u64[2,9,4] = random 2 0 100000\n"
    "  %y = IntegerMatMul (%a, %b)\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_integer_matmul = {
    TW_OP_LEDGER(integer_matmul),
    .formula = "out[.., m, n] = sum over k of (a[.., m, k] - za[m]) * (b[.., k, n] - zb[n])",
    .min_in = 2,
    .max_in = 4,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .macs = macs,
    .lower = lower,
    .limits =
        "plain s8 and u8, at most 33025 columns of the first operand; two of s32, u32, s64 or "
        "u64, without zero points, wrapping around",
    .samples = samples,
    .onnx = "",
};
