/* How the compiler thinks about fully connected layers. */
#include "ops/fully_connected.h"

#include "ops/ledger.h"
#include "ops/prepare.h"
#include "ops/product.h"
#include "ops/window_shape.h"

static bool shape(const tw_shape_call *call)
{
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    if (w->rank != 2)
        return TW_SHAPE_FAIL(
            call, "the weights have rank %d; they must be output by input channels", w->rank);
    if (x->rank < 1 || x->dim[x->rank - 1] != w->dim[1])
        return TW_SHAPE_FAIL(call, "weights for %d channels; the input's last axis has %d",
                             (int)w->dim[1], x->rank < 1 ? 0 : (int)x->dim[x->rank - 1]);
    call->out[0] = *x;
    call->out[0].dim[x->rank - 1] = w->dim[0];
    return tw_check_weights(call, w->dim[0]);
}

/* Any axis but the last, which is summed over. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    return input == 0 && axis < node->in[0]->shape.rank - 1 ? tw_rows_identity() : tw_rows_whole();
}

static uint64_t macs(const tw_node *node)
{
    return (uint64_t)tw_shape_elements(&node->out[0]->shape) * (uint64_t)node->in[1]->shape.dim[1];
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_shape *w = &node->in[1]->shape;
    if (tw_is_hybrid(node))
        return tw_prepare_hybrid(node, w->dim[0], 0, w->dim[1], arena, lowering, diag);
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    if (node->in[0]->shape.dtype == TW_S8) {
        bool copied = w->dim[1] <= TW_PANEL_COPIED_TAPS || w->dim[0] <= TW_PANEL_COPIED_OUTPUTS;
        lowering->overlap = tw_rows_overlap(&node->in[0]->shape, &node->out[0]->shape,
                                            copied ? TW_WALK_COPIED : TW_WALK_PANELS);
    }
    if (w->dtype == TW_S8)
        return tw_prepare_channels(
            node, &(tw_weight_layout){w->dim[0], w->dim[1], w->dim[1], 1, 0, true, true, false},
            arena, lowering, diag);
    static const int order[] = {1, 0}; /* outputs innermost */
    tw_prepare_order(node, 1, order, arena, lowering);
    return true;
}

static void pack(const tw_node *node, tw_arena *arena, tw_lowering *lowering)
{
    tw_prepare_packed(node, 0, arena, lowering);
    tw_prepare_short(node, arena, lowering);
}

static const char samples[] =
    "graph \"f32 rows\" {\n"
    "  const %x : f32[9,7] = random 1 -1 1\n"
    "  const %w : f32[13,7] = random 2 -1 1\n"
    "  const %b : f32[13] = random 3 -1 1\n"
    "  %y = FullyConnected (%x, %w, %b)\n"
    "  output %y\n}\n"
    "graph \"f32 vector\" {\n"
    "  const %x : f32[7] = random 1 -1 1\n"
    "  const %w : f32[13,7] = random 2 -1 1\n"
    "  %y = FullyConnected (%x, %w)\n"
    "  output %y\n}\n"
    "graph \"s8 rows\" {\n"
    "  const %x : s8[1,9,70] quant(scale=0.05, zero=-20) = random 1 -128 128\n"
    "  const %w : s8[13,70] quant(scale=0.01, zero=3) = random 2 -127 128\n"
    "  const %b : s32[13] = random 3 -4000 4000\n"
    "  %y : s8[1,9,13] quant(scale=0.2, zero=5) = FullyConnected (%x, %w, %b)\n"
    "  output %y\n}\n"
    "graph \"s8w4 rows\" {\n"
    "  const %x : s8[1,9,1371] quant(scale=0.05, zero=-20) = random 1 -128 128\n"
    "  const %w : s8[5,1371] quant(scale=0.1, zero=0) = random 2 -8 8\n"
    "  const %b : s32[5] = random 3 -400 400\n"
    "  %y : s8[1,9,5] quant(scale=1.2, zero=5) = FullyConnected (%x, %w, %b)\n"
    "  output %y\n}\n"
    "graph \"f32w8 rows\" {\n"
    "  const %x : f32[1,9,70] = random 1 -1 1\n"
    "  const %w : s8[13,70] quant(scale=0.01, zero=0) = random 2 -127 128\n"
    "  const %b : f32[13] = random 3 -1 1\n"
    "  %y = FullyConnected (%x, %w, %b)\n"
    "  output %y\n}\n"
    "graph \"f32w16 rows\" {\n"
    "  const %x : f32[1,9,5] = random 1 -1 1\n"
    "  const %w : f32[6,5] = "
    "[1.375,-1.5,-0.875,-1.125,1.875,1.75,-1.875,1.375,0.625,1.25,-0.875,1.25,-0.875,-1.125,-1.25,-"
    "0.75,-0.75,0.625,1.5,1,1.875,1.5,1.5,1.625,-0.5,-1.625,1.5,0.5,-0.625,0.75]\n"
    "  const %b : f32[6] = random 3 -1 1\n"
    "  %y = FullyConnected (%x, %w, %b)\n"
    "  output %y\n}\n"
    "graph \"s16 rows\" {\n"
    "  const %x : s16[1,9,700] quant(scale=0.0005, zero=0) = random 1 -32768 32768\n"
    "  const %w : s8[13,700] quant(scale=0.01, zero=0) = random 2 -127 128\n"
    "  const %b : s64[13] = random 3 -4000 4000\n"
    "  %y : s16[1,9,13] quant(scale=0.002, zero=0) = FullyConnected (%x, %w, %b)\n"
    "  output %y\n}\n";

const tw_opdef tw_op_fully_connected = {
    TW_OP_LEDGER(fully_connected),
    .formula = "out[..,o] = b[o] + sum over k of x[..,k] * w[o,k]",
    .min_in = 2,
    .max_in = 3,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .macs = macs,
    .lower = lower,
    .pack = pack,
    .limits = "f32, with constant symmetric s8 weights too; s8 with constant weights (one scale "
              "and zero point, or one scale an output "
              "channel with zero points 0); s16 with constant symmetric s8 weights",
    .samples = samples,
    .onnx = "",
};
