/* LogSoftmax: record. */
#include "ops/log_softmax.h"

#include "ops/axes.h"
#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(log_softmax, TW_LOG_SOFTMAX_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_log_softmax_attributes *a = call->attributes;
    int rank = call->in[0]->shape.rank;
    if (tw_axis(a->axis, rank) < 0)
        return TW_SHAPE_FAIL(call, "axis %d does not exist in a tensor of rank %d", (int)a->axis,
                             rank);
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_log_softmax_attributes *a = node->attributes;
    int rank = node->in[input]->shape.rank;
    return axis >= rank || tw_axis(a->axis, rank) == axis ? tw_rows_whole() : tw_rows_identity();
}

static bool in_place(const tw_node *node, int input)
{
    (void)node;
    (void)input;
    return true;
}

const tw_opdef tw_op_log_softmax = {
    TW_OP_LEDGER(log_softmax),
    TW_OP_ATTRIBUTES(log_softmax),
    .formula = "x - log(sum of exp(x)) along `axis`",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .in_place = in_place,
    .limits = "f32",
    .onnx = "",
};
