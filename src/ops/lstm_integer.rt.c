/* Long short-term memory on int8 or int16 with int8 weights, step by step, as TFLite's
 * UNIDIRECTIONAL_SEQUENCE_LSTM: only the sums of the gates differ, int8's have 32 bits, int16's 64. h and c
 * stand in memory. */
#include "ops/lstm_integer.h"

#include "ops/codes.h"
#include "ops/product_s16.h"

static int32_t rescaled_wide(uint64_t v, const tw_lstm_rescale *r)
{
    return tw_requantize_wide((int64_t)v, r->multiplier, r->shift);
}

/* Gate g of output o. */
static int16_t gate_s8(const tw_lstm_job *job, const int8_t *x, const int8_t *h, int32_t g,
                       int32_t o)
{
    const tw_blob *blob = job->call->blobs;
    const tw_lstm_scales *s = tw_lstm_scales_of(job->call);
    const int32_t n = job->outputs, k = g * n + o;
    const int8_t *w = (const int8_t *)job->call->in[1].data + (ptrdiff_t)k * job->inputs;
    const int8_t *r = (const int8_t *)job->call->in[2].data + (ptrdiff_t)k * n;
    int32_t a = tw_lstm_dot(x, w, job->inputs, ((const int32_t *)blob[TW_LSTM_BLOB_BIAS].data)[k]);
    int32_t b = tw_lstm_dot(h, r, n, ((const int32_t *)blob[TW_LSTM_BLOB_H_BIAS].data)[k]);
    return tw_lstm_gate_of(job->call, g, tw_lstm_rescaled(a, &s->x[g]),
                           tw_lstm_rescaled(b, &s->h[g]));
}

static int16_t gate_s16(const tw_lstm_job *job, const int16_t *x, const int16_t *h, int32_t g,
                        int32_t o)
{
    const tw_lstm_scales *s = tw_lstm_scales_of(job->call);
    const int32_t n = job->outputs, k = g * n + o;
    const int8_t *w = (const int8_t *)job->call->in[1].data + (ptrdiff_t)k * job->inputs;
    const int8_t *r = (const int8_t *)job->call->in[2].data + (ptrdiff_t)k * n;
    const int64_t bias = ((const int64_t *)job->call->blobs[TW_LSTM_BLOB_BIAS].data)[k];
    uint64_t a = (uint64_t)bias + tw_dot_s16(x, w, job->inputs), b = tw_dot_s16(h, r, n);
    return tw_lstm_gate_of(job->call, g, rescaled_wide(a, &s->x[g]), rescaled_wide(b, &s->h[g]));
}

static void step_s8(const tw_lstm_job *job, const void *x, const void *h, int16_t *c, void *y)
{
    for (int32_t k = 0; k < job->outputs; k++) {
        int16_t gate[TW_LSTM_GATES];
        for (int32_t g = 0; g < TW_LSTM_GATES; g++)
            gate[g] = gate_s8(job, (const int8_t *)x, (const int8_t *)h, g, k);
        ((int8_t *)y)[k] = (int8_t)tw_clamp_s32(tw_lstm_result_of(job->call, gate, &c[k]) +
                                                    job->y->tensor->zero_point,
                                                INT8_MIN, INT8_MAX);
    }
}

static void step_s16(const tw_lstm_job *job, const void *x, const void *h, int16_t *c, void *y)
{
    for (int32_t k = 0; k < job->outputs; k++) {
        int16_t gate[TW_LSTM_GATES];
        for (int32_t g = 0; g < TW_LSTM_GATES; g++)
            gate[g] = gate_s16(job, (const int16_t *)x, (const int16_t *)h, g, k);
        ((int16_t *)y)[k] = (int16_t)tw_lstm_clamp(tw_lstm_result_of(job->call, gate, &c[k]));
    }
}

tw_status tw_lstm_integer_run(const tw_call *call, int wide, tw_lstm_step step)
{
    const uint32_t bytes = wide ? 2 : 1;
    tw_lstm_job job;
    if (tw_lstm_open(&job, call) != TW_OK)
        return TW_E_SCHEDULE;
    const uint32_t state = (uint32_t)job.batch * (uint32_t)job.outputs;
    char *h = (char *)call->memory;
    int16_t *c = (int16_t *)(void *)(h + tw_lstm_cell_offset(state, bytes));
    if (job.first) {
        tw_lstm_copy_state(c, tw_lstm_operand(call, 5), state * 2u);
        if (tw_lstm_operand(call, 4))
            tw_lstm_copy_state(h, tw_lstm_operand(call, 4), state * bytes);
        else /* int16 has no zero point */
            memset(h, wide ? 0 : job.y->tensor->zero_point, state * bytes);
    }
    for (int32_t n = 0; n < job.batch; n++) {
        char *hidden = h + (ptrdiff_t)n * job.outputs * (ptrdiff_t)bytes;
        for (int32_t t = 0; t < job.steps; t++) {
            char *y = (char *)job.y->data + tw_lstm_at(job.y, n, t) * (ptrdiff_t)bytes;
            step(&job,
                 (const char *)job.x->data +
                     tw_lstm_at(job.x, n, t + job.skipped) * (ptrdiff_t)bytes,
                 hidden, c + (ptrdiff_t)n * job.outputs, y);
            /* Every output reads all of h: it changes when y is whole. */
            memcpy(hidden, y, (size_t)job.outputs * bytes);
        }
    }
    if (job.last) {
        tw_lstm_save_state(tw_lstm_result(call, 1), h, state * bytes);
        tw_lstm_save_state(tw_lstm_result(call, 2), c, state * 2u);
    }
    return TW_OK;
}

static tw_status run_s8(const tw_call *call)
{
    return tw_lstm_integer_run(call, 0, step_s8);
}

static tw_status run_s16(const tw_call *call)
{
    return tw_lstm_integer_run(call, 1, step_s16);
}

/* ---- checks ---- */

static int is_rescale(const tw_lstm_rescale *r, int32_t most)
{
    return r->multiplier >= 0 && r->shift >= -31 && r->shift <= most;
}

/* gates: the largest shift of their sums. */
static int are_scales(const tw_lstm_scales *s, int32_t gates)
{
    for (int g = 0; g < TW_LSTM_GATES; g++)
        if (!is_rescale(&s->x[g], gates) || !is_rescale(&s->h[g], gates))
            return 0;
    return is_rescale(&s->forget, 30) && is_rescale(&s->input, 30) && is_rescale(&s->output, 30) &&
           s->tanh_multiplier >= 0 && s->tanh_multiplier <= 3 << 12 && s->tanh_shift >= 0 &&
           s->tanh_shift <= 15 && s->clip >= 0 && s->clip <= INT16_MAX;
}

tw_status tw_lstm_integer_check(const tw_call *call, int wide, uint64_t *work)
{
    const uint32_t bytes = wide ? 2 : 1;
    const tw_blob *blob = call->blobs;
    if (tw_lstm_check(call, wide ? TW_S16 : TW_S8, TW_S8, TW_S16, work) != TW_OK ||
        call->blob_count != (wide ? TW_LSTM_BLOB_H_BIAS : TW_LSTM_BLOBS))
        return TW_E_CHECK;
    const uint64_t gates = (uint64_t)call->out[0].tensor->dim[2] * TW_LSTM_GATES;
    const uint64_t state = tw_lstm_state(call);
    const int32_t zero = call->out[0].tensor->zero_point;
    if (blob[TW_LSTM_BLOB_SCALES].bytes != sizeof(tw_lstm_scales) ||
        blob[TW_LSTM_BLOB_SIGMOID].bytes != TW_SIGMOID_POINTS * 2u ||
        blob[TW_LSTM_BLOB_BIAS].bytes != gates * (wide ? 8u : 4u) ||
        (!wide && blob[TW_LSTM_BLOB_H_BIAS].bytes != gates * 4u) || zero < INT8_MIN ||
        zero > INT8_MAX || (wide && zero != 0) ||
        !are_scales((const tw_lstm_scales *)blob[TW_LSTM_BLOB_SCALES].data, wide ? 14 : 30) ||
        !tw_sigmoid_rises((const uint16_t *)blob[TW_LSTM_BLOB_SIGMOID].data))
        return TW_E_CHECK;
    return tw_lstm_cell_offset(state, bytes) + state * 2u <= call->memory_bytes ? TW_OK
                                                                                : TW_E_CHECK;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    return tw_lstm_integer_check(call, 0, work);
}

static tw_status check_s16(const tw_call *call, uint64_t *work)
{
    return tw_lstm_integer_check(call, 1, work);
}

TW_KERNEL(lstm, s8, run_s8, check_s8);
TW_KERNEL(lstm, s16, run_s16, check_s16);
