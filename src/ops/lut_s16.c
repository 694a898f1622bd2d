/* The tables of unary operators on int16 with scales: lut.h has the forms. */
#include <math.h>

#include "ops/elementwise.h"
#include "ops/exponential.h"
#include "ops/ledger.h"
#include "ops/lut.h"
#include "ops/lut_points.h"
#include "ops/scale.h"
#include "ops/sigmoid_s16.h"
#include "ops/unary.h"

static void *add_blob(tw_arena *arena, tw_lowering *lowering, uint32_t bytes)
{
    void *data = tw_alloc(arena, bytes);
    lowering->blob[lowering->blob_count].data = data;
    lowering->blob[lowering->blob_count++].bytes = bytes;
    return data;
}

/* Of a slope, in the order in which TFLite multiplies. */
static double real_multiplier(const tw_node *node, float slope)
{
    return (double)(node->in[0]->quant.scale[0] * fabsf(slope) / node->out[0]->quant.scale[0]);
}

static void fill_lines(tw_lut_s16 *l, const tw_node *node, float above, float below)
{
    l->form = TW_LUT_LINES;
    l->above_negated = above < 0;
    l->below_negated = below < 0;
    tw_quantize_multiplier(real_multiplier(node, above), &l->above_multiplier, &l->above_shift);
    tw_quantize_multiplier(real_multiplier(node, below), &l->below_multiplier, &l->below_shift);
}

/* Operators that are straight on each side of zero. */
static bool is_straight(const tw_node *node, float *above, float *below)
{
    const tw_unary_attributes *a = node->attributes;
    *above = *below = 1;
    switch (node->op->code) {
    case TW_OPCODE_relu: *below = 0; return true;
    case TW_OPCODE_leaky_relu: *below = a->alpha; return true;
    case TW_OPCODE_abs: *below = -1; return true;
    case TW_OPCODE_neg: *above = *below = -1; return true;
    case TW_OPCODE_clip: return true;
    default: return false;
    }
}

/* Inputs in 12288ths, by a multiplier below 2^15. */
static bool fill_sigmoidal(tw_lut_s16 *l, const tw_node *node, int32_t form, tw_diag *diag)
{
    double steps = (double)node->in[0]->quant.scale[0] * 4096.0 * 3.0;
    if (node->out[0]->quant.scale[0] != 1.0f / 32768 || steps > INT16_MAX)
        return tw_fail(
            diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
            "an s16 result of scale %g from scale %g; the result's scale must be 1/32768 "
            "and the input's at most 2.6",
            (double)node->out[0]->quant.scale[0], (double)node->in[0]->quant.scale[0]);
    l->form = form;
    while (steps <= INT16_MAX / 2.0 && l->above_shift <= 30) {
        l->above_shift++;
        steps *= 2;
    }
    l->above_multiplier = (int32_t)steps;
    return true;
}

static float stored(float v, float inverse)
{
    return roundf(v * inverse);
}

/* What the function does not define is stored as zero. */
static int16_t point(float v)
{
    if (isnan(v))
        return 0;
    return (int16_t)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
}

void tw_lut_points(const tw_lut_curve *c, int16_t table[TW_LUT_POINTS])
{
    const float first = c->in_scale * (float)(INT16_MIN - c->in_zero);
    const float last = c->in_scale * (float)(INT16_MAX - c->in_zero);
    const float step = (last - first) / 512, half = step / 2;
    const float inverse = 65536.0f / (c->out_scale * INT16_MAX - c->out_scale * INT16_MIN);
    for (int i = 0; i < TW_LUT_POINTS - 1; i++) {
        const float at = first + (float)i * step;
        const float sample = stored(c->function(at, c->attributes), inverse);
        const float middle = c->function(at + half, c->attributes);
        const float next = c->function(first + (float)(i + 1) * step, c->attributes);
        const float line = roundf((next * inverse + sample) / 2);
        const float bend = roundf((line - stored(middle, inverse)) / 2);
        table[i] = point(isfinite(bend) ? sample - bend : sample);
    }
    table[TW_LUT_POINTS - 1] = point(stored(c->function(last, c->attributes), inverse));
}

/* What the stored result of a Clip is bounded by, in the terms of the result. */
static void narrow(const tw_node *node, tw_lowering *lowering)
{
    const tw_unary_attributes *a = node->attributes;
    const float out = node->out[0]->quant.scale[0];
    lowering->clamp_low.s32 =
        (int32_t)fmaxf((float)lowering->clamp_low.s32, roundf(a->alpha / out));
    lowering->clamp_high.s32 =
        (int32_t)fminf((float)lowering->clamp_high.s32, roundf(a->beta / out));
}

bool tw_lower_table_s16(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_value *in = node->in[0], *out = node->out[0];
    float above, below;
    if (in->quant.count != 1 || out->quant.count != 1 || in->quant.zero_point[0] != 0 ||
        out->quant.zero_point[0] != 0)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "on s16 it needs one scale for the input and one for the result, and zero "
                       "points 0");
    lowering->kernel = &tw_k_lut_s16;
    tw_lower_clamp(node, lowering);
    tw_lut_s16 *l = add_blob(arena, lowering, sizeof *l);
    if (is_straight(node, &above, &below)) {
        fill_lines(l, node, above, below);
        if (node->op->code == TW_OPCODE_clip)
            narrow(node, lowering);
        return true;
    }
    if (node->op->code == TW_OPCODE_sigmoid || node->op->code == TW_OPCODE_tanh) {
        bool is_tanh = node->op->code == TW_OPCODE_tanh;
        tw_sigmoid_table(add_blob(arena, lowering, TW_SIGMOID_POINTS * sizeof(uint16_t)));
        return fill_sigmoidal(l, node, is_tanh ? TW_LUT_TANH : TW_LUT_SIGMOID, diag);
    }
    l->form = TW_LUT_TABLE;
    const tw_lut_curve curve = {in->quant.scale[0], 0, out->quant.scale[0], node->op->scalar,
                                node->attributes};
    tw_lut_points(&curve, add_blob(arena, lowering, TW_LUT_POINTS * sizeof(int16_t)));
    return true;
}
