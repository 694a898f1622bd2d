/* MaxUnpool: record. Any element may go to any row: both inputs are needed whole. */
#include "ops/max_unpool.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(max_unpool, TW_MAX_UNPOOL_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_max_unpool_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *index = &call->in[1]->shape;
    if (x->rank < 3 || a->size.count != x->rank - 2)
        return TW_SHAPE_FAIL(call,
                             "the input has rank %d and size %d entries; it needs a batch, "
                             "channels and at least one spatial axis, with an entry each",
                             x->rank, (int)a->size.count);
    if (index->dtype != TW_S64 || index->rank != x->rank)
        return TW_SHAPE_FAIL(call, "the indices must be s64 of rank %d, not %s of rank %d", x->rank,
                             tw_dtype_name(index->dtype), index->rank);
    for (int i = 0; i < x->rank; i++)
        if (index->dim[i] != x->dim[i])
            return TW_SHAPE_FAIL(call, "axis %d has %d elements and %d indices", i, (int)x->dim[i],
                                 (int)index->dim[i]);
    call->out[0] = *x;
    for (int i = 0; i < a->size.count; i++)
        call->out[0].dim[1 + i] = a->size.v[i];
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    (void)node;
    (void)input;
    (void)axis;
    return tw_rows_once();
}

const tw_opdef tw_op_max_unpool = {
    TW_OP_LEDGER(max_unpool),
    TW_OP_ATTRIBUTES(max_unpool),
    .formula = "out[index[i]] = x[i], zero elsewhere",
    .min_in = 2,
    .max_in = 2,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .limits = "f32, indices of s64",
    .samples = "graph \"two axes\" {\n"
               "  const %x : f32[1,3,2,4] = random 1 -1 1\n"
               "  const %i : s64[1,3,2,4] = random 2 0 120\n"
               "  %y = MaxUnpool (%x, %i) {size=[6,5]}\n"
               "  output %y\n"
               "}\n"
               "graph \"one axis, batch\" {\n"
               "  const %x : f32[2,4,3] = random 1 -1 1\n"
               "  const %i : s64[2,4,3] = random 2 0 54\n"
               "  %y = MaxUnpool (%x, %i) {size=[9]}\n"
               "  output %y\n"
               "}\n",
    .onnx = "",
};
