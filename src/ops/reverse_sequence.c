/* ReverseSequence: record. */
#include "ops/reverse_sequence.h"

#include "ops/axes.h"
#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(reverse_sequence, TW_REVERSE_SEQUENCE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_reverse_sequence_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *lengths = &call->in[1]->shape;
    int axis = tw_axis(a->axis, x->rank), batch = tw_axis(a->batch_axis, x->rank);
    if (!tw_shape_is_index(call, 1))
        return false;
    if (axis < 0 || batch < 0 || axis == batch)
        return TW_SHAPE_FAIL(call, "axes %d and %d must be two axes of a tensor of rank %d",
                             (int)a->axis, (int)a->batch_axis, x->rank);
    if (lengths->rank != 1 || lengths->dim[0] != x->dim[batch])
        return TW_SHAPE_FAIL(call,
                             "the lengths must be a list of %d, one for each index of axis %d",
                             (int)x->dim[batch], batch);
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_reverse_sequence_attributes *a = node->attributes;
    int rank = node->in[0]->shape.rank;
    bool passes = input == 0 ? axis < rank && axis != tw_axis(a->axis, rank)
                             : axis == 0 && tw_axis(a->batch_axis, rank) == 0;
    return passes ? tw_rows_identity() : tw_rows_whole();
}

/* clang-format off */
static const char samples[] =
    "graph \"time\" {\n  const %x : f32[1,6,3] = random 1 -3 3\n  const %n : s64[1] = [4]\n"
    "  %y = ReverseSequence (%x, %n) {axis=1, batch_axis=0}\n  output %y\n}\n"
    "graph \"batch\" {\n  const %x : s8[4,3,2] = random 1 -128 128\n  const %n : s32[4] = [1, 3, 0, 2]\n"
    "  %y = ReverseSequence (%x, %n) {axis=1, batch_axis=0}\n  output %y\n}\n"
    "graph \"rows\" {\n  const %x : s16[5,2,3] = random 1 -99 99\n  const %n : s32[2] = [5, 2]\n"
    "  %y = ReverseSequence (%x, %n)\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_reverse_sequence = {
    TW_OP_LEDGER(reverse_sequence),
    TW_OP_ATTRIBUTES(reverse_sequence),
    .formula = "out[t, b] = t < n[b] ? x[n[b] - 1 - t, b] : x[t, b], t along `axis`, b along "
               "`batch_axis`",
    .min_in = 2,
    .max_in = 2,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = tw_lower_moved,
    .limits = "every type; a length beyond the axis ends the run with TW_E_DATA",
    .samples = samples,
    .onnx = "",
};
