/* Softmax: record. int8 is TFLite's reference arithmetic: the exponentials are gemmlowp's fixed
 * point, of which only 256 values can occur, so they are computed here, once. */
#include <math.h>
#include <string.h>

#include "ops/softmax.h"

#include "ops/axes.h"
#include "ops/exponential.h"
#include "ops/ledger.h"
#include "ops/lut_points.h"
#include "ops/scale.h"
#include "runtime/fixed.h"

TW_ATTRIBUTE_TABLE(softmax, TW_SOFTMAX_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_softmax_attributes *a = call->attributes;
    if (tw_shape_axis(call, a->axis) < 0)
        return false;
    if (!tw_shape_default(call))
        return false;
    const tw_dtype in = call->in[0]->shape.dtype, out = (tw_dtype)a->dtype;
    if (out != TW_NO_DTYPE && out != in && !(in == TW_S8 && out == TW_S16))
        return TW_SHAPE_UNSUPPORTED(call, "a %s result of %s; s16 of s8 is supported",
                                    tw_dtype_name(out), tw_dtype_name(in));
    call->out[0].dtype = out != TW_NO_DTYPE ? out : in;
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_softmax_attributes *a = node->attributes;
    return tw_rows_along(node, input, axis, a->axis);
}

static void fill_table(tw_softmax_table *t, double scale)
{
    int32_t multiplier, left;
    tw_quantize_multiplier(fmin(scale * (1 << 26), 2147483647.0), &multiplier, &left);
    /* Differences beyond this would overflow the 5 integer bits: their exponential counts as 0. */
    double most = floor(31.0 * (1 << 26) / ldexp(1, left));
    for (int d = 0; d < 256; d++)
        t->exp[d] = d > most ? 0 : tw_exp_of_negative(tw_high_mul(-d * (1 << left), multiplier), 5);
}

static float exponential(float x, const void *unused)
{
    (void)unused;
    return (float)exp((double)x);
}

static float reciprocal(float x, const void *unused)
{
    (void)unused;
    return 1.0f / (1.0f + x);
}

static bool lower_s16(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_softmax_attributes *a = node->attributes;
    const tw_value *in = node->in[0], *out = node->out[0];
    const float range = UINT16_MAX;
    const tw_lut_curve exp_curve = {10.0f / range, INT16_MAX, 2.0f / range, exponential, NULL};
    const tw_lut_curve reciprocal_curve = {1.0f / range, INT16_MIN, 2.0f / range, reciprocal, NULL};
    int32_t n = in->shape.dim[tw_axis(a->axis, in->shape.rank)];
    if (in->quant.count != 1 || out->quant.count != 1 || out->quant.scale[0] != 1.0f / 32768 ||
        out->quant.zero_point[0] != 0)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "an s16 input needs one scale, the s16 result scale 1/32768 and zero point "
                       "0");
    if (n > TW_SOFTMAX_S16_LONGEST)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the axis has %d elements; int16 takes %d: use f32 here", (int)n,
                       TW_SOFTMAX_S16_LONGEST);
    tw_softmax_s16 *t = tw_alloc(arena, sizeof *t);
    double real = (double)in->quant.scale[0] * (double)a->beta / (10.0 / 65535.0);
    tw_quantize_multiplier(real, &t->multiplier, &t->shift);
    if (t->shift > 13) /* differences are below 2^16 */
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "beta * scale is %g; int16 takes less than 1.2: use f32 here",
                       (double)a->beta * (double)in->quant.scale[0]);
    tw_lut_points(&exp_curve, t->exp);
    tw_lut_points(&reciprocal_curve, t->reciprocal);
    lowering->blob[0].data = t;
    lowering->blob[0].bytes = sizeof *t;
    lowering->blob_count = 1;
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_softmax_attributes *a = node->attributes;
    const tw_value *in = node->in[0], *out = node->out[0];
    if (!tw_lower_default(node, arena, lowering, diag))
        return false;
    if ((lowering->kernel->id & 255u) == TW_SIG_s16)
        return lower_s16(node, arena, lowering, diag);
    if ((lowering->kernel->id & 255u) != TW_SIG_s8)
        return true;
    int32_t n = in->shape.dim[tw_axis(a->axis, in->shape.rank)];
    double scale = (double)a->beta * (double)in->quant.scale[0];
    if (in->quant.count != 1 || out->quant.count != 1)
        return tw_fail(diag, TW_CODE_FAILED, node->name, node->op->name,
                       "int8 input and result each need one scale and zero point");
    if (n > TW_SOFTMAX_S8_LONGEST)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the axis has %d elements; int8 takes %d: use f32 here", (int)n,
                       TW_SOFTMAX_S8_LONGEST);
    if (scale * (1 << 26) <= 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "beta * scale is %g; int8 needs more than 2^-26: use f32 here", scale);
    tw_softmax_table *t = tw_alloc(arena, sizeof *t);
    fill_table(t, scale);
    if (out->quant.scale[0] != (out->shape.dtype == TW_S16 ? 1.0f / 65536 : 1.0f / 256)) {
        tw_quantize_multiplier(1.0 / (65536.0 * (double)out->quant.scale[0]), &t->multiplier,
                               &t->shift);
        if (t->shift > 14)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "the result's scale %g is below 2^-30; use 1/256",
                           (double)out->quant.scale[0]);
    }
    lowering->blob[0].data = t;
    lowering->blob[0].bytes = sizeof *t;
    lowering->blob_count = 1;
    return true;
}

/* A lane along the band axis is read whole for every band: then nothing may be written over it. */
static bool in_place(const tw_node *node, int input)
{
    const tw_softmax_attributes *a = node->attributes;
    const tw_shape *s = &node->in[input]->shape;
    if (node->out[0]->shape.dtype != s->dtype)
        return false;
    for (int k = 0; k < tw_axis(a->axis, s->rank); k++)
        if (s->dim[k] != 1)
            return true;
    return false;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("channel", "f32[1,6,5,8]", "-4", "4", "", "Softmax (%x)")
    TW_SAMPLE("rows", "f32[1,12,3]", "-4", "4", "", "Softmax (%x) {axis=1, beta=0.5}")
    TW_SAMPLE("s8", "s8[1,7,5,3] quant(scale=0.05, zero=-4)", "-128", "128",
              " : s8[1,7,5,3] quant(scale=0.00390625, zero=-128)", "Softmax (%x)")
    TW_SAMPLE("s16", "s16[1,7,5,3] quant(scale=0.0003, zero=0)", "-32768", "32768",
              " : s16[1,7,5,3] quant(scale=0.000030517578125, zero=0)", "Softmax (%x)");
/* clang-format on */

const tw_opdef tw_op_softmax = {
    TW_OP_LEDGER(softmax),
    TW_OP_ATTRIBUTES(softmax),
    .formula = "exp(beta * x) / sum of exp(beta * x) along `axis`",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .in_place = in_place,
    .limits =
        "int8: at most 8191 elements along the axis, int16: 65535 and a result of scale 1/32768",
    .samples = samples,
    .onnx = "",
};
