/* GatherND: record. */
#include "ops/gather_nd.h"

#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(gather_nd, TW_GATHER_ND_ATTRIBUTES);

static int32_t last_extent(const tw_shape *s)
{
    return s->rank > 0 ? s->dim[s->rank - 1] : -1;
}

static bool shape(const tw_shape_call *call)
{
    const tw_gather_nd_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *indices = &call->in[1]->shape;
    tw_shape *out = &call->out[0];
    tw_tuples t;
    if (!tw_shape_is_index(call, 1))
        return false;
    if (!tw_tuples_resolve(x->rank, indices->rank, last_extent(indices), a->batch_dims, &t))
        return t.rank > TW_MAX_RANK
                   ? TW_SHAPE_UNSUPPORTED(call, "a result of rank %d; at most %d is supported",
                                          (int)t.rank, TW_MAX_RANK)
                   : TW_SHAPE_FAIL(call,
                                   "tuples of %d indices behind %d shared axes do not fit an input "
                                   "of rank %d",
                                   (int)t.width, (int)t.batch, x->rank);
    for (int k = 0; k < t.batch; k++)
        if (x->dim[k] != indices->dim[k])
            return TW_SHAPE_FAIL(call, "the shared axis %d is %d in the input, %d in the indices",
                                 k, (int)x->dim[k], (int)indices->dim[k]);
    out->dtype = x->dtype;
    out->rank = t.rank;
    for (int k = 0; k < t.rank; k++)
        out->dim[k] = k < t.lead ? indices->dim[k] : x->dim[t.batch + t.width + k - t.lead];
    return tw_shape_is_storable(call, 0);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_gather_nd_attributes *a = node->attributes;
    bool passes = input == 0 ? axis < a->batch_dims : axis < node->in[1]->shape.rank - 1;
    return passes ? tw_rows_identity() : tw_rows_whole();
}

/* clang-format off */
static const char samples[] =
    "graph \"rows\" {\n  const %x : f32[5,4,2] = random 1 -3 3\n  const %i : s64[6,1] = random 2 -5 5\n"
    "  %y = GatherND (%x, %i)\n  output %y\n}\n"
    "graph \"elements\" {\n  const %x : s8[3,3] = random 1 -128 128\n  const %i : s32[1,4,2] = random 2 -3 3\n"
    "  %y = GatherND (%x, %i)\n  output %y\n}\n"
    "graph \"batch\" {\n  const %x : s16[1,6,4,2] = random 1 -99 99\n  const %i : s64[1,6,1] = random 2 -4 4\n"
    "  %y = GatherND (%x, %i) {batch_dims=2}\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_gather_nd = {
    TW_OP_LEDGER(gather_nd),
    TW_OP_ATTRIBUTES(gather_nd),
    .formula = "out[b.., i.., k..] = x[b.., n[b.., i.., 0], n[b.., i.., 1], .., k..]",
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
