/* Transpose: record. */
#include "ops/transpose.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(transpose, TW_TRANSPOSE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_transpose_attributes *a = call->attributes;
    const tw_shape *in = &call->in[0]->shape;
    int32_t perm[TW_MAX_RANK];
    if (!tw_transpose_perm(&a->perm, in->rank, perm))
        return TW_SHAPE_FAIL(call, "perm must name each of the input's %d axes once", in->rank);
    call->out[0] = *in;
    for (int k = 0; k < in->rank; k++)
        call->out[0].dim[k] = in->dim[perm[k]];
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_transpose_attributes *a = node->attributes;
    int32_t perm[TW_MAX_RANK];
    int rank = node->in[input]->shape.rank;
    if (axis >= rank || !tw_transpose_perm(&a->perm, rank, perm) || perm[axis] != axis)
        return tw_rows_whole();
    return tw_rows_identity();
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("swap", "f32[1,4,5,3]", "-3", "3", "", "Transpose (%x) {perm=[0,2,1,3]}")
    TW_SAMPLE("last", "s8[1,6,3,4]", "-128", "128", "", "Transpose (%x) {perm=[0,1,3,2]}")
    TW_SAMPLE("reverse", "s64[2,3,1,2,2,2]", "-99", "99", "", "Transpose (%x)");
/* clang-format on */

const tw_opdef tw_op_transpose = {
    TW_OP_LEDGER(transpose),
    TW_OP_ATTRIBUTES(transpose),
    .formula = "out[i] = x[j], j[perm[k]] = i[k]",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .limits = "rows map where perm leaves the band axis in place",
    .samples = samples,
    .onnx = "",
};
