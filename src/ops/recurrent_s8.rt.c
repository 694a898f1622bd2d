/* Recurrent layers of int8, step by step: kernels of recurrent.def. What x adds to a gate and what h adds are
 * sums of 32 bits, each requantised to 12 fraction bits in 16 bits; sigmoid and tanh are Lstm's tables. h is
 * int8 and c int16, in memory; a step's gates stand in scratch. */
#include "ops/recurrent_job.h"

#include "ops/codes.h"
#include "ops/product_s16.h"
#include "ops/sigmoid_s16.h"
#include "runtime/fixed.h"

/* One step of one sequence. */
typedef struct tw_recurrent_step {
    const tw_recurrent_attributes *a;
    const tw_recurrent_scales *s;
    const tw_lstm_rescale *of_x, *of_h;
    int32_t x_each, h_each; /* rows of w and r that share one */
    const uint16_t *table;
    const int32_t *x_bias, *h_bias;
    const int8_t *x, *w, *r;
    const int16_t *p; /* null: no peepholes */
    int8_t *h;
    int16_t *c, *gate;
    int32_t inputs, outputs, zero; /* of h */
} tw_recurrent_step;

typedef void (*tw_recurrent_function)(const tw_recurrent_step *s);

enum { F, G, H };

static int32_t clamp_s16(int32_t v)
{
    return tw_clamp_s32(v, INT16_MIN, INT16_MAX);
}

static int32_t rescaled(int32_t v, const tw_lstm_rescale *r)
{
    return tw_requantize(v, r->multiplier, r->shift);
}

/* What x and h add to unit k of all gates, 12 fraction bits. */
static int32_t from_x(const tw_recurrent_step *s, int32_t k)
{
    const int32_t sum = tw_lstm_dot(s->x, s->w + (ptrdiff_t)k * s->inputs, s->inputs, s->x_bias[k]);
    return clamp_s16(rescaled(sum, &s->of_x[k / s->x_each]));
}

static int32_t from_h(const tw_recurrent_step *s, int32_t k)
{
    const int32_t sum =
        tw_lstm_dot(s->h, s->r + (ptrdiff_t)k * s->outputs, s->outputs, s->h_bias[k]);
    return clamp_s16(rescaled(sum, &s->of_h[k / s->h_each]));
}

/* The same of h that has been reset, which has no zero point and RESET_BITS more fraction bits. */
static int32_t from_reset(const tw_recurrent_step *s, const int16_t *reset, int32_t k)
{
    const tw_lstm_rescale *by = &s->of_h[k / s->h_each];
    const uint64_t sum = tw_dot_s16(reset, s->r + (ptrdiff_t)k * s->outputs, s->outputs);
    return clamp_s16(
        tw_requantize((int32_t)(uint32_t)sum, by->multiplier, by->shift - TW_RECURRENT_RESET_BITS));
}

/* f is sigmoid, g either; 15 fraction bits. */
static int16_t activate(const tw_recurrent_step *s, int which, int32_t v)
{
    int32_t sum = clamp_s16(v);
    if (s->s->clip > 0)
        sum = tw_clamp_s32(sum, -s->s->clip, s->s->clip);
    return (int16_t)(which == F || s->a->g == TW_ACTIVATION_SIGMOID
                         ? tw_sigmoid_s16(s->table, sum, 3, 0)
                         : tw_tanh_s16(s->table, sum, 3, 0));
}

static int8_t result_of(const tw_recurrent_step *s, int32_t v)
{
    return (int8_t)tw_clamp_s32(v + s->zero, INT8_MIN, INT8_MAX);
}

static void rnn_step(const tw_recurrent_step *s)
{
    int32_t k;
    for (k = 0; k < s->outputs; k++)
        s->gate[k] = activate(s, G, from_x(s, k) + from_h(s, k));
    for (k = 0; k < s->outputs; k++)
        s->h[k] = result_of(s, rescaled(s->gate[k], &s->s->result));
}

static void gru_step(const tw_recurrent_step *s)
{
    const int32_t n = s->outputs;
    int16_t *update = s->gate, *reset = s->gate + n, *candidate = s->gate + 2 * n;
    int32_t k;
    for (k = 0; k < 2 * n; k++)
        s->gate[k] = activate(s, F, from_x(s, k) + from_h(s, k));
    if (!s->a->linear_before_reset)
        for (k = 0; k < n; k++)
            reset[k] = (int16_t)tw_shift_right(reset[k] * (s->h[k] - s->zero),
                                               15 - TW_RECURRENT_RESET_BITS);
    for (k = 0; k < n; k++) {
        const int32_t recurrent = s->a->linear_before_reset
                                      ? tw_shift_right(reset[k] * from_h(s, 2 * n + k), 15)
                                      : from_reset(s, reset, 2 * n + k);
        candidate[k] = activate(s, G, from_x(s, 2 * n + k) + recurrent);
    }
    /* Both parts in steps of h with 15 fraction bits, rounded once. */
    for (k = 0; k < n; k++) {
        const int32_t fresh = rescaled((32768 - update[k]) * candidate[k], &s->s->result);
        const int32_t kept = update[k] * (s->h[k] - s->zero);
        s->h[k] = result_of(s, tw_shift_right(fresh + kept, 15));
    }
}

/* What a peephole adds: weights `which` times the cell. */
static int32_t from_c(const tw_recurrent_step *s, int32_t which, int32_t k)
{
    const int32_t product = s->p[which * s->outputs + k] * s->c[k];
    return clamp_s16(rescaled(product, &s->s->peephole[which]));
}

static void peephole_lstm_step(const tw_recurrent_step *s)
{
    enum { INPUT, OUTPUT, FORGET, CELL };
    const int32_t n = s->outputs;
    int32_t k;
    for (k = 0; k < 4 * n; k++) {
        const int32_t which = k / n;
        int32_t sum = clamp_s16(from_x(s, k) + from_h(s, k));
        if (s->p && which != CELL && which != OUTPUT)
            sum = clamp_s16(sum + from_c(s, which, k % n));
        s->gate[k] = (int16_t)(which == OUTPUT ? sum : activate(s, which == CELL ? G : F, sum));
    }
    for (k = 0; k < n; k++) {
        const int16_t input = s->gate[k];
        const int32_t forget = s->a->input_forget ? 32768 - input : s->gate[FORGET * n + k];
        const int32_t kept = clamp_s16(rescaled(forget * s->c[k], &s->s->forget));
        const int32_t added = clamp_s16(rescaled(input * s->gate[CELL * n + k], &s->s->input));
        const int32_t cell = clamp_s16(kept + added);
        int32_t output = s->gate[OUTPUT * n + k], out;
        s->c[k] = (int16_t)cell;
        if (s->p)
            output += from_c(s, OUTPUT, k);
        out = s->a->h == TW_ACTIVATION_SIGMOID
                  ? tw_sigmoid_s16(s->table, cell, s->s->cell_multiplier, s->s->cell_shift)
                  : tw_tanh_s16(s->table, cell, s->s->cell_multiplier, s->s->cell_shift);
        s->h[k] = result_of(s, rescaled(out * activate(s, F, output), &s->s->result));
    }
}

/* ---- a call ---- */

static void open_tables(tw_recurrent_step *s, const tw_call *call, int32_t rows)
{
    const tw_blob *blob = call->blobs;
    s->a = (const tw_recurrent_attributes *)call->attributes;
    s->s = (const tw_recurrent_scales *)blob[TW_RECURRENT_BLOB_SCALES].data;
    s->table = (const uint16_t *)blob[TW_RECURRENT_BLOB_SIGMOID].data;
    s->x_bias = (const int32_t *)blob[TW_RECURRENT_BLOB_BIAS].data;
    s->h_bias = s->x_bias + rows;
    s->of_x = (const tw_lstm_rescale *)blob[TW_RECURRENT_BLOB_RESCALE].data;
    s->of_h = s->of_x + s->s->x_scales;
    s->x_each = rows / s->s->x_scales;
    s->h_each = rows / s->s->h_scales;
    s->p = call->blob_count > TW_RECURRENT_BLOB_PEEPHOLE
               ? (const int16_t *)blob[TW_RECURRENT_BLOB_PEEPHOLE].data
               : NULL;
    s->w = (const int8_t *)call->in[TW_RECURRENT_W].data;
    s->r = (const int8_t *)call->in[TW_RECURRENT_R].data;
    s->gate = (int16_t *)call->scratch;
}

static void begin(const tw_call *call, int8_t *h, int16_t *c, uint32_t state)
{
    tw_lstm_copy_state(c, tw_lstm_operand(call, TW_RECURRENT_C0), state * 2u);
    if (tw_lstm_operand(call, TW_RECURRENT_H0))
        tw_lstm_copy_state(h, tw_lstm_operand(call, TW_RECURRENT_H0), state);
    else
        memset(h, call->out[0].tensor->zero_point, state);
}

static tw_status run(const tw_call *call, int32_t gates, tw_recurrent_function step)
{
    tw_lstm_job job;
    tw_recurrent_step s;
    int32_t n, t;
    if (tw_lstm_open(&job, call) != TW_OK)
        return TW_E_SCHEDULE;
    const uint32_t state = (uint32_t)tw_lstm_state(call);
    int8_t *h = (int8_t *)call->memory;
    int16_t *c = (int16_t *)(void *)(h + tw_lstm_cell_offset(state, 1));
    open_tables(&s, call, gates * job.outputs);
    s.inputs = job.inputs;
    s.outputs = job.outputs;
    s.zero = job.y->tensor->zero_point;
    if (job.first)
        begin(call, h, c, state);
    for (n = 0; n < job.batch; n++) {
        s.h = h + (ptrdiff_t)n * job.outputs;
        s.c = c + (ptrdiff_t)n * job.outputs;
        for (t = 0; t < job.steps; t++) {
            int8_t *y = (int8_t *)job.y->data + tw_lstm_at(job.y, n, t);
            s.x = (const int8_t *)job.x->data + tw_lstm_at(job.x, n, t + job.skipped);
            const int taken = tw_recurrent_is_taken(&job, n, t);
            if (taken)
                step(&s);
            if (taken || s.a->hold)
                memcpy(y, s.h, (size_t)job.outputs);
            else
                memset(y, s.zero, (size_t)job.outputs);
        }
    }
    if (job.last) {
        tw_lstm_save_state(tw_lstm_result(call, 1), h, state);
        tw_lstm_save_state(tw_lstm_result(call, 2), c, state * 2u);
    }
    return TW_OK;
}

/* ---- checks ---- */

static int is_rescale(const tw_lstm_rescale *r, int32_t least, int32_t most)
{
    return r->multiplier >= 0 && r->shift >= least && r->shift <= most;
}

static int divides(int32_t scales, int32_t rows)
{
    return scales >= 1 && scales <= rows && rows % scales == 0;
}

static int are_scales(const tw_recurrent_scales *s, int32_t rows)
{
    int i;
    for (i = 0; i < 3; i++)
        if (!is_rescale(&s->peephole[i], -31, 30))
            return 0;
    return divides(s->x_scales, rows) && divides(s->h_scales, rows) &&
           is_rescale(&s->result, -31, -1) && is_rescale(&s->forget, -31, 30) &&
           is_rescale(&s->input, -31, 30) && s->cell_multiplier >= 0 &&
           s->cell_multiplier <= 3 << 12 && s->cell_shift >= 0 && s->cell_shift <= 15 &&
           s->clip >= 0 && s->clip <= INT16_MAX;
}

static int are_rescales(const tw_blob *blob, int32_t count)
{
    const tw_lstm_rescale *r = (const tw_lstm_rescale *)blob->data;
    int32_t i;
    if (blob->bytes != (uint64_t)(uint32_t)count * sizeof *r)
        return 0;
    for (i = 0; i < count; i++)
        if (!is_rescale(&r[i], TW_RECURRENT_RESET_BITS - 31, 30))
            return 0;
    return 1;
}

static tw_status check(const tw_call *call, int32_t gates, uint64_t *work)
{
    static const tw_recurrent_types types = {TW_S8, TW_S16};
    const tw_blob *blob = call->blobs;
    if (tw_recurrent_check(call, gates, &types, work) != TW_OK ||
        call->blob_count < TW_RECURRENT_BLOB_PEEPHOLE || call->blob_count > TW_RECURRENT_BLOBS ||
        blob[TW_RECURRENT_BLOB_SCALES].bytes != sizeof(tw_recurrent_scales))
        return TW_E_CHECK;
    const int32_t outputs = call->out[0].tensor->dim[2], zero = call->out[0].tensor->zero_point;
    if (outputs > TW_RECURRENT_S8_MOST || zero < INT8_MIN || zero > INT8_MAX)
        return TW_E_CHECK;
    const int32_t rows = gates * outputs;
    const tw_recurrent_scales *s = (const tw_recurrent_scales *)blob[TW_RECURRENT_BLOB_SCALES].data;
    if (!are_scales(s, rows) || blob[TW_RECURRENT_BLOB_SIGMOID].bytes != TW_SIGMOID_POINTS * 2u ||
        !tw_sigmoid_rises((const uint16_t *)blob[TW_RECURRENT_BLOB_SIGMOID].data) ||
        blob[TW_RECURRENT_BLOB_BIAS].bytes != (uint64_t)(uint32_t)rows * 8u ||
        !are_rescales(&blob[TW_RECURRENT_BLOB_RESCALE], s->x_scales + s->h_scales) ||
        (call->blob_count == TW_RECURRENT_BLOBS &&
         blob[TW_RECURRENT_BLOB_PEEPHOLE].bytes != (uint64_t)(uint32_t)outputs * 6u))
        return TW_E_CHECK;
    return tw_recurrent_scratch_s8((uint64_t)gates, (uint64_t)outputs) <= call->scratch_bytes
               ? TW_OK
               : TW_E_CHECK;
}

#define TW_RECURRENT(code, Name, symbol, gates, formula)                                           \
    static tw_status symbol##_run(const tw_call *call)                                             \
    {                                                                                              \
        return run(call, gates, symbol##_step);                                                    \
    }                                                                                              \
    static tw_status symbol##_check(const tw_call *call, uint64_t *work)                           \
    {                                                                                              \
        return check(call, gates, work);                                                           \
    }                                                                                              \
    TW_KERNEL(symbol, s8, symbol##_run, symbol##_check);
#include "ops/recurrent.def"
