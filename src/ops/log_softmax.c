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
    return axis >= rank || tw_axis(a->axis, rank) == axis ? tw_rows_once() : tw_rows_identity();
}

/* A lane along the band axis is read whole for every band: then nothing may be written over it. */
static bool in_place(const tw_node *node, int input)
{
    const tw_log_softmax_attributes *a = node->attributes;
    const tw_shape *s = &node->in[input]->shape;
    for (int k = 0; k < tw_axis(a->axis, s->rank); k++)
        if (s->dim[k] != 1)
            return true;
    return false;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("channel", "f32[1,6,5,8]", "-4", "4", "", "LogSoftmax (%x)")
    TW_SAMPLE("rows", "f32[1,12,3]", "-4", "4", "", "LogSoftmax (%x) {axis=1}");
/* clang-format on */

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
    .samples = samples,
    .onnx = "",
};
