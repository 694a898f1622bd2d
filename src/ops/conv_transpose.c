/* How the compiler thinks about transposed convolution. */
#include "ops/conv_transpose.h"

#include "ops/ledger.h"
#include "ops/prepare.h"
#include "ops/product.h"
#include "ops/window_shape.h"

TW_ATTRIBUTE_TABLE(conv_transpose, TW_CONV_TRANSPOSE_ATTRIBUTES);

/* Axis i of `spatial`; the attributes have been checked. */
static tw_span span_of(const tw_conv_transpose_attributes *a, const tw_shape *x, const tw_shape *w,
                       int i)
{
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    tw_span s = {x->dim[1 + i], 0, w->dim[1 + i], 1, 1, 0, 0};
    tw_window_entry(&s, &lists, x->rank - 2, i);
    return s;
}

static bool check_lists(const tw_shape_call *call, int spatial)
{
    const tw_conv_transpose_attributes *a = call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    return tw_window_check_lists(call, &lists, spatial) &&
           tw_window_check_list(call, "output_pad", &a->output_pad, spatial);
}

/* The output's extent on spatial axis i. */
static bool extend(const tw_shape_call *call, int i, int32_t *phases)
{
    const tw_conv_transpose_attributes *a = call->attributes;
    const tw_span s = span_of(a, &call->in[0]->shape, &call->in[1]->shape, i);
    int64_t added = i < a->output_pad.count ? a->output_pad.v[i] : 0;
    if (s.in < 1 || s.kernel < 1)
        return TW_SHAPE_FAIL(call,
                             "spatial axis %d has %d elements and a kernel of %d; both must be at "
                             "least 1",
                             i, (int)s.in, (int)s.kernel);
    *phases = s.stride < TW_PHASES_MOST ? *phases * s.stride : TW_PHASES_MOST + 1;
    if (*phases > TW_PHASES_MOST)
        return TW_SHAPE_UNSUPPORTED(call, "strides whose product is above %d; use smaller ones",
                                    TW_PHASES_MOST);
    int64_t full = tw_transposed_extent(&s), extent = full + added;
    if (full + s.pad_begin + s.pad_end > TW_WINDOW_LIMIT)
        return TW_SHAPE_UNSUPPORTED(call,
                                    "%d elements with stride %d, kernel %d and dilation %d on "
                                    "spatial axis %d spread over %lld; at most %d are supported",
                                    (int)s.in, (int)s.stride, (int)s.kernel, (int)s.dilation, i,
                                    (long long)(full + s.pad_begin + s.pad_end), TW_WINDOW_LIMIT);
    if (extent < 1)
        return TW_SHAPE_FAIL(call,
                             "pads %d and %d leave %lld elements of spatial axis %d; make them "
                             "smaller",
                             (int)s.pad_begin, (int)s.pad_end, (long long)extent, i);
    call->out[0].dim[1 + i] = (int32_t)extent;
    return true;
}

static bool shape(const tw_shape_call *call)
{
    const tw_conv_transpose_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    if (x->rank < 3 || x->rank > 4)
        return TW_SHAPE_UNSUPPORTED(call,
                                    "the input has rank %d; 3 (batch, time, channels) and 4 "
                                    "(batch, rows, columns, channels) are supported",
                                    x->rank);
    if (w->rank != x->rank)
        return TW_SHAPE_FAIL(call,
                             "the weights have rank %d, the input %d; they must be output "
                             "channels, kernel extents, input channels of a group",
                             w->rank, x->rank);
    if (!check_lists(call, x->rank - 2))
        return false;
    int32_t channels = x->dim[x->rank - 1], outputs = w->dim[0], depth = w->dim[w->rank - 1];
    if (outputs < 1 || depth < 1 || channels % a->group != 0 || outputs % a->group != 0 ||
        depth != channels / a->group)
        return TW_SHAPE_FAIL(call,
                             "weights for %d outputs of %d channels; the input has %d channels in "
                             "%d groups",
                             (int)outputs, (int)depth, (int)channels, (int)a->group);
    call->out[0] = *x;
    call->out[0].dim[x->rank - 1] = outputs;
    int32_t phases = 1;
    for (int i = 0; i < x->rank - 2; i++)
        if (!extend(call, i, &phases))
            return false;
    return tw_check_weights(call, outputs);
}

/* Output o comes from input rows ceil((o + p - reach + 1) / s) to floor((o + p) / s). */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_shape *x = &node->in[0]->shape;
    if (input != 0 || axis < 0 || axis >= x->rank - 1)
        return tw_rows_whole();
    if (axis == 0)
        return tw_rows_identity();
    const tw_span s = span_of(node->attributes, x, &node->in[1]->shape, axis - 1);
    return tw_rows_mapped(s.stride, 1, -s.pad_begin, s.pad_begin - tw_window_reach(&s) + s.stride);
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *x = &node->in[0]->shape;
    uint64_t pixels = (uint64_t)tw_shape_elements(x);
    int32_t channels = x->dim[x->rank - 1];
    return channels ? pixels / (uint64_t)channels * (uint64_t)tw_shape_elements(&node->in[1]->shape)
                    : 0;
}

/* The bias as it is: the kernel subtracts the zero point from what it reads. */
static bool lower_scaled(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_shape *w = &node->in[1]->shape;
    const int32_t outputs = w->dim[0], taps = (int32_t)(tw_shape_elements(w) / outputs);
    if (!tw_prepare_channels(node,
                             &(tw_weight_layout){outputs, taps, taps, 1, 0, false, false, true},
                             arena, lowering, diag))
        return false;
    if (node->in[0]->shape.dtype == TW_S16) /* there is no zero point */
        return true;
    int32_t *bias = lowering->blob[TW_BLOB_BIAS].data;
    const tw_value *b = node->in_count > 2 ? node->in[2] : NULL;
    for (int32_t o = 0; o < outputs; o++)
        bias[o] = b ? ((const int32_t *)b->data)[o] : 0;
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    const tw_shape *w = &node->in[1]->shape;
    if (tw_is_hybrid(node))
        return tw_prepare_hybrid(node, w->dim[0], 0, 0, arena, lowering, diag);
    if (w->dtype == TW_S8)
        return lower_scaled(node, arena, lowering, diag);
    static const int order[] = {1, 2, 3, 0}, order1[] = {1, 2, 0}; /* outputs innermost */
    tw_prepare_order(node, 1, w->rank == 4 ? order : order1, arena, lowering);
    return true;
}

/* More taps than the stride, fewer, none in some phases; groups, dilation, one spatial axis. */
#define F32(...) TW_WINDOW_SAMPLE_F32("ConvTranspose", __VA_ARGS__)
#define F32W8(...) TW_WINDOW_SAMPLE_F32W8("ConvTranspose", __VA_ARGS__)
#define S16(...) TW_WINDOW_SAMPLE_S16("ConvTranspose", __VA_ARGS__)
#define S8(...) TW_WINDOW_SAMPLE_S8("ConvTranspose", __VA_ARGS__)
#define TWICE "{stride=[2,2], pad_begin=[1,1], pad_end=[1,0], output_pad=[1,0]}"
#define UNEVEN "{stride=[3,2], dilation=[2,3], pad_begin=[2,0], pad_end=[0,3], group=2}"
/* clang-format off */
static const char samples[] =
    F32("twice", "[1,6,4,3]", "[10,3,3,3]", "10", TWICE)
    F32("groups, uneven", "[1,7,5,4]", "[6,3,2,2]", "6", UNEVEN)
    F32("gaps", "[1,5,3,2]", "[3,1,2,2]", "3", "{stride=[3,4], output_pad=[5,1]}")
    F32("one axis", "[1,9,4]", "[5,4,4]", "5", "{stride=[2], pad_begin=[3], pad_end=[1]}")
    F32W8("twice", "[1,6,4,3]", "[10,3,3,3]", "10", TWICE)
    F32W8("groups, uneven", "[1,7,5,4]", "[6,3,2,2]", "6", UNEVEN)
    S8("twice", "[1,6,4,3]", "[10,3,3,3]", "10", "[1,12,8,10]", TWICE)
    S8("groups, uneven", "[1,7,5,4]", "[6,3,2,2]", "6", "[1,21,9,6]", UNEVEN)
    S8("gaps", "[1,5,3,2]", "[3,1,2,2]", "3", "[1,18,11,3]", "{stride=[3,4], output_pad=[5,1]}")
    S8("one axis", "[1,9,4]", "[5,4,4]", "5", "[1,16,5]", "{stride=[2], pad_begin=[3], pad_end=[1]}")
    S16("twice", "s64", "[1,6,4,3]", "[10,3,3,3]", "10", "[1,12,8,10]", TWICE)
    S16("groups, uneven", "s32", "[1,7,5,4]", "[6,3,2,2]", "6", "[1,21,9,6]", UNEVEN);
/* clang-format on */

const tw_opdef tw_op_conv_transpose = {
    TW_OP_LEDGER(conv_transpose),
    TW_OP_ATTRIBUTES(conv_transpose),
    .formula =
        "out[n,y,x,o] = b[o] + sum of in[n,r,q,c] * w[o,i,j,c], y = r*s-p+i*d, x = q*s-p+j*d",
    .min_in = 2,
    .max_in = 3,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .macs = macs,
    .lower = lower,
    .limits =
        "one or two spatial axes; strides of a product up to 4096; f32, or f32, s8 or s16 with "
        "constant symmetric s8 weights (one scale, or one an output channel)",
    .samples = samples,
    .onnx = "",
};
