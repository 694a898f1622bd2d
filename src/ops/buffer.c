/* Buffer: record. */
#include "ops/buffer.h"

#include <math.h>

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(buffer, TW_BUFFER_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_buffer_attributes *a = call->attributes;
    const tw_shape *x = &call->in[TW_BUFFER_X]->shape, *held = &call->in[TW_BUFFER_HELD]->shape;
    const tw_shape *count = &call->in[TW_BUFFER_COUNT]->shape;
    const tw_value *reset = call->in_count > TW_BUFFER_RESET ? call->in[TW_BUFFER_RESET] : NULL;
    const tw_shape two = tw_shape_of(TW_S32, 1, (int32_t[]){2});
    if (a->axis >= x->rank || held->rank != x->rank || held->dtype != x->dtype)
        return TW_SHAPE_FAIL(call, "x has rank %d, what is held %d, the frames are axis %d",
                             x->rank, held->rank, (int)a->axis);
    for (int k = 0; k < x->rank; k++)
        if (k != a->axis && x->dim[k] != held->dim[k])
            return TW_SHAPE_FAIL(call, "x and what is held differ on axis %d", k);
    const int32_t frames = x->dim[a->axis], size = held->dim[a->axis];
    if (frames < 1 || a->stride < frames || a->stride > size || a->padding > size)
        return TW_SHAPE_FAIL(call,
                             "%d frames at a time do not fit a buffer of %d with %d of padding of "
                             "which %d are removed",
                             (int)frames, (int)size, (int)a->padding, (int)a->stride);
    if (!tw_shape_equal(count, &two))
        return TW_SHAPE_FAIL(call, "the count must be s32[2]");
    if (reset && (reset->shape.dtype != TW_BOOL || tw_shape_elements(&reset->shape) != 1))
        return TW_SHAPE_FAIL(call, "reset must be one BOOL");
    call->out[0] = *held;
    if (call->out_count > 1)
        call->out[1] = two;
    if (call->out_count > 2)
        call->out[2] = tw_shape_of(TW_BOOL, 1, (int32_t[]){1});
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    (void)node;
    (void)axis;
    return input == TW_BUFFER_X ? tw_rows_once() : tw_rows_whole();
}

static bool final_output(const tw_node *node, int output)
{
    (void)node;
    return output > 0;
}

static bool in_place(const tw_node *node, int input)
{
    (void)node;
    return input == TW_BUFFER_HELD || input == TW_BUFFER_COUNT;
}

static bool lower(const tw_node *node, tw_arena *unused, tw_lowering *lowering, tw_diag *diag)
{
    const tw_quant *out = &node->out[0]->quant;
    (void)unused;
    if (!tw_quant_equal(&node->in[TW_BUFFER_X]->quant, out) ||
        !tw_quant_equal(&node->in[TW_BUFFER_HELD]->quant, out) || out->count > 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "frames and what is held must have one scale and zero point");
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; put Clip behind it");
    lowering->kernel = &tw_k_buffer_any;
    return true;
}

/* clang-format off */
static const char samples[] =
    "graph \"room\" {\n  const %x : f32[2,3] = random 1 -3 3\n  const %h : f32[8,3] = random 2 -3 3\n"
    "  const %c : s32[2] = [2, 0]\n  %y, %n, %f = Buffer (%x, %h, %c) {stride=2}\n"
    "  output %y\n  output %n\n  output %f\n}\n"
    "graph \"right\" {\n  const %x : s16[2,3,1] = random 1 -9 9\n  const %h : s16[2,3,6] = random 2 -9 9\n"
    "  const %c : s32[2] = [4, 0]\n  const %r : bool[] = [0]\n"
    "  %y, %n, %f = Buffer (%x, %h, %c, %r) {axis=2, right=1}\n  output %y\n  output %n\n  output %f\n}\n"
    "graph \"removed\" {\n  const %x : s8[1,2,2] = random 1 -99 99\n  const %h : s8[1,4,2] = random 2 -99 99\n"
    "  const %c : s32[2] = [4, 1]\n  %y, %n, %f = Buffer (%x, %h, %c) {axis=1, stride=4}\n"
    "  output %y\n  output %n\n  output %f\n}\n"
    "graph \"reset\" {\n  const %x : f32[2,1,2] = random 1 -9 9\n  const %h : f32[2,4,2] = random 2 -9 9\n"
    "  const %c : s32[2] = [4, 1]\n  const %r : bool[1] = [1]\n"
    "  %y = Buffer (%x, %h, %c, %r) {axis=1, padding=3}\n  output %y\n}\n";
/* clang-format on */

const tw_opdef tw_op_buffer = {
    TW_OP_LEDGER(buffer),
    TW_OP_ATTRIBUTES(buffer),
    .formula = "out = held with the frames of x behind those that are there, the oldest removed",
    .min_in = 3,
    .max_in = TW_BUFFER_OPERANDS,
    .min_out = 1,
    .max_out = 3,
    .shape = shape,
    .rows = rows,
    .final_output = final_output,
    .in_place = in_place,
    .lower = lower,
    .limits = "every type; frames and what is held share one scale and zero point",
    .samples = samples,
    .onnx = "",
};
