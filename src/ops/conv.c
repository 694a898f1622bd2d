/* How the compiler thinks about convolution. */
#include "ops/conv.h"

#include "ops/ledger.h"
#include "ops/prepare.h"
#include "ops/product.h"
#include "ops/window_shape.h"

TW_ATTRIBUTE_TABLE(conv, TW_CONV_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_conv_attributes *a = call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    if (w->rank < 3)
        return TW_SHAPE_FAIL(call,
                             "the weights have rank %d; they must be output channels, kernel "
                             "extents, input channels of a group",
                             w->rank);
    if (!tw_window_shape(call, &lists, w->dim + 1, w->rank - 2, 0, w->dim[0]))
        return false;
    int32_t channels = x->dim[x->rank - 1], outputs = w->dim[0], depth = w->dim[w->rank - 1];
    if (channels % a->group != 0 || outputs % a->group != 0)
        return TW_SHAPE_FAIL(call, "group %d does not divide %d %s channels", (int)a->group,
                             (int)(channels % a->group ? channels : outputs),
                             channels % a->group ? "input" : "output");
    if (outputs < 1 || depth < 1 || depth != channels / a->group)
        return TW_SHAPE_FAIL(call,
                             "weights for %d outputs of %d channels; the input has %d channels "
                             "in %d groups",
                             (int)outputs, (int)depth, (int)channels, (int)a->group);
    return tw_check_weights(call, outputs);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_conv_attributes *a = node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    if (input == 0 && tw_is_hybrid(node))
        return tw_hybrid_rows(axis);
    return input == 0 ? tw_window_rows(node, &lists, node->in[1]->shape.dim + 1, axis)
                      : tw_rows_whole();
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *w = &node->in[1]->shape;
    uint64_t outputs = (uint64_t)tw_shape_elements(&node->out[0]->shape);
    return outputs * ((uint64_t)tw_shape_elements(w) / (uint64_t)w->dim[0]);
}

/* The int8 kernel takes pixels in panels (visit_s8); a panel's outputs of one group lie beside inputs of
 * another, so that only a single group's are known to be read first. */
static tw_overlap overlap(const tw_node *node)
{
    const tw_conv_attributes *a = node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *w = &node->in[1]->shape;
    int64_t taps = tw_shape_elements(w) / w->dim[0];
    bool copied =
        a->group == 1 && (taps <= TW_PANEL_COPIED_TAPS || w->dim[0] <= TW_PANEL_COPIED_OUTPUTS);
    return tw_window_overlap(node, &lists, w->dim + 1,
                             node->in[0]->shape.dtype != TW_S8 ? TW_WALK_ROWS
                             : copied                          ? TW_WALK_COPIED
                                                               : TW_WALK_PANELS);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_shape *w = &node->in[1]->shape;
    if (tw_is_hybrid(node))
        return tw_prepare_hybrid(node, w->dim[0], 0, tw_image_elements(&node->in[0]->shape), arena,
                                 lowering, diag);
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    lowering->overlap = overlap(node);
    int32_t taps = (int32_t)(tw_shape_elements(w) / w->dim[0]);
    if (w->dtype == TW_S8)
        return tw_prepare_channels(
            node, &(tw_weight_layout){w->dim[0], taps, taps, 1, 0, false, false, false}, arena,
            lowering, diag);
    static const int order[] = {1, 2, 3, 0}, order1[] = {1, 2, 0}; /* outputs innermost */
    tw_prepare_order(node, 1, w->rank == 4 ? order : order1, arena, lowering);
    return true;
}

static void pack(const tw_node *node, tw_arena *arena, tw_lowering *lowering)
{
    tw_prepare_packed(node, 0, arena, lowering);
    tw_prepare_short(node, arena, lowering);
}

/* Borders on every side, groups, one spatial axis. */
#define F32(...) TW_WINDOW_SAMPLE_F32("Conv", __VA_ARGS__)
#define S8(...) TW_WINDOW_SAMPLE_S8("Conv", __VA_ARGS__)
#define S16(...) TW_WINDOW_SAMPLE_S16("Conv", __VA_ARGS__)
#define UNEVEN "{stride=[2,1], dilation=[1,2], pad_begin=[2,0], pad_end=[0,3], group=2}"
/* clang-format off */
static const char samples[] =
    F32("same", "[1,9,6,3]", "[10,3,3,3]", "10", TW_WINDOW_SAME)
    F32("groups, uneven", "[1,11,6,4]", "[6,3,2,2]", "6", UNEVEN)
    F32("1x1", "[1,7,5,9]", "[17,1,1,9]", "17", "")
    F32("one axis", "[1,20,4]", "[5,4,4]", "5", "{stride=[2], pad_begin=[3], pad_end=[1]}")
    S8("same", "[1,9,6,3]", "[10,3,3,3]", "10", "[1,9,6,10]", TW_WINDOW_SAME)
    S8("groups, uneven", "[1,11,6,4]", "[6,3,2,2]", "6", "[1,6,7,6]", UNEVEN)
    S8("1x1", "[1,7,5,9]", "[17,1,1,9]", "17", "[1,7,5,17]", "")
    TW_WINDOW_SAMPLE_S8W4("Conv", "same", "[1,9,6,29]", "[22,3,3,29]", "22", "[1,9,6,22]", TW_WINDOW_SAME)
    TW_WINDOW_SAMPLE_S8W4("Conv", "groups, uneven", "[1,11,6,4]", "[6,3,2,2]", "6", "[1,6,7,6]", UNEVEN)
    TW_WINDOW_SAMPLE_F32W8("Conv", "groups, uneven", "[1,11,6,4]", "[6,3,2,2]", "6", UNEVEN)
    "graph \"f32w16 groups, uneven\" {\n"
    "  const %x : f32[1,9,6,2] = random 1 -1 1\n"
    "  const %w : f32[4,3,2,1] = [-1,-0.75,-1.5,1,-0.375,0,-1.375,-1.625,-1.625,-1.875,-0.375,0.25,1.75,-0.75,1.25,1.125,-1.75,-1,0.125,0.25,-0.5,-0.875,1.125,-1.25]\n"
    "  const %b : f32[4] = random 3 -1 1\n"
    "  %y = Conv (%x, %w, %b) {stride=[2,1], pad_begin=[2,0], group=2}\n"
    "  output %y\n}\n"
    S16("same", "s64", "[1,9,6,3]", "[10,3,3,3]", "10", "[1,9,6,10]", TW_WINDOW_SAME)
    S16("groups, uneven", "s32", "[1,11,6,4]", "[6,3,2,2]", "6", "[1,6,7,6]", UNEVEN);
/* clang-format on */

const tw_opdef tw_op_conv = {
    TW_OP_LEDGER(conv),
    TW_OP_ATTRIBUTES(conv),
    .formula = "out[n,y,x,o] = b[o] + sum of in[n, y*s-p+i*d, x*s-p+j*d, c] * w[o,i,j,c]",
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
