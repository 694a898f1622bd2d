/* LstmFull: record. The numbers are those of TFLite's preparation, in its precisions. */
#include "ops/lstm_full.h"

#include <math.h>

#include "ops/ledger.h"
#include "ops/scale.h"

TW_ATTRIBUTE_TABLE(lstm_full, TW_LSTM_FULL_ATTRIBUTES);

static const tw_value *operand(const tw_node *node, int i)
{
    return i < node->in_count ? node->in[i] : NULL;
}

static bool has_extents(const tw_shape_call *call, int i, tw_dtype dtype, int rank, int32_t a,
                        int32_t b, int32_t c)
{
    const tw_value *v = i < call->in_count ? call->in[i] : NULL;
    const int32_t dim[] = {a, b, c};
    const tw_shape wanted = tw_shape_of(dtype, rank, dim);
    return !v || tw_shape_equal(&v->shape, &wanted) ||
           TW_SHAPE_FAIL(call, "operand %d does not fit the layer in type or shape", i);
}

static bool shape(const tw_shape_call *call)
{
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[TW_LSTM_FULL_W]->shape;
    const tw_shape *r = &call->in[TW_LSTM_FULL_R]->shape;
    if (x->dtype != TW_S8)
        return TW_SHAPE_UNSUPPORTED(call, "a layer of %s; s8 is supported",
                                    tw_dtype_name(x->dtype));
    if (x->rank != 3 || w->rank != 3 || r->rank != 3 || w->dim[0] < TW_LSTM_GATES - 1 ||
        w->dim[0] > TW_LSTM_GATES || w->dim[1] < 1 || w->dim[1] > 1 << 16 || r->dim[2] < 1)
        return TW_SHAPE_FAIL(call, "x must be [N, T, I], w [G, O, I] and r [G, O, P], G 3 or 4");
    const int32_t n = x->dim[0], g = w->dim[0], o = w->dim[1], p = r->dim[2];
    const bool projected =
        call->in_count > TW_LSTM_FULL_PROJECTION && call->in[TW_LSTM_FULL_PROJECTION];
    if (!projected && p != o)
        return TW_SHAPE_FAIL(call, "%d results of %d cells need a projection", (int)p, (int)o);
    if (!has_extents(call, TW_LSTM_FULL_W, TW_S8, 3, g, o, x->dim[2]) ||
        !has_extents(call, TW_LSTM_FULL_R, TW_S8, 3, g, o, p) ||
        !has_extents(call, TW_LSTM_FULL_B, TW_S32, 2, g, o, 0) ||
        !has_extents(call, TW_LSTM_FULL_H, TW_S8, 2, n, p, 0) ||
        !has_extents(call, TW_LSTM_FULL_C, TW_S16, 2, n, o, 0) ||
        !has_extents(call, TW_LSTM_FULL_PEEPHOLE, TW_S16, 2, g - 1, o, 0) ||
        !has_extents(call, TW_LSTM_FULL_NORM, TW_S16, 2, g, o, 0) ||
        !has_extents(call, TW_LSTM_FULL_PROJECTION, TW_S8, 2, p, o, 0) ||
        !has_extents(call, TW_LSTM_FULL_PROJECTION_BIAS, TW_S32, 1, p, 0, 0))
        return false;
    const int32_t all[] = {n, x->dim[1], p}, h[] = {n, p}, c[] = {n, o};
    call->out[0] = tw_shape_of(TW_S8, 3, all);
    if (call->out_count > 1)
        call->out[1] = tw_shape_of(TW_S8, 2, h);
    if (call->out_count > 2)
        call->out[2] = tw_shape_of(TW_S16, 2, c);
    return true;
}

static bool in_place(const tw_node *node, int input)
{
    (void)node;
    return input == TW_LSTM_FULL_H || input == TW_LSTM_FULL_C;
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *x = &node->in[0]->shape, *w = &node->in[TW_LSTM_FULL_W]->shape;
    return (uint64_t)x->dim[0] * (uint64_t)x->dim[1] * (uint64_t)w->dim[0] * (uint64_t)w->dim[1] *
           ((uint64_t)w->dim[2] + (uint64_t)node->out[0]->shape.dim[2]);
}

/* ---- lowering ---- */

static bool unsupported(const tw_node *node, tw_diag *diag, const char *what)
{
    return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name, "%s", what);
}

static bool is_symmetric(const tw_value *v, int scales)
{
    if (!v)
        return true;
    for (int i = 0; i < v->quant.count; i++)
        if (v->quant.zero_point[i] != 0)
            return false;
    return v->data && (v->quant.count == 1 || (v->quant.count == scales && v->quant.axis == 0));
}

static bool check_quantisation(const tw_node *node, int *power, tw_diag *diag)
{
    const int gates = node->in[TW_LSTM_FULL_W]->shape.dim[0];
    const tw_quant *x = &node->in[0]->quant, *y = &node->out[0]->quant;
    const tw_quant *cell = &node->in[TW_LSTM_FULL_C]->quant;
    const tw_lstm_full_attributes *a = node->attributes;
    if (x->count != 1 || y->count != 1 || cell->count != 1 || cell->zero_point[0] != 0 ||
        !tw_quant_equal(&node->in[TW_LSTM_FULL_H]->quant, y))
        return unsupported(node, diag,
                           "x, the result and the states need one scale each, the "
                           "hidden state the result's, the cell zero point 0");
    if (frexp((double)cell->scale[0], power) != 0.5 || *power < -14 || *power > -8)
        return unsupported(node, diag, "the cell's scale is no power of two from 2^-15 to 2^-9");
    --*power;
    for (int i = TW_LSTM_FULL_W; i <= TW_LSTM_FULL_R; i++)
        if (!is_symmetric(node->in[i], gates))
            return unsupported(node, diag, "weights must be constant and symmetric");
    if (!is_symmetric(operand(node, TW_LSTM_FULL_PEEPHOLE), gates - 1) ||
        !is_symmetric(operand(node, TW_LSTM_FULL_NORM), gates) ||
        !is_symmetric(operand(node, TW_LSTM_FULL_PROJECTION), 1))
        return unsupported(node, diag, "weights must be constant and symmetric");
    const tw_value *b = operand(node, TW_LSTM_FULL_B);
    const tw_value *d = operand(node, TW_LSTM_FULL_PROJECTION_BIAS);
    if ((b && !b->data) || (d && !d->data))
        return unsupported(node, diag, "biases must be constant");
    if (operand(node, TW_LSTM_FULL_NORM) && a->steps.count != gates)
        return unsupported(node, diag, "normalised gates need the scales of their sums");
    return true;
}

static float scale_at(const tw_value *v, int i)
{
    return v->quant.scale[v->quant.count == 1 ? 0 : i];
}

static tw_lstm_rescale rescale_by(float real)
{
    tw_lstm_rescale r;
    tw_quantize_multiplier((double)real, &r.multiplier, &r.shift);
    return r;
}

static void fill_gate(const tw_node *node, int power, int slot, int g, tw_lstm_full_scales *s)
{
    const tw_lstm_full_attributes *a = node->attributes;
    const tw_value *norm = operand(node, TW_LSTM_FULL_NORM);
    const tw_value *peephole = operand(node, TW_LSTM_FULL_PEEPHOLE);
    const float step = norm ? a->steps.v[slot] : 0x1p-12f;
    const float x = node->in[0]->quant.scale[0], h = node->out[0]->quant.scale[0];
    s->x[g] = rescale_by(scale_at(node->in[TW_LSTM_FULL_W], slot) * x / step);
    s->h[g] = rescale_by(scale_at(node->in[TW_LSTM_FULL_R], slot) * h / step);
    s->variance[g] = 1;
    if (peephole && g != TW_LSTM_CELL) {
        const int seen = slot - (g > TW_LSTM_CELL);
        s->peephole[g] = rescale_by(ldexpf(1, power) * scale_at(peephole, seen) / step);
    }
    if (norm) {
        s->norm[g] = rescale_by(scale_at(norm, slot));
        s->norm[g].shift += 12;
        s->variance[g] = (int32_t)fmaxf(1, 10000 * scale_at(norm, slot));
    }
}

static int32_t steps_of(float bound, float scale, float most)
{
    return bound > 0 ? (int32_t)fminf(bound / scale, most) : 0;
}

static void fill_scales(const tw_node *node, int power, tw_lstm_full_scales *s)
{
    const tw_lstm_full_attributes *a = node->attributes;
    const int gates = node->in[TW_LSTM_FULL_W]->shape.dim[0];
    const tw_value *projection = operand(node, TW_LSTM_FULL_PROJECTION);
    const float h = node->out[0]->quant.scale[0];
    for (int g = 0; g < TW_LSTM_GATES; g++)
        s->variance[g] = 1;
    for (int slot = 0; slot < gates; slot++)
        fill_gate(node, power, slot, slot + TW_LSTM_GATES - gates, s);
    s->hidden = rescale_by(0x1p-15f / a->hidden_scale * 0x1p-15f);
    if (projection)
        s->projection = rescale_by(projection->quant.scale[0] * a->hidden_scale / h);
    s->added_shift = 30 + power;
    s->cell_bits = 15 + power;
    s->clip = steps_of(a->cell_clip, node->in[TW_LSTM_FULL_C]->quant.scale[0], INT16_MAX);
    const int32_t bound = steps_of(a->projection_clip, h, INT8_MAX);
    s->clip_low = bound > 0 ? -bound : INT8_MIN;
    s->clip_high = bound > 0 ? bound : INT8_MAX;
    s->hidden_zero = a->hidden_zero;
}

static bool are_valid(const tw_lstm_full_scales *s)
{
    bool ok = s->hidden.shift <= 30 && s->projection.shift <= 30;
    for (int g = 0; g < TW_LSTM_GATES; g++)
        ok = ok && s->x[g].shift <= 30 && s->h[g].shift <= 30 && s->peephole[g].shift <= 30 &&
             s->norm[g].shift <= 30;
    return ok;
}

/* bias - zero * (sum of each row's weights), wrapping around as the reference does. */
static int32_t *fold_zero(const tw_value *w, const tw_value *bias, int32_t zero, int32_t *to)
{
    const int32_t depth = w->shape.dim[w->shape.rank - 1];
    const int64_t row_count = tw_shape_elements(&w->shape) / depth;
    const int8_t *weights = w->data;
    for (int64_t k = 0; k < row_count; k++) {
        uint32_t sum = bias ? (uint32_t)((const int32_t *)bias->data)[k] : 0;
        for (int32_t i = 0; i < depth; i++)
            sum -= (uint32_t)(zero * weights[k * depth + i]);
        *to++ = (int32_t)sum;
    }
    return to;
}

static void fill_biases(const tw_node *node, int32_t *to)
{
    const tw_lstm_full_attributes *a = node->attributes;
    const tw_value *w = node->in[TW_LSTM_FULL_W], *r = node->in[TW_LSTM_FULL_R];
    const tw_value *b = operand(node, TW_LSTM_FULL_B), *norm = operand(node, TW_LSTM_FULL_NORM);
    const tw_value *projection = operand(node, TW_LSTM_FULL_PROJECTION);
    const int32_t gates = w->shape.dim[0] * w->shape.dim[1];
    to = fold_zero(w, norm ? NULL : b, node->in[0]->quant.zero_point[0], to);
    to = fold_zero(r, NULL, node->out[0]->quant.zero_point[0], to);
    for (int32_t k = 0; k < gates; k++)
        *to++ = norm && b ? ((const int32_t *)b->data)[k] : 0;
    if (projection)
        fold_zero(projection, operand(node, TW_LSTM_FULL_PROJECTION_BIAS), a->hidden_zero, to);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    const tw_shape *w = &node->in[TW_LSTM_FULL_W]->shape;
    const uint32_t batch = (uint32_t)node->in[0]->shape.dim[0];
    const uint32_t gates = (uint32_t)w->dim[0], cells = (uint32_t)w->dim[1];
    const uint32_t outputs = (uint32_t)node->out[0]->shape.dim[2];
    int power;
    if (!tw_lower_default(node, arena, l, diag) || !check_quantisation(node, &power, diag))
        return false;
    const uint32_t bytes[2] = {sizeof(tw_lstm_full_scales), (3 * gates * cells + outputs) * 4};
    for (int i = 0; i < 2; i++) {
        l->blob[i].data = tw_alloc(arena, bytes[i]);
        l->blob[i].bytes = bytes[i];
    }
    l->blob_count = 2;
    fill_scales(node, power, l->blob[0].data);
    fill_biases(node, l->blob[1].data);
    l->unread |= 1u << TW_LSTM_FULL_B | 1u << TW_LSTM_FULL_PROJECTION_BIAS;
    l->scratch = (uint32_t)tw_lstm_full_scratch(cells);
    l->memory = (uint32_t)tw_lstm_cell_offset((uint64_t)batch * outputs, 1) + batch * cells * 2;
    return are_valid(l->blob[0].data) ||
           unsupported(node, diag, "scales that lie too far apart for 32 bits");
}

/* clang-format off */
#define STATES(p, o)                                                                               \
    "  const %x : s8[1,4,3] quant(scale=0.03, zero=-20) = random 1 -128 128\n"                     \
    "  const %h : s8[1," p "] quant(scale=0.008, zero=-4) = random 5 -128 128\n"                   \
    "  const %c : s16[1," o "] quant(scale=0.000244140625, zero=0) = random 6 -9000 9000\n"
#define WEIGHTS(g, p, o)                                                                           \
    "  const %w : s8[" g "," o ",3] quant(scale=0.01, zero=0) = random 2 -127 128\n"               \
    "  const %r : s8[" g "," o "," p "] quant(scale=0.01, zero=0) = random 3 -127 128\n"           \
    "  const %b : s32[" g "," o "] = random 4 -1000 1000\n"
#define RESULT(p, more, attributes)                                                                \
    "  %y : s8[1,4," p "] quant(scale=0.008, zero=-4) = LstmFull (%x, %w, %r, %b, %h, %c" more     \
    ") {hidden_scale=0.007, hidden_zero=3" attributes "}\n  output %y\n}\n"
static const char samples[] =
    "graph \"projection\" {\n" STATES("2", "3") WEIGHTS("4", "2", "3")
    "  const %j : s8[2,3] quant(scale=0.008, zero=0) = random 7 -127 128\n"
    "  const %d : s32[2] = random 8 -900 900\n"
    RESULT("2", ", _, _, %j, %d", ", cell_clip=1.5, projection_clip=0.7")
    "graph \"normalised\" {\n" STATES("3", "3") WEIGHTS("4", "3", "3")
    "  const %n : s16[4,3] quant(scale=0.0003, zero=0) = random 9 -32768 32768\n"
    RESULT("3", ", _, %n", ", steps=[0.001, 0.001, 0.002, 0.001]")
    "graph \"coupled, peephole\" {\n" STATES("3", "3") WEIGHTS("3", "3", "3")
    "  const %p : s16[2,3] quant(scale=0.00003, zero=0) = random 9 -32768 32768\n"
    RESULT("3", ", %p", "");
/* clang-format on */

const tw_opdef tw_op_lstm_full = {
    TW_OP_LEDGER(lstm_full),
    TW_OP_ATTRIBUTES(lstm_full),
    .formula = "Lstm with coupled gates, peephole connections, normalised gates or a projection",
    .min_in = 6,
    .max_in = TW_LSTM_FULL_OPERANDS,
    .min_out = 1,
    .max_out = 3,
    .shape = shape,
    .rows = tw_rows_steps,
    .final_output = tw_final_but_first,
    .macs = macs,
    .lower = lower,
    .in_place = in_place,
    .limits = "s8 with s16 cell, constant symmetric weights",
    .samples = samples,
    .onnx = "",
};
