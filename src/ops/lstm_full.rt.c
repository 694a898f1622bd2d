/* LstmFull: kernel. h and c stand in memory; a step computes every gate of every cell before any state
 * changes, then the cell, then the output gate, which may see the new cell. */
#include "ops/lstm_full.h"

#include "ops/codes.h"
#include "ops/fixed16.h"
#include "ops/inverse_root.h"
#include "ops/lstm_job.h"

typedef struct tw_full_job {
    tw_lstm_job lstm; /* outputs: P */
    const tw_lstm_full_scales *s;
    const int32_t *bias_x, *bias_h, *bias_n, *bias_p;
    const int8_t *w, *r, *projection;
    const int16_t *peephole, *norm;
    int32_t cells, first; /* the first gate that there is */
    int16_t *gates;       /* [4, O] */
    int8_t *hidden;
} tw_full_job;

static int32_t rescaled(int32_t v, const tw_lstm_rescale *r)
{
    return tw_requantize(v, r->multiplier, r->shift);
}

/* ---- gates ---- */

/* The sums of gate g, peephole included. c: the cell that it sees. */
static void sum_gate(const tw_full_job *j, int32_t g, const int8_t *x, const int8_t *h,
                     const int16_t *c)
{
    const int32_t n = j->cells, from = (g - j->first) * n;
    const int32_t seen = g == TW_LSTM_CELL ? -1 : g - j->first - (g > TW_LSTM_CELL);
    int16_t *gate = j->gates + g * n;
    int32_t o;
    for (o = 0; o < n; o++) {
        const int32_t k = from + o;
        int32_t sum = tw_hold16(rescaled(
            tw_lstm_dot(x, j->w + (ptrdiff_t)k * j->lstm.inputs, j->lstm.inputs, j->bias_x[k]),
            &j->s->x[g]));
        sum =
            tw_hold16(sum + tw_hold16(rescaled(tw_lstm_dot(h, j->r + (ptrdiff_t)k * j->lstm.outputs,
                                                           j->lstm.outputs, j->bias_h[k]),
                                               &j->s->h[g])));
        if (j->peephole && seen >= 0)
            sum = tw_hold16(
                sum + tw_hold16(rescaled(j->peephole[seen * n + o] * c[o], &j->s->peephole[g])));
        gate[o] = (int16_t)sum;
    }
}

/* The sums less their mean, over their deviation: 10 fraction bits, then weights and bias. */
static void normalise_gate(const tw_full_job *j, int32_t g)
{
    const int32_t n = j->cells, from = (g - j->first) * n;
    int16_t *gate = j->gates + g * n;
    int64_t sum = 0, squares = 0;
    int32_t o, mean, variance, multiplier, shift;
    for (o = 0; o < n; o++) {
        sum += gate[o];
        squares += (int32_t)gate[o] * gate[o];
    }
    mean = (int32_t)(sum * 1024 / n);
    variance = (int32_t)((squares * ((1 << 20) / n) - (int64_t)mean * mean) / (1 << 20));
    tw_inverse_root(variance < 1 ? j->s->variance[g] : variance, &multiplier, &shift);
    for (o = 0; o < n; o++) {
        const int32_t centred = (int32_t)(1024u * (uint32_t)gate[o] - (uint32_t)mean);
        const int32_t unit = tw_requantize(centred, multiplier, shift);
        const int64_t value =
            (int32_t)((uint32_t)unit * (uint32_t)j->norm[from + o] + (uint32_t)j->bias_n[from + o]);
        const int32_t rounded = (int32_t)((value > 0 ? value + 512 : value - 512) / 1024);
        gate[o] = (int16_t)tw_hold16(rescaled(rounded, &j->s->norm[g]));
    }
}

static void make_gate(const tw_full_job *j, int32_t g, const int8_t *x, const int8_t *h,
                      const int16_t *c)
{
    int16_t *gate = j->gates + g * j->cells;
    int32_t o;
    sum_gate(j, g, x, h, c);
    if (j->norm)
        normalise_gate(j, g);
    for (o = 0; o < j->cells; o++)
        gate[o] = (int16_t)(g == TW_LSTM_CELL ? tw_tanh16(gate[o], 3) : tw_logistic16(gate[o]));
}

/* ---- a step ---- */

static void update_cell(const tw_full_job *j, int16_t *c)
{
    const int16_t *forget = j->gates + TW_LSTM_FORGET * j->cells;
    const int16_t *fresh = j->gates + TW_LSTM_CELL * j->cells;
    int32_t o;
    for (o = 0; o < j->cells; o++) {
        const int32_t in = j->first ? INT16_MAX - forget[o] : j->gates[o];
        const int32_t kept = (int16_t)tw_shift_right(forget[o] * c[o], 15);
        const int32_t added = (int16_t)tw_shift_right(in * fresh[o], j->s->added_shift);
        const int32_t cell = tw_hold16(kept + added);
        c[o] = (int16_t)(j->s->clip > 0 ? tw_clamp_s32(cell, -j->s->clip, j->s->clip) : cell);
    }
}

static void put_result(const tw_full_job *j, const int16_t *c, int8_t *y)
{
    const int16_t *gate = j->gates + TW_LSTM_OUTPUT * j->cells;
    int8_t *hidden = j->projection ? j->hidden : y;
    int32_t o;
    for (o = 0; o < j->cells; o++) {
        const int32_t out = gate[o] * tw_tanh16(c[o], j->s->cell_bits);
        hidden[o] = (int8_t)tw_clamp_s32(rescaled(out, &j->s->hidden) + j->s->hidden_zero, INT8_MIN,
                                         INT8_MAX);
    }
    for (o = 0; j->projection && o < j->lstm.outputs; o++) {
        const int32_t sum =
            tw_lstm_dot(hidden, j->projection + (ptrdiff_t)o * j->cells, j->cells, j->bias_p[o]);
        const int32_t out = tw_clamp_s32(tw_hold16(rescaled(sum, &j->s->projection)) +
                                             j->lstm.y->tensor->zero_point,
                                         INT8_MIN, INT8_MAX);
        y[o] = (int8_t)tw_clamp_s32(out, j->s->clip_low, j->s->clip_high);
    }
}

static void step(const tw_full_job *j, const int8_t *x, int8_t *h, int16_t *c, int8_t *y)
{
    int32_t g;
    for (g = j->first; g < TW_LSTM_OUTPUT; g++)
        make_gate(j, g, x, h, c);
    update_cell(j, c);
    make_gate(j, TW_LSTM_OUTPUT, x, h, c);
    put_result(j, c, y);
    memcpy(h, y, (size_t)j->lstm.outputs);
}

/* ---- the kernel ---- */

static const void *data_of(const tw_call *call, uint32_t i)
{
    const tw_view *v = tw_lstm_operand(call, i);
    return v ? v->data : NULL;
}

static tw_status open(tw_full_job *j, const tw_call *call)
{
    const int32_t *bias = (const int32_t *)call->blobs[1].data;
    if (tw_lstm_open(&j->lstm, call) != TW_OK)
        return TW_E_SCHEDULE;
    j->s = (const tw_lstm_full_scales *)call->blobs[0].data;
    j->cells = call->in[TW_LSTM_FULL_W].tensor->dim[1];
    j->first = TW_LSTM_GATES - call->in[TW_LSTM_FULL_W].tensor->dim[0];
    {
        const ptrdiff_t gates = (ptrdiff_t)(TW_LSTM_GATES - j->first) * j->cells;
        j->bias_x = bias;
        j->bias_h = bias + gates;
        j->bias_n = bias + 2 * gates;
        j->bias_p = bias + 3 * gates;
    }
    j->w = (const int8_t *)data_of(call, TW_LSTM_FULL_W);
    j->r = (const int8_t *)data_of(call, TW_LSTM_FULL_R);
    j->peephole = (const int16_t *)data_of(call, TW_LSTM_FULL_PEEPHOLE);
    j->norm = (const int16_t *)data_of(call, TW_LSTM_FULL_NORM);
    j->projection = (const int8_t *)data_of(call, TW_LSTM_FULL_PROJECTION);
    j->gates = (int16_t *)call->scratch;
    j->hidden = (int8_t *)(j->gates + (ptrdiff_t)TW_LSTM_GATES * j->cells);
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    tw_full_job j;
    int32_t n, t;
    if (open(&j, call) != TW_OK)
        return TW_E_SCHEDULE;
    const uint32_t results = (uint32_t)j.lstm.batch * (uint32_t)j.lstm.outputs;
    const uint32_t cells = (uint32_t)j.lstm.batch * (uint32_t)j.cells;
    int8_t *h = (int8_t *)call->memory;
    int16_t *c = (int16_t *)(void *)(h + tw_lstm_cell_offset(results, 1));
    if (j.lstm.first) {
        tw_lstm_copy_state(h, &call->in[TW_LSTM_FULL_H], results);
        tw_lstm_copy_state(c, &call->in[TW_LSTM_FULL_C], cells * 2u);
    }
    for (n = 0; n < j.lstm.batch; n++)
        for (t = 0; t < j.lstm.steps; t++)
            step(&j, (const int8_t *)j.lstm.x->data + tw_lstm_at(j.lstm.x, n, t + j.lstm.skipped),
                 h + (ptrdiff_t)n * j.lstm.outputs, c + (ptrdiff_t)n * j.cells,
                 (int8_t *)j.lstm.y->data + tw_lstm_at(j.lstm.y, n, t));
    if (j.lstm.last) {
        tw_lstm_save_state(tw_lstm_result(call, 1), h, results);
        tw_lstm_save_state(tw_lstm_result(call, 2), c, cells * 2u);
    }
    return TW_OK;
}

/* ---- checks ---- */

static int is_rescale(const tw_lstm_rescale *r)
{
    return r->multiplier >= 0 && r->shift >= -31 && r->shift <= 30;
}

static int are_scales(const tw_lstm_full_scales *s)
{
    int g;
    for (g = 0; g < TW_LSTM_GATES; g++)
        if (!is_rescale(&s->x[g]) || !is_rescale(&s->h[g]) || !is_rescale(&s->peephole[g]) ||
            !is_rescale(&s->norm[g]) || s->variance[g] < 1)
            return 0;
    return is_rescale(&s->hidden) && is_rescale(&s->projection) && s->added_shift >= 0 &&
           s->added_shift <= 31 && s->cell_bits >= 0 && s->cell_bits <= 6 && s->clip >= 0 &&
           s->clip <= INT16_MAX && s->clip_low >= INT8_MIN && s->clip_high <= INT8_MAX &&
           s->clip_low <= s->clip_high && s->hidden_zero >= INT8_MIN &&
           s->hidden_zero <= INT8_MAX + 1;
}

/* Operand or result v is absent, or dense of this type and these extents. */
static int fits(const tw_view *v, uint32_t dtype, int rank, int32_t a, int32_t b, int32_t c)
{
    int32_t dim[3];
    dim[0] = a;
    dim[1] = b;
    dim[2] = c;
    return !v || tw_lstm_is_dense(v, dtype, rank, dim);
}

static int check_operands(const tw_call *call, int32_t gates, int32_t cells, int32_t outputs)
{
    const tw_view *in = call->in;
    const int32_t batch = in[0].tensor->dim[0];
    return fits(&in[TW_LSTM_FULL_W], TW_S8, 3, gates, cells, in[0].tensor->dim[2]) &&
           fits(&in[TW_LSTM_FULL_R], TW_S8, 3, gates, cells, outputs) &&
           fits(&in[TW_LSTM_FULL_H], TW_S8, 2, batch, outputs, 0) &&
           fits(&in[TW_LSTM_FULL_C], TW_S16, 2, batch, cells, 0) &&
           fits(tw_lstm_operand(call, TW_LSTM_FULL_PEEPHOLE), TW_S16, 2, gates - 1, cells, 0) &&
           fits(tw_lstm_operand(call, TW_LSTM_FULL_NORM), TW_S16, 2, gates, cells, 0) &&
           fits(tw_lstm_operand(call, TW_LSTM_FULL_PROJECTION), TW_S8, 2, outputs, cells, 0) &&
           (tw_lstm_operand(call, TW_LSTM_FULL_PROJECTION) || outputs == cells) &&
           fits(tw_lstm_result(call, 1), TW_S8, 2, batch, outputs, 0) &&
           fits(tw_lstm_result(call, 2), TW_S16, 2, batch, cells, 0);
}

static int check_memory(const tw_call *call, uint64_t gates, uint64_t cells, uint64_t outputs)
{
    const uint64_t batch = (uint64_t)call->in[0].tensor->dim[0];
    return call->blob_count == 2 && call->blobs[0].bytes == sizeof(tw_lstm_full_scales) &&
           call->blobs[1].bytes == (3 * gates * cells + outputs) * 4u &&
           are_scales((const tw_lstm_full_scales *)call->blobs[0].data) &&
           call->scratch_bytes >= tw_lstm_full_scratch(cells) &&
           call->memory_bytes >= tw_lstm_cell_offset(batch * outputs, 1) + batch * cells * 2u;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_view *in = call->in;
    if (call->attribute_bytes != sizeof(tw_lstm_full_attributes) || call->in_count < 6 ||
        call->in_count > TW_LSTM_FULL_OPERANDS || call->out_count < 1 || call->out_count > 3 ||
        !tw_operand_check(&in[0], TW_S8, 3, 3) || !tw_operand_check(&call->out[0], TW_S8, 3, 3) ||
        !in[TW_LSTM_FULL_W].tensor || in[TW_LSTM_FULL_W].tensor->rank != 3)
        return TW_E_CHECK;
    const tw_tensor *x = in[0].tensor, *y = call->out[0].tensor, *w = in[TW_LSTM_FULL_W].tensor;
    const int32_t gates = w->dim[0], cells = w->dim[1], outputs = y->dim[2];
    if (gates < TW_LSTM_GATES - 1 || gates > TW_LSTM_GATES || cells < 1 || cells > 1 << 16 ||
        outputs < 1 || x->dim[0] != y->dim[0] || x->dim[1] != y->dim[1] ||
        y->zero_point < INT8_MIN || y->zero_point > INT8_MAX ||
        !check_operands(call, gates, cells, outputs) ||
        !check_memory(call, (uint64_t)gates, (uint64_t)cells, (uint64_t)outputs))
        return TW_E_CHECK;
    *work = (uint64_t)x->dim[0] * (uint64_t)x->dim[1] * (uint64_t)gates * (uint64_t)cells *
            ((uint64_t)x->dim[2] + (uint64_t)outputs);
    return TW_OK;
}

TW_KERNEL(lstm_full, s8, run, check);
