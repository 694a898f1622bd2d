/* Resize and ResizeNearest: records. The tables are made here, from the taps that resample.h finds. */
#include "ops/resize.h"

#include <math.h>
#include <string.h>

#include "ops/ledger.h"
#include "ops/resample.h"

TW_ATTRIBUTE_TABLE(resize, TW_RESIZE_ATTRIBUTES);

static bool check_lists(const tw_shape_call *call)
{
    const tw_resize_attributes *a = call->attributes;
    int rank = call->in[0]->shape.rank;
    const int32_t counts[] = {a->scale.count, a->begin.count, a->end.count};
    if (a->size.count != rank)
        return TW_SHAPE_FAIL(call, "size has %d entries; it needs one for each of %d axes",
                             (int)a->size.count, rank);
    for (int i = 0; i < 3; i++)
        if (counts[i] != 0 && counts[i] != rank)
            return TW_SHAPE_FAIL(call,
                                 "scale, begin and end need one entry for each of %d axes, or "
                                 "none",
                                 rank);
    return true;
}

/* Is the axis taken as it is, whatever the mode? */
static bool is_kept(const tw_resize_attributes *a, int k, int32_t in, int32_t out)
{
    bool plain = a->coordinates != TW_RESIZE_CROP && a->coordinates != TW_RESIZE_TF_HALF_PIXEL;
    return in == out && plain && (a->scale.count == 0 || a->scale.v[k] == 0 || a->scale.v[k] == 1);
}

static bool check_axis(const tw_shape_call *call, int k)
{
    const tw_resize_attributes *a = call->attributes;
    int32_t in = call->in[0]->shape.dim[k], out = a->size.v[k];
    if (is_kept(a, k, in, out))
        return true;
    if (in < 1 && out > 0)
        return TW_SHAPE_FAIL(call, "axis %d is empty; %d elements cannot be made of it", k,
                             (int)out);
    if (in > TW_RESIZE_EXTENT || out > TW_RESIZE_EXTENT ||
        tw_resample_taps(a, k, in, out) * out > TW_RESIZE_ENTRIES)
        return TW_SHAPE_UNSUPPORTED(call,
                                    "axis %d, of %d elements, is resampled to %d; extents to %d "
                                    "and tables to %d weights are supported",
                                    k, (int)in, (int)out, TW_RESIZE_EXTENT, TW_RESIZE_ENTRIES);
    return true;
}

static bool shape(const tw_shape_call *call)
{
    const tw_resize_attributes *a = call->attributes;
    if (!check_lists(call))
        return false;
    call->out[0] = call->in[0]->shape;
    for (int k = 0; k < call->out[0].rank; k++) {
        if (!check_axis(call, k))
            return false;
        call->out[0].dim[k] = a->size.v[k];
    }
    return true;
}

static bool shape_nearest(const tw_shape_call *call)
{
    const tw_resize_attributes *a = call->attributes;
    if (a->mode != TW_RESIZE_NEAREST || a->coordinates == TW_RESIZE_CROP)
        return TW_SHAPE_FAIL(call, "mode nearest without tf_crop_and_resize only; use Resize");
    return shape(call);
}

/* TFLite's own integer arithmetic instead of positions: two taps, the odd bits on the second. */
static void tflite_taps(const tw_resize_attributes *a, tw_resample *r)
{
    const int32_t one = 1 << TW_RESIZE_BITS;
    bool corners = a->coordinates == TW_RESIZE_ALIGN_CORNERS && r->out > 1;
    int64_t step = corners ? ((int64_t)one * (r->in - 1) + (r->out - 1) / 2) / (r->out - 1)
                           : ((int64_t)one * r->in + r->out / 2) / r->out;
    for (int32_t o = 0; o < r->out; o++) {
        int64_t at = o * step;
        if (a->coordinates == TW_RESIZE_HALF_PIXEL)
            at += step / 2 - one / 2;
        int64_t lower = at / one, upper = (at + one - 1) / one;
        lower = lower < 0 ? 0 : lower > r->in - 1 ? r->in - 1 : lower;
        upper = upper > r->in - 1 ? r->in - 1 : upper;
        double *weight = &r->weight[(int64_t)o * r->taps];
        r->first[o] = (int32_t)lower;
        r->count[o] = upper > lower ? 2 : 1;
        weight[0] = upper > lower ? 1 - (double)(at - one * lower) / one : 1;
        if (r->taps > 1)
            weight[1] = 1 - weight[0];
    }
}

/* The taps along axis k, as the node's type has them. */
static void axis_taps(const tw_node *node, int k, tw_arena *arena, tw_resample *r)
{
    const tw_resize_attributes *a = node->attributes;
    tw_resample_axis(a, k, node->in[0]->shape.dim[k], node->out[0]->shape.dim[k], arena, r);
    if (a->tflite && a->mode == TW_RESIZE_LINEAR && node->in[0]->shape.dtype == TW_S8)
        tflite_taps(a, r);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_resize_attributes *a = node->attributes;
    const tw_shape *x = &node->in[0]->shape, *y = &node->out[0]->shape;
    (void)input;
    if (axis < 0 || axis >= x->rank)
        return tw_rows_whole();
    if (is_kept(a, axis, x->dim[axis], y->dim[axis]))
        return tw_rows_identity();
    tw_arena *arena = tw_arena_new();
    tw_resample r;
    axis_taps(node, axis, arena, &r);
    tw_rowmap map = tw_resample_rows(&r);
    tw_arena_free(arena);
    return map;
}

/* ---- tables ---- */

typedef enum tw_weights { NO_WEIGHTS, FLOATS, INTEGERS } tw_weights;

/* Weights of ten fraction bits that add up to one. */
static void integer_weights(const tw_resample *r, int32_t *to)
{
    for (int32_t o = 0; o < r->out; o++) {
        int32_t left = 1 << TW_RESIZE_BITS;
        for (int32_t t = 1; t < r->count[o]; t++) {
            int64_t i = (int64_t)o * r->taps + t;
            to[i] = (int32_t)lround(r->weight[i] * (1 << TW_RESIZE_BITS));
            left -= to[i];
        }
        to[(int64_t)o * r->taps] = left;
    }
}

static void float_weights(const tw_resample *r, int32_t *to)
{
    for (int64_t i = 0; i < (int64_t)r->out * r->taps; i++) {
        float w = (float)r->weight[i];
        memcpy(&to[i], &w, sizeof w);
    }
}

/* Axis k's part of the table behind what there is; false when nothing is to be done on the axis. */
static bool add_axis(const tw_node *node, int k, tw_weights weights, tw_arena *arena,
                     int32_t **words, int64_t *count)
{
    const tw_resize_attributes *a = node->attributes;
    int32_t in = node->in[0]->shape.dim[k], out = node->out[0]->shape.dim[k];
    tw_resample r;
    if (is_kept(a, k, in, out) || out < 1)
        return false;
    axis_taps(node, k, arena, &r);
    int64_t more = (int64_t)out * (2 + (weights == NO_WEIGHTS ? 0 : r.taps));
    int32_t *grown = tw_alloc_array(arena, (size_t)(*count + more), sizeof *grown);
    memcpy(grown, *words, sizeof *grown * (size_t)*count);
    int32_t *to = grown + *count;
    memcpy(to, r.first, sizeof *to * (size_t)out);
    memcpy(to + out, r.count, sizeof *to * (size_t)out);
    if (weights == INTEGERS)
        integer_weights(&r, to + 2 * (int64_t)out);
    else if (weights == FLOATS)
        float_weights(&r, to + 2 * (int64_t)out);
    ((tw_resize_axis *)(void *)grown)[k] = (tw_resize_axis){r.taps, (int32_t)*count};
    *words = grown;
    *count += more;
    return true;
}

static int add_table(const tw_node *node, tw_weights weights, tw_arena *arena,
                     tw_lowering *lowering)
{
    int rank = node->in[0]->shape.rank, axes = 0;
    int64_t count = 2 * (int64_t)rank;
    int32_t *words = tw_alloc_array(arena, (size_t)count + 1, sizeof *words);
    for (int k = 0; k < rank; k++)
        axes += add_axis(node, k, weights, arena, &words, &count);
    lowering->blob[0].data = words;
    lowering->blob[0].bytes = (uint32_t)(count * (int64_t)sizeof *words);
    lowering->blob_count = 1;
    return axes;
}

/* The largest sum of weights' sizes of any output, 1 where nothing is resampled. */
static double most_weight(const tw_lowering *lowering, int rank, const tw_shape *y)
{
    const int32_t *words = lowering->blob[0].data;
    double all = 1;
    for (int k = 0; k < rank; k++) {
        const tw_resize_axis axis = ((const tw_resize_axis *)(const void *)words)[k];
        const int32_t n = y->dim[k];
        double most = axis.taps ? 0 : 1;
        for (int32_t o = 0; axis.taps && o < n; o++) {
            const int32_t *weight = words + axis.at + 2 * n + (int64_t)o * axis.taps;
            double sum = 0;
            for (int32_t t = 0; t < words[axis.at + n + o]; t++)
                sum += fabs((double)weight[t]);
            most = fmax(most, sum);
        }
        all *= most;
    }
    return all;
}

static bool lower_nearest(const tw_node *node, tw_arena *arena, tw_lowering *lowering,
                          tw_diag *diag)
{
    if (node->in[0]->quant.count > 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "an input with several scales; give it one");
    add_table(node, NO_WEIGHTS, arena, lowering);
    return tw_lower_default(node, arena, lowering, diag);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_resize_attributes *a = node->attributes;
    const tw_value *x = node->in[0];
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    if (x->shape.dtype != TW_S8) {
        add_table(node, FLOATS, arena, lowering);
        return true;
    }
    if (x->quant.count > 1 || !tw_quant_equal(&x->quant, &node->out[0]->quant))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int8 input and output with different scales; give both the same one");
    if (a->mode == TW_RESIZE_NEAREST || a->antialias || a->coordinates == TW_RESIZE_CROP)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int8 in a mode other than plain linear or cubic; keep the operator in "
                       "float");
    if (add_table(node, INTEGERS, arena, lowering) > 2)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int8 resampled along more than two axes; do it one after the other");
    if (most_weight(lowering, x->shape.rank, &node->out[0]->shape) * 128 >=
        2147483648.0 - (1 << 19))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "cubic weights for which 32 bits are too few; keep the operator in float");
    return true;
}

/* Up and down, every mode; a channel axis that is resampled too. */
#define SAMPLE(title, type, call) TW_SAMPLE(title, type, "-3", "3", "", call)
#define S8 "s8[1,6,5,19] quant(scale=0.05, zero=-7)"
/* clang-format off */
static const char samples[] =
    SAMPLE("linear", "f32[1,6,5,3]", "Resize (%x) {size=[1,13,8,3], mode=linear}")
    SAMPLE("linear down", "f32[1,13,9,2]",
           "Resize (%x) {size=[1,5,4,2], mode=linear, antialias=1}")
    SAMPLE("cubic", "f32[1,7,5,2]",
           "Resize (%x) {size=[1,11,3,2], mode=cubic, coordinates=align_corners}")
    SAMPLE("cubic down", "f32[1,11,6,2]",
           "Resize (%x) {size=[1,4,3,2], mode=cubic, antialias=1, exclude_outside=1}")
    SAMPLE("crop", "f32[1,7,5,2]",
           "Resize (%x) {size=[1,9,6,2], mode=linear, coordinates=tf_crop_and_resize, "
           "begin=[0,0.4,-0.2,0], end=[1,1.3,0.6,1], extrapolation=7}")
    SAMPLE("every axis", "f32[2,3,4]", "Resize (%x) {size=[3,5,7], mode=linear}")
    TW_SAMPLE("s8", S8, "-128", "128", " : s8[1,13,8,19] quant(scale=0.05, zero=-7)",
              "Resize (%x) {size=[1,13,8,19], mode=linear, tflite=1}")
    TW_SAMPLE("s8 cubic", S8, "-128", "128", " : s8[1,13,4,19] quant(scale=0.05, zero=-7)",
              "Resize (%x) {size=[1,13,4,19], mode=cubic}")
    TW_SAMPLE("s8 one axis", S8, "-128", "128", " : s8[1,4,5,19] quant(scale=0.05, zero=-7)",
              "Resize (%x) {size=[1,4,5,19], mode=linear}");
static const char nearest_samples[] =
    SAMPLE("up", "f32[1,5,4,3]", "ResizeNearest (%x) {size=[1,12,8,3]}")
    SAMPLE("down", "s16[1,13,7,2]",
           "ResizeNearest (%x) {size=[1,5,3,2], coordinates=asymmetric, rounding=ceil}")
    SAMPLE("s8", "s8[1,6,5,4] quant(scale=0.05, zero=-7)",
           "ResizeNearest (%x) {size=[1,12,10,4], coordinates=asymmetric, rounding=floor, tflite=1}")
    TW_SAMPLE("every axis", "u8[2,3,4]", "0", "256", "", "ResizeNearest (%x) {size=[3,5,7]}");
/* clang-format on */

#define RECORD(symbol, shape_function, lower_function, formula_text, limits_text, sample_text)     \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        TW_OP_ATTRIBUTES(resize),                                                                  \
        .formula = formula_text,                                                                   \
        .min_in = 1,                                                                               \
        .max_in = 1,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape_function,                                                                   \
        .rows = rows,                                                                              \
        .lower = lower_function,                                                                   \
        .limits = limits_text,                                                                     \
        .samples = sample_text,                                                                    \
        .onnx = "",                                                                                \
    }

RECORD(resize, shape, lower, "sum of the taps around each output's place in x, times their weights",
       "f32; s8 linear, along at most two axes; extents to 1048576", samples);
RECORD(resize_nearest, shape_nearest, lower_nearest, "the element nearest each output's place in x",
       "extents to 1048576; no tf_crop_and_resize (Resize has it)", nearest_samples);
