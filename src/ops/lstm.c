/* How the compiler thinks about long short-term memory. */
#include "ops/lstm.h"

#include <math.h>
#include <string.h>

#include "ops/exponential.h"
#include "ops/ledger.h"
#include "ops/lstm_job.h"
#include "ops/prepare.h"
#include "ops/scale.h"

TW_ATTRIBUTE_TABLE(lstm, TW_LSTM_ATTRIBUTES);

static bool has_extents(const tw_value *v, int rank, int32_t a, int32_t b, int32_t c)
{
    const int32_t dim[] = {a, b, c};
    for (int i = 0; v && i < rank; i++)
        if (v->shape.rank != rank || v->shape.dim[i] != dim[i])
            return false;
    return true;
}

static bool shape(const tw_shape_call *call)
{
    const tw_value *in[6] = {NULL};
    for (int i = 2; i < call->in_count; i++)
        in[i] = call->in[i];
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    if (x->rank != 3 || w->rank != 3 || w->dim[0] != TW_LSTM_GATES)
        return TW_SHAPE_FAIL(call, "x must be [N, T, I] and w [4, O, I]; they have rank %d and %d",
                             x->rank, w->rank);
    const int32_t batch = x->dim[0], outputs = w->dim[1];
    if (w->dim[2] != x->dim[2] || !has_extents(in[2], 3, TW_LSTM_GATES, outputs, outputs) ||
        !has_extents(in[3], 2, TW_LSTM_GATES, outputs, 0) ||
        !has_extents(in[4], 2, batch, outputs, 0) || !has_extents(in[5], 2, batch, outputs, 0))
        return TW_SHAPE_FAIL(call,
                             "weights, biases or states do not fit %d inputs and %d outputs in "
                             "a batch of %d",
                             (int)x->dim[2], (int)outputs, (int)batch);
    const tw_dtype cell = x->dtype == TW_F32 ? TW_F32 : TW_S16;
    if ((in[4] && in[4]->shape.dtype != x->dtype) || (in[5] && in[5]->shape.dtype != cell))
        return TW_SHAPE_FAIL(call, "the states must be %s and %s", tw_dtype_name(x->dtype),
                             tw_dtype_name(cell));
    const int32_t all[] = {batch, x->dim[1], outputs}, last[] = {batch, outputs};
    call->out[0] = tw_shape_of(x->dtype, 3, all);
    if (call->out_count > 1)
        call->out[1] = tw_shape_of(x->dtype, 2, last);
    if (call->out_count > 2)
        call->out[2] = tw_shape_of(cell, 2, last);
    return true;
}

/* States are read before the first step and written after the last. */
static bool in_place(const tw_node *node, int input)
{
    (void)node;
    return input >= 4;
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *w = &node->in[1]->shape;
    return (uint64_t)tw_shape_elements(&node->out[0]->shape) * TW_LSTM_GATES *
           ((uint64_t)w->dim[2] + (uint64_t)w->dim[1]);
}

/* ---- int8 and int16 ---- */

static tw_lstm_rescale rescale_by(double real)
{
    tw_lstm_rescale r;
    tw_quantize_multiplier(real, &r.multiplier, &r.shift);
    return r;
}

static float gate_scale(const tw_value *w, int gate)
{
    return w->quant.scale[w->quant.count == 1 ? 0 : gate];
}

static bool check_weights(const tw_node *node, const tw_value *w, tw_diag *diag)
{
    bool ok = w->shape.dtype == TW_S8 && w->data &&
              (w->quant.count == 1 || (w->quant.count == TW_LSTM_GATES && w->quant.axis == 0));
    for (int i = 0; ok && i < w->quant.count; i++)
        ok = w->quant.zero_point[i] == 0;
    return ok || tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                         "integer weights must be constant s8 and symmetric, with one scale or one "
                         "a gate");
}

static const tw_value *operand(const tw_node *node, int i)
{
    return i < node->in_count ? node->in[i] : NULL;
}

/* The quantisation of the cell: of c0, or of what becomes of it. */
static const tw_quant *cell_quant(const tw_node *node)
{
    const tw_value *c0 = operand(node, 5);
    const tw_value *last = node->out_count > 2 ? node->out[2] : NULL;
    return c0 ? &c0->quant : last ? &last->quant : NULL;
}

static bool check_quantisation(const tw_node *node, int *power, tw_diag *diag)
{
    const tw_value *x = node->in[0], *y = node->out[0], *b = operand(node, 3);
    const tw_value *h0 = operand(node, 4), *last = node->out_count > 1 ? node->out[1] : NULL;
    const tw_quant *cell = cell_quant(node);
    if (x->quant.count != 1 || y->quant.count != 1 || !cell || cell->count != 1 ||
        cell->zero_point[0] != 0)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "integer x, y and the cell need one scale each, the cell with zero point 0");
    if (frexp((double)cell->scale[0], power) != 0.5 || *power < -15 || *power > 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the cell's scale %g is not a power of two between 2^-16 and 1",
                       (double)cell->scale[0]);
    --*power; /* frexp's fraction is one half */
    if ((h0 && !tw_quant_equal(&h0->quant, &y->quant)) ||
        (last && !tw_quant_equal(&last->quant, &y->quant)))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the hidden state must have the result's scale and zero point");
    const bool wide = x->shape.dtype == TW_S16;
    if (wide && (x->quant.zero_point[0] || y->quant.zero_point[0]))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "s16 x and y need zero point 0");
    if (b && (!b->data || b->shape.dtype != (wide ? TW_S64 : TW_S32)))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the bias of an s8 layer must be constant s32, of an s16 layer s64");
    return check_weights(node, node->in[1], diag) && check_weights(node, node->in[2], diag);
}

static void fill_scales(const tw_node *node, int power, tw_lstm_scales *s)
{
    const tw_lstm_attributes *a = node->attributes;
    const double gate = 1.0 / 4096, result = 1.0 / 32768; /* 12 and 15 fraction bits */
    const float x = node->in[0]->quant.scale[0], h = node->out[0]->quant.scale[0];
    const double cell = (double)cell_quant(node)->scale[0];
    for (int g = 0; g < TW_LSTM_GATES; g++) {
        float sum = x * gate_scale(node->in[1], g), recurrent = h * gate_scale(node->in[2], g);
        s->x[g] = rescale_by((double)sum / gate);
        s->h[g] = rescale_by((double)recurrent / gate);
    }
    s->forget = rescale_by(result * cell / cell);
    s->input = rescale_by(result * result / cell);
    s->output = rescale_by(result * result / (double)h);
    /* The table has 24 steps a unit, in 9 bits each: 12288 = 3 * 2^12. */
    s->tanh_multiplier = power + 12 >= 0 ? 3 << (power + 12) : 3;
    s->tanh_shift = power + 12 >= 0 ? 0 : -(power + 12);
    double clip = (double)a->cell_clip / cell;
    s->clip = a->cell_clip > 0 ? (int32_t)fmin(clip, 32767.0) : 0;
}

/* bias - zero * (sum of the weights), for every gate and output. */
static bool fill_bias(const tw_node *node, const tw_value *w, const tw_value *b, int32_t zero,
                      int32_t *bias, tw_diag *diag)
{
    const int32_t rows_ = w->shape.dim[0] * w->shape.dim[1], depth = w->shape.dim[2];
    const int8_t *weights = w->data;
    for (int32_t r = 0; r < rows_; r++) {
        int64_t sum = 0;
        for (int32_t k = 0; k < depth; k++)
            sum += weights[(int64_t)r * depth + k];
        sum = (b ? ((const int32_t *)b->data)[r] : 0) - sum * zero;
        if (sum < INT32_MIN || sum > INT32_MAX)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "a bias, zero point folded in, leaves 32 bits");
        bias[r] = (int32_t)sum;
    }
    return true;
}

/* The gates' sums of 64 bits shift left by so much at most. */
static bool fits_wide(const tw_node *node, const tw_lstm_scales *s, tw_diag *diag)
{
    bool ok = true;
    for (int g = 0; g < TW_LSTM_GATES; g++)
        ok = ok && s->x[g].shift <= 14 && s->h[g].shift <= 14;
    return ok || tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                         "scales of x, y or the weights beyond 2^14 of the gates' 1/4096");
}

static bool lower_integer(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    const tw_value *w = node->in[1];
    const uint32_t outputs = (uint32_t)w->shape.dim[1];
    int power;
    if (!check_quantisation(node, &power, diag))
        return false;
    const bool wide = node->in[0]->shape.dtype == TW_S16;
    const uint32_t gates = outputs * TW_LSTM_GATES;
    const uint32_t bytes[TW_LSTM_BLOBS] = {sizeof(tw_lstm_scales), 512, gates * (wide ? 8 : 4),
                                           gates * 4};
    l->blob_count = wide ? TW_LSTM_BLOB_H_BIAS : TW_LSTM_BLOBS;
    for (int i = 0; i < l->blob_count; i++) {
        l->blob[i].data = tw_alloc(arena, bytes[i]);
        l->blob[i].bytes = bytes[i];
    }
    fill_scales(node, power, l->blob[TW_LSTM_BLOB_SCALES].data);
    tw_sigmoid_table(l->blob[TW_LSTM_BLOB_SIGMOID].data);
    l->unread |= 1u << 3;
    if (wide) {
        if (operand(node, 3))
            memcpy(l->blob[TW_LSTM_BLOB_BIAS].data, operand(node, 3)->data, gates * 8);
        return fits_wide(node, l->blob[TW_LSTM_BLOB_SCALES].data, diag);
    }
    return fill_bias(node, w, operand(node, 3), node->in[0]->quant.zero_point[0],
                     l->blob[TW_LSTM_BLOB_BIAS].data, diag) &&
           fill_bias(node, node->in[2], NULL, node->out[0]->quant.zero_point[0],
                     l->blob[TW_LSTM_BLOB_H_BIAS].data, diag);
}

/* Floats with int8 weights. */
static bool lower_hybrid(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    if (!check_weights(node, node->in[1], diag) || !check_weights(node, node->in[2], diag))
        return false;
    tw_lstm_hybrid *scales = tw_alloc(arena, sizeof *scales);
    for (int g = 0; g < TW_LSTM_GATES; g++) {
        scales->w[g] = gate_scale(node->in[1], g);
        scales->r[g] = gate_scale(node->in[2], g);
    }
    scales->asymmetric = ((const tw_lstm_attributes *)node->attributes)->asymmetric;
    l->kernel = tw_op_kernel(node->op, TW_SIG_f32w8);
    l->scratch = (uint32_t)node->in[0]->shape.dim[2] + (uint32_t)node->in[1]->shape.dim[1];
    l->blob[0].data = scales;
    l->blob[0].bytes = sizeof *scales;
    l->blob_count = 1;
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    if (!tw_lower_default(node, arena, l, diag))
        return false;
    const tw_shape *w = &node->in[1]->shape;
    const bool real = node->in[0]->shape.dtype == TW_F32;
    const uint32_t state = (uint32_t)node->in[0]->shape.dim[0] * (uint32_t)w->dim[1];
    l->memory = (uint32_t)tw_lstm_cell_offset(state, tw_dtype_bytes(node->in[0]->shape.dtype)) +
                state * (real ? 4u : 2u);
    if (tw_is_hybrid(node))
        return lower_hybrid(node, arena, l, diag);
    return real || lower_integer(node, arena, l, diag);
}

const tw_opdef tw_op_lstm = {
    TW_OP_LEDGER(lstm),
    TW_OP_ATTRIBUTES(lstm),
    .formula =
        "c = sigmoid(f) * c + sigmoid(i) * tanh(g), h = sigmoid(o) * tanh(c); gates i, f, g, o = "
        "x * w + b + h * r",
    .min_in = 3,
    .max_in = 6,
    .min_out = 1,
    .max_out = 3,
    .shape = shape,
    .rows = tw_rows_steps,
    .final_output = tw_final_but_first,
    .macs = macs,
    .lower = lower,
    .in_place = in_place,
    .limits = "f32, with constant symmetric s8 weights too; s8 and s16 with s16 cell and constant "
              "symmetric s8 weights",
    .samples = "graph \"f32\" {\n"
               "  const %x : f32[1,5,3] = random 1 -1 1\n"
               "  const %w : f32[4,2,3] = random 2 -1 1\n"
               "  const %r : f32[4,2,2] = random 3 -1 1\n"
               "  const %b : f32[4,2] = random 4 -1 1\n"
               "  const %h : f32[1,2] = random 5 -1 1\n"
               "  const %c : f32[1,2] = random 6 -1 1\n"
               "  %y = Lstm (%x, %w, %r, %b, %h, %c)\n"
               "  output %y\n"
               "}\n"
               "graph \"f32w8\" {\n"
               "  const %x : f32[1,5,3] = random 1 -1 1\n"
               "  const %w : s8[4,2,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"
               "  const %r : s8[4,2,2] quant(scale=0.01, zero=0) = random 3 -127 128\n"
               "  const %b : f32[4,2] = random 4 -1 1\n"
               "  const %h : f32[1,2] = random 5 -1 1\n"
               "  const %c : f32[1,2] = random 6 -1 1\n"
               "  %y = Lstm (%x, %w, %r, %b, %h, %c)\n"
               "  output %y\n"
               "}\n"
               "graph \"s8\" {\n"
               "  const %x : s8[1,5,3] quant(scale=0.03, zero=-20) = random 1 -128 128\n"
               "  const %w : s8[4,2,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"
               "  const %r : s8[4,2,2] quant(scale=0.01, zero=0) = random 3 -127 128\n"
               "  const %b : s32[4,2] = random 4 -1000 1000\n"
               "  const %h : s8[1,2] quant(scale=0.008, zero=-4) = random 5 -128 128\n"
               "  const %c : s16[1,2] quant(scale=0.00048828125, zero=0) = random 6 -9000 9000\n"
               "  %y : s8[1,5,2] quant(scale=0.008, zero=-4) = Lstm (%x, %w, %r, %b, %h, %c)\n"
               "  output %y\n"
               "}\n"
               "graph \"s16\" {\n"
               "  const %x : s16[1,5,3] quant(scale=0.0003, zero=0) = random 1 -32768 32768\n"
               "  const %w : s8[4,2,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"
               "  const %r : s8[4,2,2] quant(scale=0.01, zero=0) = random 3 -127 128\n"
               "  const %b : s64[4,2] = random 4 -10000 10000\n"
               "  const %h : s16[1,2] quant(scale=0.00008, zero=0) = random 5 -32768 32768\n"
               "  const %c : s16[1,2] quant(scale=0.00048828125, zero=0) = random 6 -9000 9000\n"
               "  %y : s16[1,5,2] quant(scale=0.00008, zero=0) = Lstm (%x, %w, %r, %b, %h, %c)\n"
               "  output %y\n"
               "}\n",
    .onnx = "",
};
