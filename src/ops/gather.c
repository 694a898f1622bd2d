/* Gather: record. */
#include "ops/gather.h"

#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(gather, TW_GATHER_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_shape *x = &call->in[0]->shape, *indices = &call->in[1]->shape;
    tw_shape *out = &call->out[0];
    tw_gathering g = {0};
    if (!tw_shape_is_index(call, 1))
        return false;
    if (!tw_gather_resolve(call->attributes, x->rank, indices->rank, &g))
        return g.rank > TW_MAX_RANK
                   ? TW_SHAPE_UNSUPPORTED(call, "a result of rank %d; at most %d is supported",
                                          (int)g.rank, TW_MAX_RANK)
                   : TW_SHAPE_FAIL(call,
                                   "axis %d with %d shared axes does not fit an input of rank %d "
                                   "and indices of rank %d",
                                   (int)g.axis, (int)g.batch, x->rank, indices->rank);
    for (int k = 0; k < g.batch; k++)
        if (x->dim[k] != indices->dim[k])
            return TW_SHAPE_FAIL(call, "the shared axis %d is %d in the input, %d in the indices",
                                 k, (int)x->dim[k], (int)indices->dim[k]);
    out->dtype = x->dtype;
    out->rank = g.rank;
    for (int k = 0; k < g.rank; k++)
        out->dim[k] = k < g.axis   ? x->dim[k]
                      : k < g.lead ? indices->dim[g.batch + k - g.axis]
                                   : x->dim[g.axis + 1 + k - g.lead];
    return tw_shape_is_storable(call, 0);
}

/* Rows of the input pass where the axis stands before the indices' or, with one axis of indices,
 * behind them; rows of the indices where they stand at the same place in the result. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_shape *x = &node->in[0]->shape, *indices = &node->in[1]->shape;
    tw_gathering g;
    if (!tw_gather_resolve(node->attributes, x->rank, indices->rank, &g))
        return tw_rows_whole();
    bool passes = input == 0
                      ? axis < g.axis || (axis >= g.lead && axis < g.rank && g.lead == g.axis + 1)
                      : axis < g.batch || (axis < g.lead && g.axis == g.batch);
    return passes ? tw_rows_identity() : tw_rows_whole();
}

/* clang-format off */
static const char samples[] =
    "graph \"rows\" {\n  const %x : f32[5,4] = random 1 -3 3\n  const %i : s64[3,2] = [0, 4, -1, 2, 2, -5]\n"
    "  %y = Gather (%x, %i)\n  output %y\n}\n"
    "graph \"channels\" {\n  const %x : s8[1,6,5] = random 1 -128 128\n  const %i : s32[4] = [4, 0, 3, 3]\n"
    "  %y = Gather (%x, %i) {axis=-1}\n  output %y\n}\n"
    "graph \"middle\" {\n  const %x : s16[1,7,3,2] = random 1 -99 99\n  const %i : s32[1,3] = [2, 0, 1]\n"
    "  %y = Gather (%x, %i) {axis=2}\n  output %y\n}\n"
    "graph \"batch\" {\n  const %x : s64[1,6,4,2] = random 1 -99 99\n  const %i : s64[1,6,3] = random 2 -4 4\n"
    "  %y = Gather (%x, %i) {axis=2, batch_dims=2}\n  output %y\n}\n"
    "graph \"scalar\" {\n  const %x : f32[4,3] = random 1 -3 3\n  const %i : s64[] = [2]\n"
    "  %y = Gather (%x, %i)\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_gather = {
    TW_OP_LEDGER(gather),
    TW_OP_ATTRIBUTES(gather),
    .formula = "out[b.., i.., j.., k..] = x[b.., i.., n[b.., j..], k..], n along `axis`",
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
