/* How the compiler thinks about int8 recurrent layers: scales, biases and peepholes as the kernels' tables. */
#include "ops/recurrent_s8.h"

#include <math.h>
#include <stdlib.h>

#include "ops/exponential.h"
#include "ops/recurrent_job.h"
#include "ops/scale.h"
#include "ops/sigmoid_s16.h"

static const tw_value *operand(const tw_node *node, int i)
{
    return i < node->in_count ? node->in[i] : NULL;
}

static bool refuse(const tw_node *node, tw_diag *diag, const char *what)
{
    return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name, "%s", what);
}

bool tw_is_cell_scale(float scale)
{
    int power;
    return frexpf(scale, &power) == 0.5f && power >= -15 && power <= -8;
}

/* The cell's scale: c0's, or that of what becomes of it. */
static float cell_scale(const tw_node *node)
{
    const tw_value *c0 = operand(node, TW_RECURRENT_C0);
    const tw_value *last = node->out_count > 2 ? node->out[2] : NULL;
    return c0 && c0->quant.count       ? c0->quant.scale[0]
           : last && last->quant.count ? last->quant.scale[0]
                                       : TW_RECURRENT_CELL_SCALE;
}

/* ---- what it takes ---- */

/* One scale, one a gate or one a row: [G, O, K] by axis 0, [1, G * O, K] by axis 1. */
static bool has_row_scales(const tw_value *w)
{
    const tw_quant *q = &w->quant;
    for (int i = 0; i < q->count; i++)
        if (q->zero_point[i] != 0)
            return false;
    return w->data && (q->count == 1 || (q->count > 1 && q->axis == (w->shape.dim[0] == 1)));
}

static bool is_cell(const tw_value *c, float scale)
{
    return !c || c->quant.count == 0 ||
           (c->quant.count == 1 && c->quant.zero_point[0] == 0 && c->quant.scale[0] == scale);
}

static bool check(const tw_node *node, tw_diag *diag)
{
    const tw_recurrent_attributes *a = node->attributes;
    const tw_value *y = node->out[0], *h0 = operand(node, TW_RECURRENT_H0);
    const tw_value *last = node->out_count > 1 ? node->out[1] : NULL;
    const tw_value *b = operand(node, TW_RECURRENT_B), *p = operand(node, TW_RECURRENT_P);
    const float cell = cell_scale(node);
    if (node->in[0]->quant.count != 1 || y->quant.count != 1 || !(y->quant.scale[0] > 0x1p-14f) ||
        (h0 && !tw_quant_equal(&h0->quant, &y->quant)) ||
        (last && !tw_quant_equal(&last->quant, &y->quant)))
        return refuse(node, diag,
                      "s8 x and y need one scale each, y's above 2^-14, and the hidden state y's");
    if (!tw_is_cell_scale(cell) || !is_cell(operand(node, TW_RECURRENT_C0), cell) ||
        (node->out_count > 2 && !is_cell(node->out[2], cell)))
        return refuse(node, diag,
                      "the cell's scale is no power of two from 2^-16 to 2^-9, with zero point 0");
    if (!has_row_scales(node->in[TW_RECURRENT_W]) || !has_row_scales(node->in[TW_RECURRENT_R]))
        return refuse(node, diag,
                      "s8 weights must be constant and symmetric, with one scale, one a gate or "
                      "one a row");
    if ((b && !b->data) || (p && !p->data))
        return refuse(node, diag, "biases and peepholes of an s8 layer must be constant");
    if (a->f != TW_ACTIVATION_SIGMOID || a->g > TW_ACTIVATION_TANH || a->h > TW_ACTIVATION_TANH)
        return refuse(node, diag,
                      "s8 gates are sigmoid, candidate and cell sigmoid or tanh; other activations "
                      "are computed in f32");
    return y->shape.dim[2] <= TW_RECURRENT_S8_MOST ||
           refuse(node, diag, "s8 layers have up to 4096 outputs");
}

/* ---- tables ---- */

/* tw_requantize of it is right for shifts down to `least`; smaller numbers are 0. */
static tw_lstm_rescale rescale_by(double real, int least)
{
    tw_lstm_rescale r;
    tw_quantize_multiplier(real, &r.multiplier, &r.shift);
    if (r.shift < least)
        r = (tw_lstm_rescale){0, 0};
    return r;
}

static float row_scale(const tw_value *w, int32_t row, int32_t rows)
{
    return w->quant.scale[row / (rows / w->quant.count)];
}

static void fill_rescales(const tw_value *w, float scale, tw_lstm_rescale *to)
{
    for (int i = 0; i < w->quant.count; i++)
        to[i] = rescale_by((double)scale * (double)w->quant.scale[i] * 4096,
                           TW_RECURRENT_RESET_BITS - 31);
}

/* A row's largest size, bias and rescale stay within 32 bits. */
static bool fits(int64_t bias, int64_t most, const tw_lstm_rescale *by)
{
    const double bound = (double)most + fabs((double)bias);
    return ldexp(bound, by->shift > 0 ? by->shift : 0) < 2147483648.0;
}

/* Bias j of `b` [2, G, O], unit k; 0 where there is none. */
static double bias_at(const tw_value *b, int j, int32_t k, int32_t rows)
{
    return b ? (double)((const float *)b->data)[j * rows + k] : 0;
}

/* b / (scale * w's), less zero * (sum of each row of w). */
static bool fill_bias(const tw_node *node, int which, const tw_quant *of, int32_t *to,
                      const tw_lstm_rescale *by)
{
    const tw_recurrent_attributes *a = node->attributes;
    const tw_value *w = node->in[which], *b = operand(node, TW_RECURRENT_B);
    const int32_t rows = w->shape.dim[0] * w->shape.dim[1], depth = w->shape.dim[2];
    const int32_t outputs = node->out[0]->shape.dim[2], zero = of->zero_point[0];
    const bool apart = a->linear_before_reset && rows == 3 * outputs;
    const int8_t *row = w->data;
    for (int32_t k = 0; k < rows; k++, row += depth) {
        const bool own = apart && k >= 2 * outputs; /* r's bias is reset with the product */
        const double step = (double)of->scale[0] * (double)row_scale(w, k, rows);
        double real = 0;
        int64_t sum = 0, most = 0;
        if (which == TW_RECURRENT_W)
            real = bias_at(b, 0, k, rows) + (own ? 0 : bias_at(b, 1, k, rows));
        else if (own)
            real = bias_at(b, 1, k, rows);
        for (int32_t i = 0; i < depth; i++) {
            sum += row[i];
            most += 128 * (int64_t)abs(row[i]);
        }
        const double bias = round(real / step) - (double)(zero * sum);
        if (!(fabs(bias) < 2147483648.0) ||
            !fits((int64_t)bias, most, &by[k / (rows / w->quant.count)]))
            return false;
        to[k] = (int32_t)bias;
    }
    return true;
}

/* Each gate's weights by the largest of them. */
static void fill_peephole(const tw_value *p, float cell, tw_recurrent_scales *s, int16_t *to)
{
    const int32_t outputs = p->shape.dim[1];
    const float *from = p->data;
    for (int g = 0; g < 3; g++, from += outputs, to += outputs) {
        float most = 0;
        for (int32_t k = 0; k < outputs; k++)
            most = fmaxf(most, fabsf(from[k]));
        const double step = most > 0 && most < INFINITY ? (double)most / 32767 : 1;
        for (int32_t k = 0; k < outputs; k++)
            to[k] = (int16_t)fmin(fmax(round((double)from[k] / step), -32767), 32767);
        s->peephole[g] = rescale_by(step * (double)cell * 4096, -31);
    }
}

static void fill_scales(const tw_node *node, tw_recurrent_scales *s)
{
    const tw_recurrent_attributes *a = node->attributes;
    const double cell = (double)cell_scale(node), h = (double)node->out[0]->quant.scale[0];
    const bool has_cell =
        node->in[TW_RECURRENT_W]->shape.dim[0] * node->in[TW_RECURRENT_W]->shape.dim[1] ==
        4 * node->out[0]->shape.dim[2];
    int power;
    s->x_scales = node->in[TW_RECURRENT_W]->quant.count;
    s->h_scales = node->in[TW_RECURRENT_R]->quant.count;
    s->result = rescale_by((has_cell ? 0x1p-30 : 0x1p-15) / h, -31);
    s->forget = rescale_by(0x1p-15, -31);
    s->input = rescale_by(0x1p-30 / cell, -31);
    frexp(cell, &power); /* 2^(power - 1); the table has 24 steps a unit, in 9 bits each */
    power += 11;
    s->cell_multiplier = power >= 0 ? 3 << power : 3;
    s->cell_shift = power >= 0 ? 0 : -power;
    s->clip = a->clip > 0 ? (int32_t)fmax(1, fmin(round((double)a->clip * 4096), 32767)) : 0;
}

static void *blob(tw_arena *arena, tw_lowering *l, uint32_t bytes)
{
    void *data = tw_alloc(arena, bytes);
    l->blob[l->blob_count].data = data;
    l->blob[l->blob_count++].bytes = bytes;
    return data;
}

bool tw_recurrent_lower_s8(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    const tw_value *w = node->in[TW_RECURRENT_W], *r = node->in[TW_RECURRENT_R];
    const tw_value *p = operand(node, TW_RECURRENT_P);
    if (!check(node, diag))
        return false;
    const uint32_t outputs = (uint32_t)r->shape.dim[2];
    const uint32_t rows = (uint32_t)w->shape.dim[0] * (uint32_t)w->shape.dim[1];
    const uint32_t state = (uint32_t)node->in[0]->shape.dim[0] * outputs;
    tw_recurrent_scales *s = blob(arena, l, sizeof *s);
    fill_scales(node, s);
    tw_sigmoid_table(blob(arena, l, TW_SIGMOID_POINTS * 2));
    int32_t *bias = blob(arena, l, rows * 8);
    const uint32_t scales = (uint32_t)(s->x_scales + s->h_scales);
    tw_lstm_rescale *by = blob(arena, l, scales * (uint32_t)sizeof *by);
    fill_rescales(w, node->in[0]->quant.scale[0], by);
    fill_rescales(r, node->out[0]->quant.scale[0], by + s->x_scales);
    if (p)
        fill_peephole(p, cell_scale(node), s, blob(arena, l, outputs * 6));
    l->unread |= 1u << TW_RECURRENT_B | 1u << TW_RECURRENT_P;
    l->memory = (uint32_t)tw_lstm_cell_offset(state, 1) + state * 2;
    l->scratch = (uint32_t)tw_recurrent_scratch_s8(rows / outputs, outputs);
    return (fill_bias(node, TW_RECURRENT_W, &node->in[0]->quant, bias, by) &&
            fill_bias(node, TW_RECURRENT_R, &node->out[0]->quant, bias + rows, by + s->x_scales)) ||
           refuse(node, diag, "scales of x, y or the weights for which 32 bits are too few");
}
