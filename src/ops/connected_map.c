/* How the compiler thinks about fully connected layers over a map by rows. */
#include "ops/connected_map.h"

#include "ops/ledger.h"
#include "ops/prepare.h"
#include "ops/window_shape.h"

TW_ATTRIBUTE_TABLE(connected_map, TW_CONNECTED_MAP_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    const tw_connected_map_attributes *a = call->attributes;
    if (w->rank != 2 || w->dim[0] < 1)
        return TW_SHAPE_FAIL(call, "the weights must be a matrix of outputs by elements");
    if (x->rank < 1 || tw_shape_elements(x) != w->dim[1] || w->dim[1] < 1)
        return TW_SHAPE_FAIL(call, "weights for %d elements; the input has %lld", (int)w->dim[1],
                             (long long)tw_shape_elements(x));
    call->out[0] = tw_shape_of(x->dtype, a->rank, (int32_t[TW_MAX_RANK]){1, 1, 1, 1, 1, 1});
    call->out[0].dim[a->rank - 1] = w->dim[0];
    return tw_check_weights(call, w->dim[0]);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_shape *x = &node->in[0]->shape;
    if (input != 0)
        return tw_rows_whole();
    return axis == tw_map_axis(x->rank, x->dim) ? tw_rows_accumulated() : tw_rows_once();
}

static uint64_t macs(const tw_node *node)
{
    return (uint64_t)tw_shape_elements(&node->in[1]->shape);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_shape *w = &node->in[1]->shape;
    if (tw_is_hybrid(node))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "f32 with s8 weights, whose input is quantised whole; use FullyConnected");
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    lowering->memory = (uint32_t)w->dim[0] * 4u;
    lowering->overlap = (tw_overlap){true, 0, 0}; /* all is read before anything is written */
    if (w->dtype != TW_S8) {
        static const int order[] = {1, 0}; /* outputs innermost */
        tw_prepare_order(node, 1, order, arena, lowering);
        return true;
    }
    if (!tw_prepare_channels(
            node, &(tw_weight_layout){w->dim[0], w->dim[1], w->dim[1], 1, 0, true, true, false},
            arena, lowering, diag))
        return false;
    lowering->memory *= lowering->blob[2].bytes / lowering->blob[0].bytes; /* as wide as the bias */
    return true;
}

/* clang-format off */
#define MAP_F32(name, x, w, rank)                                                                  \
    "graph \"" name "\" {\n  const %x : f32" x " = random 1 -1 1\n  const %w : f32" w " = random 2 -1 1\n" \
    "  const %b : f32[13] = random 3 -1 1\n  %y = FullyConnectedMap (%x, %w, %b) {rank=" rank "}\n  output %y\n}\n"
#define MAP_S8(name, x, w, quant, y)                                                               \
    "graph \"" name "\" {\n  const %x : s8" x " quant(scale=0.05, zero=-20) = random 1 -128 128\n"  \
    "  const %w : s8" w " quant(" quant ") = random 2 -127 128\n"                                  \
    "  const %b : s32[13] = random 3 -4000 4000\n"                                                 \
    "  %y : s8" y " quant(scale=0.9, zero=5) = FullyConnectedMap (%x, %w, %b) {rank=4}\n  output %y\n}\n"
#define MAP_S16(name, bias)                                                                        \
    "graph \"" name "\" {\n  const %x : s16[1,1,7,100] quant(scale=0.0005, zero=0) = random 1 -32768 32768\n" \
    "  const %w : s8[13,700] quant(scale=0.01, zero=0) = random 2 -127 128\n"                      \
    "  const %b : " bias "[13] = random 3 -4000 4000\n"                                            \
    "  %y : s16[1,13] quant(scale=0.002, zero=0) = FullyConnectedMap (%x, %w, %b)\n  output %y\n}\n"
static const char samples[] =
    MAP_F32("f32 image", "[1,6,5,3]", "[13,90]", "2")
    MAP_F32("f32 vector", "[1,1,37]", "[13,37]", "1")
    MAP_F32("f32 element", "[1,1]", "[13,1]", "3")
    MAP_S8("s8 image", "[1,9,5,7]", "[13,315]", "scale=0.01, zero=3", "[1,1,1,13]")
    MAP_S8("s8 vector", "[1,70]", "[13,70]", "scale=0.01, zero=0", "[1,1,1,13]")
    MAP_S16("s16 time", "s64")
    MAP_S16("s16 time, sums of 32 bits", "s32");
/* clang-format on */

const tw_opdef tw_op_connected_map = {
    TW_OP_LEDGER(connected_map),
    TW_OP_ATTRIBUTES(connected_map),
    .formula = "out[o] = b[o] + sum over k of x[k] * w[o,k], elements of x row by row",
    .min_in = 2,
    .max_in = 3,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .macs = macs,
    .lower = lower,
    .limits = "one map; f32; s8 with constant weights (one scale and zero point, or one scale an "
              "output channel with zero points 0); s16 with constant symmetric s8 weights",
    .samples = samples,
    .onnx = "",
};
