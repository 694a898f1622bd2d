/* UpdateSlice: the input with a part of it replaced, where that begins being data. A begin that would
 * put the part beyond the end is moved back, and a negative one to 0, so that it always fits. */
#include "ops/ledger.h"
#include "ops/moved.h"

static bool shape(const tw_shape_call *call)
{
    const tw_shape *x = &call->in[0]->shape, *part = &call->in[1]->shape;
    const tw_shape *begin = &call->in[2]->shape;
    if (!tw_shape_is_index(call, 2))
        return false;
    if (part->dtype != x->dtype || part->rank != x->rank)
        return TW_SHAPE_FAIL(call, "the part is %s of rank %d, the input %s of rank %d",
                             tw_dtype_name(part->dtype), part->rank, tw_dtype_name(x->dtype),
                             x->rank);
    for (int k = 0; k < x->rank; k++)
        if (part->dim[k] > x->dim[k])
            return TW_SHAPE_FAIL(call, "the part has %d elements on axis %d, the input %d",
                                 (int)part->dim[k], k, (int)x->dim[k]);
    if (begin->rank != 1 || begin->dim[0] != x->rank)
        return TW_SHAPE_FAIL(call, "the begin must be a list of %d indices", x->rank);
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    return input == 0 && axis < node->out[0]->shape.rank ? tw_rows_identity() : tw_rows_whole();
}

/* clang-format off */
static const char samples[] =
    "graph \"rows\" {\n  const %x : f32[1,7,3] = random 1 -3 3\n  const %u : f32[1,2,3] = random 2 -3 3\n"
    "  const %b : s32[3] = [0, 4, 0]\n  %y = UpdateSlice (%x, %u, %b)\n  output %y\n}\n"
    "graph \"clamped\" {\n  const %x : s8[5,4] = random 1 -128 128\n  const %u : s8[3,2] = random 2 -128 128\n"
    "  const %b : s64[2] = [9, -9]\n  %y = UpdateSlice (%x, %u, %b)\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_update_slice = {
    TW_OP_LEDGER(update_slice),
    .formula = "out = x; out[b + i] = u[i], b clamped so that u fits",
    .min_in = 3,
    .max_in = 3,
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
