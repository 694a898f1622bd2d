/* ScatterND: record. */
#include "ops/gather_nd.h"

#include "ops/elementwise.h"
#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(scatter_nd, TW_SCATTER_ND_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_scatter_nd_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *indices = &call->in[1]->shape;
    const tw_shape *updates = &call->in[2]->shape;
    tw_tuples t;
    if (!tw_shape_is_index(call, 1) || !tw_shape_is_combined(call, a->reduction))
        return false;
    if (!tw_tuples_resolve(x->rank, indices->rank,
                           indices->rank > 0 ? indices->dim[indices->rank - 1] : -1, 0, &t))
        return TW_SHAPE_FAIL(call, "tuples of %d indices do not fit an input of rank %d",
                             (int)t.width, x->rank);
    bool fits = updates->rank == t.rank;
    for (int k = 0; fits && k < t.rank; k++)
        fits = updates->dim[k] == (k < t.lead ? indices->dim[k] : x->dim[t.width + k - t.lead]);
    if (!fits)
        return TW_SHAPE_FAIL(call,
                             "the updates do not have the shape of %d blocks behind %d axes "
                             "of tuples",
                             (int)t.rank, (int)t.lead);
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    return input == 0 && axis < node->out[0]->shape.rank ? tw_rows_identity() : tw_rows_whole();
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    return tw_lower_scattered(node, ((const tw_scatter_nd_attributes *)node->attributes)->reduction,
                              lowering, diag);
}

/* clang-format off */
static const char samples[] =
    "graph \"rows\" {\n  const %x : f32[5,4,2] = random 1 -3 3\n  const %i : s64[6,1] = random 2 -5 5\n"
    "  const %u : f32[6,4,2] = random 3 -3 3\n  %y = ScatterND (%x, %i, %u) {reduction=add}\n  output %y\n}\n"
    "graph \"elements\" {\n  const %x : s8[1,3,3] = random 1 -128 128\n  const %i : s32[4,3] = [0,0,1, 0,2,2, -1,1,-1, 0,2,2]\n"
    "  const %u : s8[4] = random 3 -128 128\n  %y = ScatterND (%x, %i, %u)\n  output %y\n}\n"
    "graph \"blocks\" {\n  const %x : s16[2,6,4] = random 1 -99 99\n  const %i : s64[3,1] = [1, 0, 1]\n"
    "  const %u : s16[3,6,4] = random 3 -99 99\n  %y = ScatterND (%x, %i, %u) {reduction=min}\n  output %y\n}\n"
    "graph \"one batch\" {\n  const %x : f32[1,6,4] = random 1 -3 3\n  const %i : s64[2,1] = [0, -1]\n"
    "  const %u : f32[2,6,4] = random 3 -3 3\n  %y = ScatterND (%x, %i, %u) {reduction=mul}\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_scatter_nd = {
    TW_OP_LEDGER(scatter_nd),
    TW_OP_ATTRIBUTES(scatter_nd),
    .formula = "out = x; out[n[i.., 0], n[i.., 1], .., k..] = u[i.., k..], or combined with it, in "
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
