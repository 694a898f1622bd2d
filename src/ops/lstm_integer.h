/* What the LSTM kernels on int8 and int16 share, of every library: the walk over sequences and steps, and what
 * becomes of a step's gates. Device code. */
#ifndef TW_OPS_LSTM_INTEGER_H
#define TW_OPS_LSTM_INTEGER_H

#include "ops/lstm_job.h"
#include "ops/sigmoid_s16.h"
#include "runtime/fixed.h"

/* One step of one sequence: y and c from x, h and c. x, h and y: int16 where `wide`, else int8. */
typedef void (*tw_lstm_step)(const tw_lstm_job *job, const void *x, const void *h, int16_t *c,
                             void *y);

/* All steps of the call, h and c in step memory. */
tw_status tw_lstm_integer_run(const tw_call *call, int wide, tw_lstm_step step);

tw_status tw_lstm_integer_check(const tw_call *call, int wide, uint64_t *work);

static inline const tw_lstm_scales *tw_lstm_scales_of(const tw_call *call)
{
    return (const tw_lstm_scales *)call->blobs[TW_LSTM_BLOB_SCALES].data;
}

static inline int32_t tw_lstm_rescaled(int32_t v, const tw_lstm_rescale *r)
{
    return tw_requantize(v, r->multiplier, r->shift);
}

static inline int32_t tw_lstm_clamp(int32_t v)
{
    return tw_clamp_s32(v, INT16_MIN, INT16_MAX);
}

/* Gate g from the parts that x and h add, both of 16 bits. */
static inline int16_t tw_lstm_gate_of(const tw_call *call, int32_t g, int32_t a, int32_t b)
{
    const uint16_t *table = (const uint16_t *)call->blobs[TW_LSTM_BLOB_SIGMOID].data;
    const int32_t sum = tw_lstm_clamp(tw_lstm_clamp(a) + tw_lstm_clamp(b));
    return (int16_t)(g == TW_LSTM_CELL ? tw_tanh_s16(table, sum, 3, 0)
                                       : tw_sigmoid_s16(table, sum, 3, 0));
}

/* Output k from its four gates, before it is clamped; moves the cell on. */
static inline int32_t tw_lstm_result_of(const tw_call *call, const int16_t *gate, int16_t *c)
{
    const tw_lstm_scales *s = tw_lstm_scales_of(call);
    const uint16_t *table = (const uint16_t *)call->blobs[TW_LSTM_BLOB_SIGMOID].data;
    const int32_t kept = tw_lstm_clamp(tw_lstm_rescaled(gate[TW_LSTM_FORGET] * *c, &s->forget));
    const int32_t added = tw_lstm_clamp(tw_lstm_rescaled(gate[0] * gate[TW_LSTM_CELL], &s->input));
    int32_t cell = tw_lstm_clamp(kept + added);
    if (s->clip > 0)
        cell = tw_clamp_s32(cell, -s->clip, s->clip);
    *c = (int16_t)cell;
    return tw_lstm_rescaled(tw_tanh_s16(table, cell, s->tanh_multiplier, s->tanh_shift) *
                                gate[TW_LSTM_OUTPUT],
                            &s->output);
}

#endif
