/* LogSoftmax: record. */
#include <math.h>

#include "ops/log_softmax.h"

#include "ops/axes.h"
#include "ops/exponential.h"
#include "ops/ledger.h"
#include "ops/scale.h"
#include "runtime/fixed.h"

TW_ATTRIBUTE_TABLE(log_softmax, TW_LOG_SOFTMAX_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_log_softmax_attributes *a = call->attributes;
    if (tw_shape_axis(call, a->axis) < 0)
        return false;
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_log_softmax_attributes *a = node->attributes;
    return tw_rows_along(node, input, axis, a->axis);
}

/* A lane along the band axis is read whole for every band: then nothing may be written over it. */
static bool in_place(const tw_node *node, int input)
{
    const tw_log_softmax_attributes *a = node->attributes;
    const tw_shape *s = &node->in[input]->shape;
    for (int k = 0; k < tw_axis(a->axis, s->rank); k++)
        if (s->dim[k] != 1)
            return true;
    return false;
}

static void fill_table(tw_log_softmax_table *t, double scale)
{
    int32_t multiplier, left;
    tw_quantize_multiplier(fmin(scale * (1 << 26), 2147483647.0), &multiplier, &left);
    tw_quantize_multiplier(ldexp(1, 31 - left) / multiplier, &t->multiplier, &t->shift);
    t->most = (int32_t)fmin(255, floor(31.0 * (1 << 26) / ldexp(1, left)));
    for (int d = 0; d < 256; d++) {
        t->distance[d] = d > t->most ? INT32_MIN : tw_requantize(-d, multiplier, left);
        t->exp[d] = d > t->most ? 0 : tw_shift_right(tw_exp_of_negative(t->distance[d], 5), 12);
    }
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_log_softmax_attributes *a = node->attributes;
    const tw_value *in = node->in[0], *out = node->out[0];
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    if (lowering->kernel != &tw_k_log_softmax_s8)
        return true;
    if (in->quant.count != 1 || out->quant.count != 1)
        return tw_fail(diag, TW_CODE_FAILED, node->name, node->op->name,
                       "int8 input and result each need one scale and zero point");
    if (out->quant.scale[0] != 1.0f / 16 || out->quant.zero_point[0] != 127)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "an int8 result has scale 1/16 and zero point 127; use f32 here");
    int32_t n = in->shape.dim[tw_axis(a->axis, in->shape.rank)];
    if (n > TW_LOG_SOFTMAX_S8_LONGEST)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the axis has %d elements; int8 takes %d: use f32 here", (int)n,
                       TW_LOG_SOFTMAX_S8_LONGEST);
    double scale = (double)in->quant.scale[0];
    if (scale * (1 << 26) <= 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the scale is %g; int8 needs more than 2^-26: use f32 here", scale);
    tw_log_softmax_table *t = tw_alloc(arena, sizeof *t);
    fill_table(t, scale);
    lowering->blob[0].data = t;
    lowering->blob[0].bytes = sizeof *t;
    lowering->blob_count = 1;
    return true;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("channel", "f32[1,6,5,8]", "-4", "4", "", "LogSoftmax (%x)")
    TW_SAMPLE("rows", "f32[1,12,3]", "-4", "4", "", "LogSoftmax (%x) {axis=1}")
    TW_SAMPLE("s8", "s8[1,7,5,3] quant(scale=0.05, zero=-4)", "-128", "128",
              " : s8[1,7,5,3] quant(scale=0.0625, zero=127)", "LogSoftmax (%x)");
/* clang-format on */

const tw_opdef tw_op_log_softmax = {
    TW_OP_LEDGER(log_softmax),
    TW_OP_ATTRIBUTES(log_softmax),
    .formula = "x - log(sum of exp(x)) along `axis`",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .in_place = in_place,
    .limits = "f32; s8 of one scale to scale 1/16 and zero point 127, at most 4095 elements along "
              "the axis",
    .samples = samples,
    .onnx = "",
};
