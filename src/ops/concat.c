/* Concat: record. The inputs have one type, one rank, and equal extents off the axis; those that
 * carry a scale carry the output's. */
#include "ops/concat.h"

#include "ops/axes.h"
#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(concat, TW_CONCAT_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_concat_attributes *a = call->attributes;
    const tw_shape *first = &call->in[0]->shape;
    int axis = tw_shape_axis(call, a->axis);
    int64_t total = 0;
    if (axis < 0)
        return false;
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i])
            return TW_SHAPE_FAIL(call, "input %d is missing", i);
        const tw_shape *s = &call->in[i]->shape;
        if (s->dtype != first->dtype || s->rank != first->rank)
            return TW_SHAPE_FAIL(call, "input %d is %s of rank %d where input 0 is %s of rank %d",
                                 i, tw_dtype_name(s->dtype), s->rank, tw_dtype_name(first->dtype),
                                 first->rank);
        for (int k = 0; k < s->rank; k++)
            if (k != axis && s->dim[k] != first->dim[k])
                return TW_SHAPE_FAIL(call, "axis %d of input %d is %d where input 0 has %d", k, i,
                                     (int)s->dim[k], (int)first->dim[k]);
        total += s->dim[axis];
    }
    if (total > INT32_MAX)
        return TW_SHAPE_UNSUPPORTED(call, "the joined axis has %lld rows; at most %d are supported",
                                    (long long)total, INT32_MAX);
    call->out[0] = *first;
    call->out[0].dim[axis] = (int32_t)total;
    return true;
}

/* Along the axis, input i starts at output row `before`: a pad of so many rows. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_concat_attributes *a = node->attributes;
    if (axis >= node->in[input]->shape.rank)
        return tw_rows_whole();
    if (tw_axis(a->axis, node->in[input]->shape.rank) != axis)
        return tw_rows_identity();
    int64_t before = 0;
    for (int i = 0; i < input; i++)
        before += node->in[i]->shape.dim[axis];
    return tw_rows_mapped(1, 1, before, -before);
}

static bool part(const tw_node *node, int input, tw_part *part)
{
    const tw_concat_attributes *a = node->attributes;
    int axis = tw_axis(a->axis, node->out[0]->shape.rank);
    for (int i = 0; i < input; i++)
        part->begin[axis] += node->in[i]->shape.dim[axis];
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    for (int i = 0; i < node->in_count; i++)
        if (!tw_quant_equal(&node->in[i]->quant, &node->out[0]->quant))
            return tw_fail(diag, TW_CODE_FAILED, node->name, node->op->name,
                           "input %d has another scale or zero point than the result; put a "
                           "Requantize before it",
                           i);
    return tw_lower_default(node, arena, lowering, diag);
}

/* clang-format off */
static const char samples[] =
    "graph \"rows\" {\n  const %a : f32[1,5,3] = random 1 -3 3\n"
    "  const %b : f32[1,2,3] = random 2 -3 3\n  %y = Concat (%a, %b, %a) {axis=1}\n"
    "  output %y\n}\n"
    "graph \"channels\" {\n  const %a : s8[1,5,3] = random 1 -128 128\n"
    "  const %b : s8[1,5,4] = random 2 -128 128\n  %y = Concat (%a, %b) {axis=-1}\n"
    "  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_concat = {
    TW_OP_LEDGER(concat),
    TW_OP_ATTRIBUTES(concat),
    .formula = "x0 | x1 | ... along `axis`",
    .min_in = 1,
    .max_in = TW_MAX_OPERANDS - 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .part = part,
    .limits = "at most 15 inputs; quantised inputs share the output's scale and zero point",
    .samples = samples,
    .onnx = "",
};
