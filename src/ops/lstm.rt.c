/* Long short-term memory, step by step. Gates of one step stand in scratch, h and c in memory. */
#include "ops/lstm.h"

#include "ops/codes.h"
#include "ops/product.h"
#include "ops/sigmoid_s16.h"
#include "runtime/fixed.h"
#include "runtime/math.h"

typedef struct tw_lstm_job {
    const tw_call *call;
    int32_t batch, steps, inputs, outputs; /* steps: in this call */
    int32_t skipped;                       /* steps of x present before them */
    int first, last;                       /* is it the sequence's first, last band? */
    const tw_view *x, *y;
} tw_lstm_job;

static const tw_view *operand(const tw_call *call, uint32_t i)
{
    return i < call->in_count && call->in[i].tensor ? &call->in[i] : NULL;
}

static const tw_view *result(const tw_call *call, uint32_t i)
{
    return i < call->out_count && call->out[i].tensor ? &call->out[i] : NULL;
}

/* Are all operands there as far as this call needs them? Bands are of time, of one sequence. */
static int is_scheduled(const tw_call *call)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    for (uint32_t i = 1; i < call->in_count; i++)
        if (call->in[i].tensor && !tw_is_whole(&call->in[i]))
            return 0;
    for (uint32_t i = 1; i < call->out_count; i++)
        if (call->out[i].tensor && !tw_is_whole(&call->out[i]))
            return 0;
    if (tw_is_whole(x) && tw_is_whole(y))
        return 1;
    return x->axis == 1 && y->axis == 1 && x->tensor->dim[0] == 1 && x->row <= y->row &&
           y->row + y->rows <= x->row + x->rows;
}

static tw_status open(tw_lstm_job *job, const tw_call *call)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    if (!is_scheduled(call))
        return TW_E_SCHEDULE;
    const int whole = tw_is_whole(y);
    job->call = call;
    job->x = x;
    job->y = y;
    job->batch = x->tensor->dim[0];
    job->inputs = x->tensor->dim[2];
    job->outputs = y->tensor->dim[2];
    job->first = whole || y->row == 0;
    job->steps = whole ? y->tensor->dim[1] : y->rows;
    job->last = whole || y->row + y->rows == y->tensor->dim[1];
    job->skipped = whole ? 0 : y->row - x->row;
    return TW_OK;
}

/* Sequence n, step t of this call. */
static ptrdiff_t at(const tw_view *v, int32_t n, int32_t t)
{
    return (ptrdiff_t)n * v->tensor->stride[0] + (ptrdiff_t)t * v->tensor->stride[1];
}

static void copy_state(void *to, const tw_view *from, uint32_t bytes)
{
    if (from)
        memcpy(to, from->data, bytes);
    else
        memset(to, 0, bytes);
}

static void save_state(const tw_view *to, const void *from, uint32_t bytes)
{
    if (to)
        memcpy(to->data, from, bytes);
}

/* ---- f32 ---- */

static float dot_f32(const float *a, const float *b, int32_t count)
{
    float sum = 0.0f;
    for (int32_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void step_f32(const tw_lstm_job *job, const float *x, float *h, float *c, float *y)
{
    const tw_lstm_attributes *a = (const tw_lstm_attributes *)job->call->attributes;
    const float *w = (const float *)job->call->in[1].data,
                *r = (const float *)job->call->in[2].data;
    const tw_view *bias = operand(job->call, 3);
    const int32_t n = job->outputs;
    float *gate = (float *)job->call->scratch;
    for (int32_t k = 0; k < TW_LSTM_GATES * n; k++) {
        float sum = dot_f32(x, w + (ptrdiff_t)k * job->inputs, job->inputs);
        if (bias)
            sum += ((const float *)bias->data)[k];
        sum += dot_f32(h, r + (ptrdiff_t)k * n, n);
        gate[k] = k / n == TW_LSTM_CELL ? tw_tanhf(sum) : tw_sigmoidf(sum);
    }
    for (int32_t k = 0; k < n; k++) {
        float cell = gate[TW_LSTM_FORGET * n + k] * c[k] + gate[k] * gate[TW_LSTM_CELL * n + k];
        if (a->cell_clip > 0.0f)
            cell = tw_clampf(cell, -a->cell_clip, a->cell_clip);
        c[k] = cell;
        h[k] = y[k] = gate[TW_LSTM_OUTPUT * n + k] * tw_tanhf(cell);
    }
}

static tw_status run_f32(const tw_call *call)
{
    tw_lstm_job job;
    if (open(&job, call) != TW_OK)
        return TW_E_SCHEDULE;
    const uint32_t state = (uint32_t)job.batch * (uint32_t)job.outputs;
    float *h = (float *)call->memory;
    float *c = (float *)(void *)((uint8_t *)call->memory + tw_lstm_cell_offset(state, 0));
    if (job.first) {
        copy_state(h, operand(call, 4), state * 4u);
        copy_state(c, operand(call, 5), state * 4u);
    }
    for (int32_t n = 0; n < job.batch; n++)
        for (int32_t t = 0; t < job.steps; t++)
            step_f32(&job, (const float *)job.x->data + at(job.x, n, t + job.skipped),
                     h + (ptrdiff_t)n * job.outputs, c + (ptrdiff_t)n * job.outputs,
                     (float *)job.y->data + at(job.y, n, t));
    if (job.last) {
        save_state(result(call, 1), h, state * 4u);
        save_state(result(call, 2), c, state * 4u);
    }
    return TW_OK;
}

/* ---- s8 ---- */

static int32_t clamp_s16(int32_t v)
{
    return tw_clamp_s32(v, INT16_MIN, INT16_MAX);
}

/* bias + a * b, wrapping around. */
static int32_t dot_s8(const int8_t *a, const int8_t *b, int32_t count, int32_t bias)
{
    uint32_t sum = (uint32_t)bias;
    for (int32_t i = 0; i < count; i++)
        sum += (uint32_t)((int32_t)a[i] * b[i]);
    return (int32_t)sum;
}

static int32_t rescaled(int32_t v, const tw_lstm_rescale *r)
{
    return tw_requantize(v, r->multiplier, r->shift);
}

static void gates_s8(const tw_lstm_job *job, const int8_t *x, const int8_t *h, int16_t *gate)
{
    const tw_blob *blob = job->call->blobs;
    const tw_lstm_scales *s = (const tw_lstm_scales *)blob[TW_LSTM_BLOB_SCALES].data;
    const int32_t *bias = (const int32_t *)blob[TW_LSTM_BLOB_BIAS].data;
    const int32_t *h_bias = (const int32_t *)blob[TW_LSTM_BLOB_H_BIAS].data;
    const uint16_t *table = (const uint16_t *)blob[TW_LSTM_BLOB_SIGMOID].data;
    const int8_t *w = (const int8_t *)job->call->in[1].data;
    const int8_t *r = (const int8_t *)job->call->in[2].data;
    const int32_t n = job->outputs;
    for (int32_t g = 0, k = 0; g < TW_LSTM_GATES; g++)
        for (int32_t o = 0; o < n; o++, k++) {
            int32_t a = dot_s8(x, w + (ptrdiff_t)k * job->inputs, job->inputs, bias[k]);
            int32_t b = dot_s8(h, r + (ptrdiff_t)k * n, n, h_bias[k]);
            int32_t sum =
                clamp_s16(clamp_s16(rescaled(a, &s->x[g])) + clamp_s16(rescaled(b, &s->h[g])));
            gate[k] = (int16_t)(g == TW_LSTM_CELL ? tw_tanh_s16(table, sum, 3, 0)
                                                  : tw_sigmoid_s16(table, sum, 3, 0));
        }
}

static void step_s8(const tw_lstm_job *job, const int8_t *x, int8_t *h, int16_t *c, int8_t *y)
{
    const tw_blob *blob = job->call->blobs;
    const tw_lstm_scales *s = (const tw_lstm_scales *)blob[TW_LSTM_BLOB_SCALES].data;
    const uint16_t *table = (const uint16_t *)blob[TW_LSTM_BLOB_SIGMOID].data;
    const int32_t n = job->outputs, zero = job->y->tensor->zero_point;
    int16_t *gate = (int16_t *)job->call->scratch;
    gates_s8(job, x, h, gate);
    for (int32_t k = 0; k < n; k++) {
        int32_t kept = clamp_s16(rescaled(gate[TW_LSTM_FORGET * n + k] * c[k], &s->forget));
        int32_t added = clamp_s16(rescaled(gate[k] * gate[TW_LSTM_CELL * n + k], &s->input));
        int32_t cell = clamp_s16(kept + added), out;
        if (s->clip > 0)
            cell = tw_clamp_s32(cell, -s->clip, s->clip);
        c[k] = (int16_t)cell;
        out = tw_tanh_s16(table, cell, s->tanh_multiplier, s->tanh_shift);
        out = rescaled(out * gate[TW_LSTM_OUTPUT * n + k], &s->output) + zero;
        h[k] = y[k] = (int8_t)tw_clamp_s32(out, INT8_MIN, INT8_MAX);
    }
}

static tw_status run_s8(const tw_call *call)
{
    tw_lstm_job job;
    if (open(&job, call) != TW_OK)
        return TW_E_SCHEDULE;
    const uint32_t state = (uint32_t)job.batch * (uint32_t)job.outputs;
    int8_t *h = (int8_t *)call->memory;
    int16_t *c = (int16_t *)(void *)((uint8_t *)call->memory + tw_lstm_cell_offset(state, 1));
    if (job.first) {
        copy_state(c, operand(call, 5), state * 2u);
        if (operand(call, 4))
            copy_state(h, operand(call, 4), state);
        else
            memset(h, job.y->tensor->zero_point, state);
    }
    for (int32_t n = 0; n < job.batch; n++)
        for (int32_t t = 0; t < job.steps; t++)
            step_s8(&job, (const int8_t *)job.x->data + at(job.x, n, t + job.skipped),
                    h + (ptrdiff_t)n * job.outputs, c + (ptrdiff_t)n * job.outputs,
                    (int8_t *)job.y->data + at(job.y, n, t));
    if (job.last) {
        save_state(result(call, 1), h, state);
        save_state(result(call, 2), c, state * 2u);
    }
    return TW_OK;
}

/* ---- checks ---- */

static int is_dense_of(const tw_view *v, uint32_t dtype, int rank, const int32_t *dim)
{
    if (!tw_operand_check(v, dtype, rank, rank) || !tw_is_dense(v->tensor))
        return 0;
    for (int i = 0; i < rank; i++)
        if (v->tensor->dim[i] != dim[i])
            return 0;
    return 1;
}

static tw_status check(const tw_call *call, uint32_t dtype, uint32_t cell, uint64_t *work)
{
    int32_t extents[5];
    uint64_t part;
    if (call->in_count < 3 || call->in_count > 6 || call->out_count < 1 || call->out_count > 3 ||
        call->attribute_bytes != sizeof(tw_lstm_attributes) ||
        !tw_operand_check(&call->in[0], dtype, 3, 3) ||
        !tw_operand_check(&call->out[0], dtype, 3, 3))
        return TW_E_CHECK;
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    const int32_t n = y->dim[2], batch = x->dim[0];
    const int32_t w[] = {TW_LSTM_GATES, n, x->dim[2]}, r[] = {TW_LSTM_GATES, n, n};
    const int32_t state[] = {batch, n};
    if (y->dim[0] != batch || y->dim[1] != x->dim[1] || x->dim[2] < 1 || n < 1 ||
        !is_dense_of(&call->in[1], dtype, 3, w) || !is_dense_of(&call->in[2], dtype, 3, r))
        return TW_E_CHECK;
    for (uint32_t i = 4; i < call->in_count; i++)
        if (operand(call, i) && !is_dense_of(&call->in[i], i == 4 ? dtype : cell, 2, state))
            return TW_E_CHECK;
    for (uint32_t i = 1; i < call->out_count; i++)
        if (result(call, i) && !is_dense_of(&call->out[i], i == 1 ? dtype : cell, 2, state))
            return TW_E_CHECK;
    extents[0] = batch;
    extents[1] = x->dim[1];
    extents[2] = n;
    extents[3] = TW_LSTM_GATES;
    extents[4] = x->dim[2];
    if (!tw_work(&part, extents, 5))
        return TW_E_CHECK;
    extents[4] = n;
    if (!tw_work(work, extents, 5) || *work + part < part)
        return TW_E_CHECK;
    *work += part;
    return TW_OK;
}

static uint64_t state_count(const tw_call *call)
{
    return (uint64_t)call->in[0].tensor->dim[0] * (uint64_t)call->out[0].tensor->dim[2];
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    if (check(call, TW_F32, TW_F32, work) != TW_OK)
        return TW_E_CHECK;
    const int32_t n = call->out[0].tensor->dim[2];
    const int32_t bias[] = {TW_LSTM_GATES, n};
    if (operand(call, 3) && !is_dense_of(&call->in[3], TW_F32, 2, bias))
        return TW_E_CHECK;
    return state_count(call) * 8u <= call->memory_bytes &&
                   (uint64_t)n * TW_LSTM_GATES * 4u <= call->scratch_bytes
               ? TW_OK
               : TW_E_CHECK;
}

static int is_rescale(const tw_lstm_rescale *r)
{
    return r->multiplier >= 0 && r->shift >= -31 && r->shift <= 30;
}

static int are_scales(const tw_lstm_scales *s)
{
    for (int g = 0; g < TW_LSTM_GATES; g++)
        if (!is_rescale(&s->x[g]) || !is_rescale(&s->h[g]))
            return 0;
    return is_rescale(&s->forget) && is_rescale(&s->input) && is_rescale(&s->output) &&
           s->tanh_multiplier >= 0 && s->tanh_multiplier <= 3 << 12 && s->tanh_shift >= 0 &&
           s->tanh_shift <= 15 && s->clip >= 0 && s->clip <= INT16_MAX;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    if (check(call, TW_S8, TW_S16, work) != TW_OK || call->blob_count != TW_LSTM_BLOBS)
        return TW_E_CHECK;
    const tw_blob *blob = call->blobs;
    const uint64_t n = (uint64_t)call->out[0].tensor->dim[2], state = state_count(call);
    const int32_t zero = call->out[0].tensor->zero_point;
    if (blob[TW_LSTM_BLOB_SCALES].bytes != sizeof(tw_lstm_scales) ||
        blob[TW_LSTM_BLOB_BIAS].bytes != n * TW_LSTM_GATES * 4u ||
        blob[TW_LSTM_BLOB_H_BIAS].bytes != n * TW_LSTM_GATES * 4u ||
        blob[TW_LSTM_BLOB_SIGMOID].bytes != 512u || zero < INT8_MIN || zero > INT8_MAX ||
        !are_scales((const tw_lstm_scales *)blob[TW_LSTM_BLOB_SCALES].data) ||
        !tw_sigmoid_rises((const uint16_t *)blob[TW_LSTM_BLOB_SIGMOID].data))
        return TW_E_CHECK;
    return (state + 15u) / 16u * 16u + state * 2u <= call->memory_bytes &&
                   n * TW_LSTM_GATES * 2u <= call->scratch_bytes
               ? TW_OK
               : TW_E_CHECK;
}

TW_KERNEL(lstm, f32, run_f32, check_f32);
TW_KERNEL(lstm, s8, run_s8, check_s8);
