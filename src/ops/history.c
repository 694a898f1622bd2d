/* History: record. The operands have one type, one rank, one scale, and equal extents off the axis. */
#include "ops/history.h"

#include "ops/axes.h"
#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(history, TW_HISTORY_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_history_attributes *a = call->attributes;
    const tw_shape *kept = &call->in[0]->shape, *x = &call->in[1]->shape;
    int axis = tw_shape_axis(call, a->axis);
    if (axis < 0)
        return false;
    if (x->dtype != kept->dtype || x->rank != kept->rank)
        return TW_SHAPE_FAIL(call, "what comes in is %s of rank %d, what is kept %s of rank %d",
                             tw_dtype_name(x->dtype), x->rank, tw_dtype_name(kept->dtype),
                             kept->rank);
    for (int k = 0; k < x->rank; k++)
        if (k == axis ? x->dim[k] > kept->dim[k] : x->dim[k] != kept->dim[k])
            return TW_SHAPE_FAIL(call, "%d elements on axis %d come in where %d are kept",
                                 (int)x->dim[k], k, (int)kept->dim[k]);
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    (void)node;
    (void)axis;
    return input == 0 ? tw_rows_once() : tw_rows_whole();
}

/* clang-format off */
static const char samples[] =
    "graph \"rows\" {\n  const %s : f32[1,5,3] = random 1 -3 3\n  const %x : f32[1,2,3] = random 2 -3 3\n"
    "  %y = History (%s, %x) {axis=1}\n  output %y\n}\n"
    "graph \"inside\" {\n  const %s : s8[2,4,3] = random 1 -128 128\n  const %x : s8[2,4,1] = random 2 -128 128\n"
    "  %y = History (%s, %x) {axis=-1}\n  output %y\n}\n"
    "graph \"all new\" {\n  const %s : s16[3,2] = random 1 -99 99\n  const %x : s16[3,2] = random 2 -99 99\n"
    "  %y = History (%s, %x) {axis=0}\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_history = {
    TW_OP_LEDGER(history),
    TW_OP_ATTRIBUTES(history),
    .formula = "the last rows of kept | x along `axis`, as many as are kept",
    .min_in = 2,
    .max_in = 2,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = tw_lower_moved,
    .in_place = tw_in_place_first,
    .limits = "every type; quantised operands share one scale and zero point",
    .samples = samples,
    .onnx = "",
};
