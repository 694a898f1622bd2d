/* How the compiler thinks about convolutions of three axes. */
#include "ops/volume.h"

#include "ops/ledger.h"
#include "ops/prepare.h"
#include "ops/window_shape.h"

TW_ATTRIBUTE_TABLE(conv, TW_CONV_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(conv_transpose, TW_CONV_TRANSPOSE_ATTRIBUTES);

enum { SPATIAL = 3 };

static bool is_transposed(const tw_opdef *op)
{
    return op->code == TW_OPCODE_conv_transpose3d;
}

/* Both attribute structures begin with a window's lists and the groups. */
static tw_span span_of(const tw_conv_attributes *a, const tw_shape *x, const tw_shape *w, int i)
{
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    tw_span s = {x->dim[1 + i], 0, w->dim[1 + i], 1, 1, 0, 0};
    tw_window_entry(&s, &lists, SPATIAL, i);
    return s;
}

static bool extend(const tw_shape_call *call, int i, const tw_ints *added, int64_t *phases)
{
    const tw_span s = span_of(call->attributes, &call->in[0]->shape, &call->in[1]->shape, i);
    bool transposed = is_transposed(call->op);
    if (s.in < 1 || s.kernel < 1)
        return TW_SHAPE_FAIL(call,
                             "spatial axis %d has %d elements and a kernel of %d; both must be at "
                             "least 1",
                             i, (int)s.in, (int)s.kernel);
    int64_t full = transposed ? tw_transposed_extent(&s) : tw_window_extent(&s, 0);
    int64_t extent = full + (added && added->count ? added->v[i] : 0);
    *phases *= transposed ? s.stride : 1;
    if (tw_window_reach(&s) > TW_WINDOW_LIMIT || extent > TW_WINDOW_LIMIT ||
        full + s.pad_begin + s.pad_end > TW_WINDOW_LIMIT || s.stride > TW_PHASES_MOST ||
        *phases > TW_PHASES_MOST)
        return TW_SHAPE_UNSUPPORTED(call,
                                    "spatial axis %d has %d elements, kernel %d, dilation %d and "
                                    "stride %d, which is beyond what is supported",
                                    i, (int)s.in, (int)s.kernel, (int)s.dilation, (int)s.stride);
    if (extent < 1)
        return TW_SHAPE_FAIL(call,
                             "spatial axis %d of %d elements, kernel %d, dilation %d, stride %d "
                             "and pads %d and %d leaves nothing",
                             i, (int)s.in, (int)s.kernel, (int)s.dilation, (int)s.stride,
                             (int)s.pad_begin, (int)s.pad_end);
    call->out[0].dim[1 + i] = (int32_t)extent;
    return true;
}

static bool shape(const tw_shape_call *call)
{
    const tw_conv_attributes *a = call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    const bool transposed = is_transposed(call->op);
    const tw_ints *added =
        transposed ? &((const tw_conv_transpose_attributes *)call->attributes)->output_pad : NULL;
    if (x->rank != 5 || w->rank != 5)
        return TW_SHAPE_FAIL(call, "input and weights have rank %d and %d; both must be 5", x->rank,
                             w->rank);
    if (x->dtype != TW_F32 || w->dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "%s and weights of %s; f32 is supported",
                                    tw_dtype_name(x->dtype), tw_dtype_name(w->dtype));
    if (!tw_window_check_lists(call, &lists, SPATIAL) ||
        (transposed && !tw_window_check_list(call, "output_pad", added, SPATIAL)))
        return false;
    if (w->dim[0] < 1 || w->dim[4] < 1 || x->dim[4] % a->group != 0 || w->dim[0] % a->group != 0 ||
        w->dim[4] != x->dim[4] / a->group)
        return TW_SHAPE_FAIL(call,
                             "weights for %d outputs of %d channels; the input has %d channels in "
                             "%d groups",
                             (int)w->dim[0], (int)w->dim[4], (int)x->dim[4], (int)a->group);
    call->out[0] = *x;
    call->out[0].dim[4] = w->dim[0];
    int64_t phases = 1;
    for (int i = 0; i < SPATIAL; i++)
        if (!extend(call, i, added, &phases))
            return false;
    return tw_check_weights(call, w->dim[0]);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    if (input != 0 || axis < 0 || axis > SPATIAL)
        return tw_rows_whole();
    if (axis == 0)
        return tw_rows_identity();
    const tw_span s = span_of(node->attributes, &node->in[0]->shape, &node->in[1]->shape, axis - 1);
    int64_t behind = s.pad_begin - tw_window_reach(&s) + s.stride;
    return is_transposed(node->op) ? tw_rows_mapped(s.stride, 1, -s.pad_begin, behind)
                                   : tw_rows_mapped(1, s.stride, behind, -s.pad_begin);
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *w = &node->in[1]->shape;
    uint64_t weights = (uint64_t)tw_shape_elements(w);
    if (!is_transposed(node->op))
        return (uint64_t)tw_shape_elements(&node->out[0]->shape) * (weights / (uint64_t)w->dim[0]);
    const tw_shape *x = &node->in[0]->shape;
    return (uint64_t)x->dim[0] * (uint64_t)x->dim[1] * (uint64_t)x->dim[2] * (uint64_t)x->dim[3] *
           weights;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    static const int order[] = {1, 2, 3, 4, 0}; /* outputs innermost */
    tw_prepare_order(node, 1, order, arena, lowering);
    return tw_lower_default(node, arena, lowering, diag);
}

/* clang-format off */
#define F32(Op, ...) TW_WINDOW_SAMPLE_F32(Op, __VA_ARGS__)
#define SAME "{pad_begin=[1,1,1], pad_end=[1,1,1]}"
#define UNEVEN "{stride=[2,1,2], dilation=[1,2,1], pad_begin=[2,0,1], pad_end=[3,1,0], group=2}"
#define TWICE "{stride=[2,2,2], pad_begin=[1,1,0], pad_end=[1,0,1], output_pad=[1,0,0]}"
#define SPREAD "{stride=[3,2,1], dilation=[2,1,2], pad_begin=[1,0,2], group=2}"
static const char samples[] =
    F32("Conv3d", "same", "[1,4,5,3,3]", "[9,3,3,3,3]", "9", SAME)
    F32("Conv3d", "groups, uneven", "[1,5,6,4,4]", "[6,3,2,2,2]", "6", UNEVEN)
    F32("Conv3d", "one slice", "[1,1,6,4,2]", "[3,1,3,2,2]", "3", "")
    F32("Conv3d", "batch", "[2,3,3,2,2]", "[3,2,2,1,2]", "3", "");
static const char transposed_samples[] =
    F32("ConvTranspose3d", "twice", "[1,3,4,2,3]", "[9,3,3,2,3]", "9", TWICE)
    F32("ConvTranspose3d", "groups, spread", "[1,3,2,4,4]", "[6,2,3,2,2]", "6", SPREAD)
    F32("ConvTranspose3d", "batch", "[2,2,3,2,2]", "[3,2,2,1,2]", "3", "");
/* clang-format on */

#define RECORD(symbol, table, formula_text, sample_text)                                           \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        TW_OP_ATTRIBUTES(table),                                                                   \
        .formula = formula_text,                                                                   \
        .min_in = 2,                                                                               \
        .max_in = 3,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape,                                                                            \
        .rows = rows,                                                                              \
        .macs = macs,                                                                              \
        .lower = lower,                                                                            \
        .limits = "f32; strides up to 4096",                                                       \
        .samples = sample_text,                                                                    \
        .onnx = "",                                                                                \
    }

RECORD(conv3d, conv, "Conv of slices, rows and columns", samples);
RECORD(conv_transpose3d, conv_transpose, "ConvTranspose of slices, rows and columns",
       transposed_samples);
