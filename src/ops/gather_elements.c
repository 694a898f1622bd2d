/* GatherElements: record. */
#include "ops/gather_elements.h"

#include "ops/axes.h"
#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(gather_elements, TW_GATHER_ELEMENTS_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_gather_elements_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *indices = &call->in[1]->shape;
    int axis = tw_axis(a->axis, x->rank);
    if (!tw_shape_is_index(call, 1))
        return false;
    if (axis < 0 || x->rank != indices->rank)
        return TW_SHAPE_FAIL(call,
                             "input and indices must have one rank and the axis; they have ranks "
                             "%d and %d, the axis is %d",
                             x->rank, indices->rank, (int)a->axis);
    for (int k = 0; k < x->rank; k++)
        if (k != axis && indices->dim[k] > x->dim[k])
            return TW_SHAPE_FAIL(call, "axis %d has %d indices, the input has %d elements", k,
                                 (int)indices->dim[k], (int)x->dim[k]);
    call->out[0] = *indices;
    call->out[0].dtype = x->dtype;
    return tw_shape_is_storable(call, 0);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_gather_elements_attributes *a = node->attributes;
    int rank = node->in[0]->shape.rank;
    bool passes = axis < rank && (input == 1 || axis != tw_axis(a->axis, rank));
    return passes ? tw_rows_identity() : tw_rows_whole();
}

/* clang-format off */
static const char samples[] =
    "graph \"rows\" {\n  const %x : f32[1,5,3] = random 1 -3 3\n  const %i : s64[1,4,3] = random 2 -5 5\n"
    "  %y = GatherElements (%x, %i) {axis=1}\n  output %y\n}\n"
    "graph \"channels\" {\n  const %x : s8[1,6,5] = random 1 -128 128\n  const %i : s32[1,4,7] = random 2 0 5\n"
    "  %y = GatherElements (%x, %i) {axis=-1}\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_gather_elements = {
    TW_OP_LEDGER(gather_elements),
    TW_OP_ATTRIBUTES(gather_elements),
    .formula = "out[i.., j, k..] = x[i.., n[i.., j, k..], k..], n along `axis`",
    .min_in = 2,
    .max_in = 2,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = tw_lower_moved,
    .limits = TW_MOVED_LIMITS,
    .samples = samples,
    .onnx = "",
};
