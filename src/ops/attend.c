/* Attend: record. */
#include "ops/attend.h"

#include <math.h>

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(attend, TW_ATTEND_ATTRIBUTES);

static bool is_mask(const tw_shape *mask, const tw_shape *q, const tw_shape *k, int32_t heads)
{
    const int32_t full[4] = {q->dim[0], heads, q->dim[1], k->dim[1]};
    for (int i = 0; i < 4; i++)
        if (mask->rank != 4 || (mask->dim[i] != 1 && mask->dim[i] != full[i]))
            return false;
    return true;
}

static bool shape(const tw_shape_call *call)
{
    const tw_shape *q = &call->in[TW_ATTEND_Q]->shape, *k = &call->in[TW_ATTEND_K]->shape;
    const tw_shape *v = &call->in[TW_ATTEND_V]->shape;
    const int32_t heads = ((const tw_attend_attributes *)call->attributes)->heads;
    const tw_value *mask = call->in_count > TW_ATTEND_MASK ? call->in[TW_ATTEND_MASK] : NULL;
    if (q->rank != 3 || k->rank != 3 || v->rank != 3)
        return TW_SHAPE_FAIL(call, "queries, keys and values must have rank 3");
    if (q->dtype != TW_F32 || k->dtype != TW_F32 || v->dtype != TW_F32 ||
        (mask && mask->shape.dtype != TW_F32))
        return TW_SHAPE_UNSUPPORTED(call, "queries, keys, values and mask must be f32");
    if (k->dim[0] != q->dim[0] || v->dim[0] != q->dim[0] || v->dim[1] != k->dim[1] ||
        k->dim[2] != q->dim[2] || q->dim[2] % heads != 0 || v->dim[2] % heads != 0 ||
        (heads > 1 && heads > q->dim[2]) || (mask && !is_mask(&mask->shape, q, k, heads)))
        return TW_SHAPE_FAIL(call, "queries, keys, values and mask do not fit each other");
    if (k->dim[1] > INT32_MAX / 4)
        return TW_SHAPE_UNSUPPORTED(call, "%d keys are too many", (int)k->dim[1]);
    call->out[0] = tw_shape_of(TW_F32, 3, (int32_t[]){q->dim[0], q->dim[1], v->dim[2]});
    return true;
}

/* Query rows and items of a batch. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    (void)node;
    if (axis > 1)
        return tw_rows_once();
    if (input == TW_ATTEND_Q || (axis == 0 && input != TW_ATTEND_MASK))
        return tw_rows_identity();
    return tw_rows_whole();
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *q = &node->in[TW_ATTEND_Q]->shape, *v = &node->in[TW_ATTEND_V]->shape;
    return (uint64_t)q->dim[0] * (uint64_t)q->dim[1] * (uint64_t)v->dim[1] *
           ((uint64_t)q->dim[2] + (uint64_t)v->dim[2]);
}

static bool lower(const tw_node *node, tw_arena *unused, tw_lowering *l, tw_diag *diag)
{
    (void)unused;
    if (node->clamp.low != -INFINITY || node->clamp.high != INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; put Clip behind it");
    l->kernel = &tw_k_attend_f32;
    l->scratch = (uint32_t)node->in[TW_ATTEND_K]->shape.dim[1] * 4u;
    return true;
}

/* clang-format off */
#define ATTENDS(name, q, k, v, mask, operands, attributes)                                             \
    "graph \"" name "\" {\n  const %q : f32" q " = random 1 -2 2\n  const %k : f32" k " = random 2 -2 2\n" \
    "  const %v : f32" v " = random 3 -2 2\n" mask                                                     \
    "  %y = Attend (" operands ") {" attributes "}\n  output %y\n}\n"
static const char samples[] =
    ATTENDS("rows", "[1,5,6]", "[1,7,6]", "[1,7,8]", "", "%q, %k, %v", "heads=2, scale=0.5")
    ATTENDS("masked", "[1,6,8]", "[1,6,8]", "[1,6,6]", "  const %m : f32[1,1,6,6] = random 4 -3 3\n", "%q, %k, %v, %m", "heads=2, scale=2, divide=1")
    ATTENDS("batch", "[3,4,2]", "[3,5,2]", "[3,5,2]", "  const %m : f32[3,1,1,5] = random 4 -3 3\n", "%q, %k, %v, %m", "");
/* clang-format on */

const tw_opdef tw_op_attend = {
    TW_OP_LEDGER(attend),
    TW_OP_ATTRIBUTES(attend),
    .formula = "out = softmax(q . k * scale + mask) . v, by query rows",
    .min_in = 3,
    .max_in = TW_ATTEND_OPERANDS,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .macs = macs,
    .lower = lower,
    .limits = "f32",
    .samples = samples,
    .onnx = "",
};
