/* How the compiler thinks about depthwise convolution. */
#include "ops/depthwise_conv.h"

#include "ops/ledger.h"
#include "ops/prepare.h"
#include "ops/window_shape.h"

TW_ATTRIBUTE_TABLE(depthwise_conv, TW_WINDOW_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_depthwise_conv_attributes *a = call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    if (w->rank < 2)
        return TW_SHAPE_FAIL(call,
                             "the weights have rank %d; they must be kernel extents, then output "
                             "channels",
                             w->rank);
    int32_t outputs = w->dim[w->rank - 1];
    if (!tw_window_shape(call, &lists, w->dim, w->rank - 1, 0, outputs))
        return false;
    int32_t channels = x->dim[x->rank - 1];
    if (channels < 1 || outputs < 1 || outputs % channels != 0)
        return TW_SHAPE_FAIL(call, "%d output channels are not a multiple of %d input channels",
                             (int)outputs, (int)channels);
    return tw_check_weights(call, outputs);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_depthwise_conv_attributes *a = node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    if (input == 0 && tw_is_hybrid(node))
        return tw_hybrid_rows(axis);
    return input == 0 ? tw_window_rows(node, &lists, node->in[1]->shape.dim, axis)
                      : tw_rows_whole();
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *w = &node->in[1]->shape;
    uint64_t outputs = (uint64_t)tw_shape_elements(&node->out[0]->shape);
    return outputs * ((uint64_t)tw_shape_elements(w) / (uint64_t)w->dim[w->rank - 1]);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_shape *w = &node->in[1]->shape;
    int32_t channels = w->dim[w->rank - 1];
    if (tw_is_hybrid(node))
        return tw_prepare_hybrid(node, channels, w->rank - 1,
                                 tw_image_elements(&node->in[0]->shape), arena, lowering, diag);
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    const tw_depthwise_conv_attributes *a = node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    lowering->overlap = tw_window_overlap(
        node, &lists, w->dim, node->in[0]->shape.dtype == TW_S8 ? TW_WALK_PANELS : TW_WALK_ROWS);
    int32_t taps = (int32_t)(tw_shape_elements(w) / channels);
    if (w->dtype != TW_S8)
        return true;
    return tw_prepare_channels(
        node, &(tw_weight_layout){channels, taps, 1, channels, w->rank - 1, false, false, true},
        arena, lowering, diag);
}

static void pack(const tw_node *node, tw_arena *arena, tw_lowering *lowering)
{
    tw_prepare_packed(node, node->in[1]->shape.rank - 1, arena, lowering);
}

/* Borders on every side, a multiplier, one spatial axis. */
#define F32(...) TW_WINDOW_SAMPLE_F32("DepthwiseConv", __VA_ARGS__)
#define S8(...) TW_WINDOW_SAMPLE_S8("DepthwiseConv", __VA_ARGS__)
#define S16(...) TW_WINDOW_SAMPLE_S16("DepthwiseConv", __VA_ARGS__)
#define UNEVEN "{stride=[2,1], dilation=[1,2], pad_begin=[2,0], pad_end=[0,3]}"
/* clang-format off */
static const char samples[] =
    F32("same", "[1,9,6,19]", "[3,3,19]", "19", TW_WINDOW_SAME)
    F32("multiplier, uneven", "[1,11,6,3]", "[3,2,6]", "6", UNEVEN)
    F32("one axis", "[1,20,4]", "[4,4]", "4", "{stride=[2], pad_begin=[3], pad_end=[1]}")
    S8("same", "[1,9,6,19]", "[3,3,19]", "19", "[1,9,6,19]", TW_WINDOW_SAME)
    S8("multiplier, uneven", "[1,11,6,3]", "[3,2,6]", "6", "[1,6,7,6]", UNEVEN)
    TW_WINDOW_SAMPLE_S8W4("DepthwiseConv", "same", "[1,9,6,499]", "[3,3,499]", "499", "[1,9,6,499]", TW_WINDOW_SAME)
    TW_WINDOW_SAMPLE_S8W4("DepthwiseConv", "multiplier, uneven", "[1,11,6,5]", "[3,2,10]", "10", "[1,6,7,10]", UNEVEN)
    TW_WINDOW_SAMPLE_F32W8("DepthwiseConv", "uneven", "[1,11,6,3]", "[3,2,6]", "6", UNEVEN)
    S16("same", "s64", "[1,9,6,19]", "[3,3,19]", "19", "[1,9,6,19]", TW_WINDOW_SAME)
    S16("multiplier, uneven", "s32", "[1,11,6,3]", "[3,2,6]", "6", "[1,6,7,6]", UNEVEN);
/* clang-format on */

const tw_opdef tw_op_depthwise_conv = {
    TW_OP_LEDGER(depthwise_conv),
    TW_OP_ATTRIBUTES(depthwise_conv),
    .formula = "out[n,y,x,o] = b[o] + sum of in[n, y*s-p+i*d, x*s-p+j*d, o/m] * w[i,j,o]",
    .min_in = 2,
    .max_in = 3,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .macs = macs,
    .lower = lower,
    .pack = pack,
    .limits = "one or two spatial axes; f32 with f32 or s8 weights, s8 or s16 with constant "
              "symmetric s8 weights (one "
              "scale, or one "
              "an output channel)",
    .samples = samples,
    .onnx = "",
};
