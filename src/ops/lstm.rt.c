/* Long short-term memory, step by step. h and c stand in memory. */
#include "ops/lstm_job.h"

#include "ops/codes.h"
#include "ops/hybrid.h"
#include "runtime/math.h"

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

tw_status tw_lstm_open(tw_lstm_job *job, const tw_call *call)
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

void tw_lstm_copy_state(void *to, const tw_view *from, uint32_t bytes)
{
    if (from)
        memcpy(to, from->data, bytes);
    else
        memset(to, 0, bytes);
}

void tw_lstm_save_state(const tw_view *to, const void *from, uint32_t bytes)
{
    if (to)
        memcpy(to->data, from, bytes);
}

/* ---- f32 ---- */

/* What x[t] and h are multiplied as: floats as they are, or int8 in scratch for int8 weights. */
typedef struct tw_lstm_row {
    const float *real;
    const int8_t *stored;
    tw_hybrid hybrid; /* of `stored` */
    int32_t count;
} tw_lstm_row;

/* Row k of floats times x. */
static float real_dot(const tw_lstm_row *x, const void *weights, ptrdiff_t k)
{
    const float *w = (const float *)weights + k * x->count;
    float sum = 0.0f;
    int32_t i;
    for (i = 0; i < x->count; i++)
        sum += x->real[i] * w[i];
    return sum;
}

/* Row k of int8 times x. */
static float stored_dot(const tw_lstm_row *x, const void *weights, ptrdiff_t k, float scale)
{
    const int8_t *w = (const int8_t *)weights + k * x->count;
    return (float)tw_hybrid_dot(x->stored, x->hybrid.in_zero, w, x->count) *
           (x->hybrid.in_scale * scale);
}

/* Every output reads all of h: it changes when y is whole. scales: null where the weights are floats. */
static TW_INLINE void step(const tw_lstm_job *job, const tw_lstm_row *x, const tw_lstm_row *h,
                           float *c, float *y, const tw_lstm_hybrid *scales)
{
    const tw_lstm_attributes *a = (const tw_lstm_attributes *)job->call->attributes;
    const void *w = job->call->in[1].data, *r = job->call->in[2].data;
    const tw_view *bias = tw_lstm_operand(job->call, 3);
    const int32_t n = job->outputs;
    for (int32_t o = 0; o < n; o++) {
        float gate[TW_LSTM_GATES];
        for (int32_t g = 0; g < TW_LSTM_GATES; g++) {
            const ptrdiff_t k = (ptrdiff_t)g * n + o;
            float sum = scales ? stored_dot(x, w, k, scales->w[g]) : real_dot(x, w, k);
            if (bias)
                sum += ((const float *)bias->data)[k];
            sum += scales ? stored_dot(h, r, k, scales->r[g]) : real_dot(h, r, k);
            gate[g] = g == TW_LSTM_CELL ? tw_tanhf(sum) : tw_sigmoidf(sum);
        }
        float cell = gate[TW_LSTM_FORGET] * c[o] + gate[0] * gate[TW_LSTM_CELL];
        if (a->cell_clip > 0.0f)
            cell = tw_clampf(cell, -a->cell_clip, a->cell_clip);
        c[o] = cell;
        y[o] = gate[TW_LSTM_OUTPUT] * tw_tanhf(cell);
    }
}

typedef void (*tw_lstm_step)(const tw_lstm_job *job, const float *x, float *h, float *c, float *y);

static void step_f32(const tw_lstm_job *job, const float *x, float *h, float *c, float *y)
{
    tw_lstm_row input, hidden;
    input.real = x;
    input.count = job->inputs;
    hidden.real = h;
    hidden.count = job->outputs;
    step(job, &input, &hidden, c, y, NULL);
    memcpy(h, y, (size_t)job->outputs * sizeof *h);
}

static void store_row(tw_lstm_row *row, int asymmetric, const float *x, int32_t count, int8_t *to)
{
    row->hybrid.asymmetric = asymmetric;
    row->stored = to;
    row->count = count;
    tw_hybrid_row(&row->hybrid, x, count, to);
}

static void step_f32w8(const tw_lstm_job *job, const float *x, float *h, float *c, float *y)
{
    const tw_lstm_hybrid *scales = (const tw_lstm_hybrid *)job->call->blobs[0].data;
    int8_t *scratch = (int8_t *)job->call->scratch;
    tw_lstm_row input, hidden;
    store_row(&input, scales->asymmetric, x, job->inputs, scratch);
    store_row(&hidden, scales->asymmetric, h, job->outputs, scratch + job->inputs);
    step(job, &input, &hidden, c, y, scales);
    memcpy(h, y, (size_t)job->outputs * sizeof *h);
}

static tw_status run(const tw_call *call, tw_lstm_step one)
{
    tw_lstm_job job;
    if (tw_lstm_open(&job, call) != TW_OK)
        return TW_E_SCHEDULE;
    const uint32_t state = (uint32_t)job.batch * (uint32_t)job.outputs;
    float *h = (float *)call->memory;
    float *c = (float *)(void *)((uint8_t *)call->memory + tw_lstm_cell_offset(state, 4));
    if (job.first) {
        tw_lstm_copy_state(h, tw_lstm_operand(call, 4), state * 4u);
        tw_lstm_copy_state(c, tw_lstm_operand(call, 5), state * 4u);
    }
    for (int32_t n = 0; n < job.batch; n++)
        for (int32_t t = 0; t < job.steps; t++)
            one(&job, (const float *)job.x->data + tw_lstm_at(job.x, n, t + job.skipped),
                h + (ptrdiff_t)n * job.outputs, c + (ptrdiff_t)n * job.outputs,
                (float *)job.y->data + tw_lstm_at(job.y, n, t));
    if (job.last) {
        tw_lstm_save_state(tw_lstm_result(call, 1), h, state * 4u);
        tw_lstm_save_state(tw_lstm_result(call, 2), c, state * 4u);
    }
    return TW_OK;
}

static tw_status run_f32(const tw_call *call)
{
    return run(call, step_f32);
}

static tw_status run_f32w8(const tw_call *call)
{
    return run(call, step_f32w8);
}

/* ---- checks ---- */

int tw_lstm_is_dense(const tw_view *v, uint32_t dtype, int rank, const int32_t *dim)
{
    if (!tw_operand_check(v, dtype, rank, rank) || !tw_is_dense(v->tensor))
        return 0;
    for (int i = 0; i < rank; i++)
        if (v->tensor->dim[i] != dim[i])
            return 0;
    return 1;
}

tw_status tw_lstm_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint32_t cell,
                        uint64_t *work)
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
        !tw_lstm_is_dense(&call->in[1], weights, 3, w) ||
        !tw_lstm_is_dense(&call->in[2], weights, 3, r))
        return TW_E_CHECK;
    for (uint32_t i = 4; i < call->in_count; i++)
        if (tw_lstm_operand(call, i) &&
            !tw_lstm_is_dense(&call->in[i], i == 4 ? dtype : cell, 2, state))
            return TW_E_CHECK;
    for (uint32_t i = 1; i < call->out_count; i++)
        if (tw_lstm_result(call, i) &&
            !tw_lstm_is_dense(&call->out[i], i == 1 ? dtype : cell, 2, state))
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

static tw_status check_real(const tw_call *call, uint32_t weights, uint64_t *work)
{
    if (tw_lstm_check(call, TW_F32, weights, TW_F32, work) != TW_OK)
        return TW_E_CHECK;
    const int32_t n = call->out[0].tensor->dim[2];
    const int32_t bias[] = {TW_LSTM_GATES, n};
    if (tw_lstm_operand(call, 3) && !tw_lstm_is_dense(&call->in[3], TW_F32, 2, bias))
        return TW_E_CHECK;
    return tw_lstm_cell_offset(tw_lstm_state(call), 4) + tw_lstm_state(call) * 4u <=
                   call->memory_bytes
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return check_real(call, TW_F32, work);
}

static tw_status check_f32w8(const tw_call *call, uint64_t *work)
{
    if (call->blob_count != 1 || call->blobs[0].bytes != sizeof(tw_lstm_hybrid) ||
        ((uintptr_t)call->blobs[0].data & 3u) != 0 ||
        (((const tw_lstm_hybrid *)call->blobs[0].data)->asymmetric & ~1) != 0 ||
        check_real(call, TW_S8, work) != TW_OK)
        return TW_E_CHECK;
    return (uint64_t)call->in[0].tensor->dim[2] + (uint64_t)call->out[0].tensor->dim[2] <=
                   call->scratch_bytes
               ? TW_OK
               : TW_E_CHECK;
}

TW_KERNEL(lstm, f32, run_f32, check_f32);
TW_KERNEL(lstm, f32w8, run_f32w8, check_f32w8);
