/* ScatterElements: record. */
#include "ops/gather_elements.h"

#include "ops/axes.h"
#include "ops/elementwise.h"
#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(scatter_elements, TW_SCATTER_ELEMENTS_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_scatter_elements_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *indices = &call->in[1]->shape;
    tw_shape updates = call->in[2]->shape;
    int axis = tw_axis(a->axis, x->rank);
    if (!tw_shape_is_index(call, 1) || !tw_shape_is_combined(call, a->reduction))
        return false;
    updates.dtype = indices->dtype;
    if (axis < 0 || x->rank != indices->rank || !tw_shape_equal(&updates, indices))
        return TW_SHAPE_FAIL(call,
                             "indices and updates must have one shape, of the input's rank %d, and "
                             "the axis %d must exist",
                             x->rank, (int)a->axis);
    for (int k = 0; k < x->rank; k++)
        if (k != axis && indices->dim[k] > x->dim[k])
            return TW_SHAPE_FAIL(call, "axis %d has %d indices, the input has %d elements", k,
                                 (int)indices->dim[k], (int)x->dim[k]);
    return tw_shape_default(call);
}

/* Rows off the axis pass; of fewer updates than rows, all are needed. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_scatter_elements_attributes *a = node->attributes;
    const tw_shape *in = &node->in[input]->shape, *out = &node->out[0]->shape;
    bool passes =
        axis < out->rank &&
        (input == 0 || (axis != tw_axis(a->axis, out->rank) && in->dim[axis] == out->dim[axis]));
    return passes ? tw_rows_identity() : tw_rows_whole();
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    return tw_lower_scattered(node,
                              ((const tw_scatter_elements_attributes *)node->attributes)->reduction,
                              lowering, diag);
}

/* clang-format off */
static const char samples[] =
    "graph \"rows\" {\n  const %x : f32[1,5,3] = random 1 -3 3\n  const %i : s64[1,4,3] = random 2 -5 5\n"
    "  const %u : f32[1,4,3] = random 3 -3 3\n  %y = ScatterElements (%x, %i, %u) {axis=1, reduction=add}\n"
    "  output %y\n}\n"
    "graph \"channels\" {\n  const %x : s8[1,6,5] = random 1 -128 128\n  const %i : s32[1,6,7] = random 2 0 5\n"
    "  const %u : s8[1,6,7] = random 3 -128 128\n  %y = ScatterElements (%x, %i, %u) {axis=-1}\n"
    "  output %y\n}\n"
    "graph \"part\" {\n  const %x : s64[1,6,5] = random 1 -99 99\n  const %i : s64[1,4,2] = random 2 0 5\n"
    "  const %u : s64[1,4,2] = random 3 -99 99\n  %y = ScatterElements (%x, %i, %u) {axis=2, reduction=max}\n"
    "  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_scatter_elements = {
    TW_OP_LEDGER(scatter_elements),
    TW_OP_ATTRIBUTES(scatter_elements),
    .formula = "out = x; out[i.., n[i.., j, k..], k..] = u[i.., j, k..], or combined with it, in "
               "row-major order",
    .min_in = 3,
    .max_in = 3,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .in_place = tw_in_place_first,
    .limits = TW_SCATTERED_LIMITS,
    .samples = samples,
    .onnx = "",
};
