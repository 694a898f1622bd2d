/* Countdown: how many runs are still to yield nothing, and whether this one yields.
 *
 *     Countdown(left)   left s32, one element   out s32, one element: max(left - 1, 0)
 *                                               ready bool, one element: left <= 0 */
#include "ops/ledger.h"
#include "ops/moved.h"

static bool shape(const tw_shape_call *call)
{
    const tw_shape *left = &call->in[0]->shape;
    if (left->dtype != TW_S32 || tw_shape_elements(left) != 1)
        return TW_SHAPE_FAIL(call, "what is left must be one s32");
    call->out[0] = *left;
    if (call->out_count > 1) {
        call->out[1] = *left;
        call->out[1].dtype = TW_BOOL;
    }
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    (void)node;
    (void)input;
    (void)axis;
    return tw_rows_once();
}

static const char samples[] = TW_SAMPLE("one", "s32[1]", "3", "4", "", "Countdown (%x)")
    TW_SAMPLE("nested", "s32[1,1]", "0", "1", "", "Countdown (%x)");

const tw_opdef tw_op_countdown = {
    TW_OP_LEDGER(countdown),
    .formula = "max(x - 1, 0), and whether x <= 0",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 2,
    .shape = shape,
    .rows = rows,
    .in_place = tw_in_place_first,
    .limits = "one element of s32",
    .samples = samples,
    .onnx = "",
};
