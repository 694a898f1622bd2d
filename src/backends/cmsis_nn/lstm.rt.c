/* Long short-term memory by CMSIS-NN: its products of a vector and a matrix. What x and what h adds to a gate is
 * cut to 16 bits each before they are added up, which its function for a whole step does not do. */
#include "backends/cmsis_nn/lstm.h"
#include "arm_nnsupportfunctions.h"
#include "backends/cmsis_nn/library.h"
#include "ops/lstm_integer.h"

static tw_status check(const tw_call *call, int wide, uint64_t *work)
{
    if (tw_lstm_integer_check(call, wide, work) != TW_OK || call->out[0].tensor->dim[2] < 1 ||
        call->in[0].tensor->dim[2] < 1 ||
        call->scratch_bytes < tw_cmsis_nn_lstm_scratch(call->out[0].tensor->dim[2], wide))
        return TW_E_CHECK;
    return TW_OK;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    return check(call, 0, work);
}

static tw_status check_s16(const tw_call *call, uint64_t *work)
{
    return check(call, 1, work);
}

/* What x, and what h adds to gate g, at `a` and `b`. */
static void parts_s8(const tw_lstm_job *job, const int8_t *x, const int8_t *h, int32_t g,
                     int16_t *a, int16_t *b)
{
    const tw_call *call = job->call;
    const tw_lstm_scales *s = tw_lstm_scales_of(call);
    const int32_t n = job->outputs;
    (void)arm_nn_vec_mat_mul_result_acc_s8_s16(
        x, (const int8_t *)call->in[1].data + (ptrdiff_t)g * n * job->inputs,
        (const int32_t *)call->blobs[TW_LSTM_BLOB_BIAS].data + (ptrdiff_t)g * n, a,
        s->x[g].multiplier, s->x[g].shift, job->inputs, n, 1, 1);
    (void)arm_nn_vec_mat_mul_result_acc_s8_s16(
        h, (const int8_t *)call->in[2].data + (ptrdiff_t)g * n * n,
        (const int32_t *)call->blobs[TW_LSTM_BLOB_H_BIAS].data + (ptrdiff_t)g * n, b,
        s->h[g].multiplier, s->h[g].shift, n, n, 1, 1);
}

static void parts_s16(const tw_lstm_job *job, const int16_t *x, const int16_t *h, int32_t g,
                      int16_t *a, int16_t *b)
{
    const tw_call *call = job->call;
    const tw_lstm_scales *s = tw_lstm_scales_of(call);
    const int32_t n = job->outputs;
    const int64_t *zeros = (const int64_t *)(const void *)((const char *)call->scratch +
                                                           tw_cmsis_nn_lstm_scratch(n, 0));
    (void)arm_nn_vec_mat_mul_result_acc_s16(
        x, (const int8_t *)call->in[1].data + (ptrdiff_t)g * n * job->inputs,
        (const int64_t *)call->blobs[TW_LSTM_BLOB_BIAS].data + (ptrdiff_t)g * n, a,
        s->x[g].multiplier, s->x[g].shift, job->inputs, n, 1, 1);
    (void)arm_nn_vec_mat_mul_result_acc_s16(
        h, (const int8_t *)call->in[2].data + (ptrdiff_t)g * n * n, zeros, b, s->h[g].multiplier,
        s->h[g].shift, n, n, 1, 1);
}

/* The four gates of every output, output by output. */
static const int16_t *gates_of(const tw_lstm_job *job, int wide, const void *x, const void *h)
{
    const int32_t n = job->outputs;
    int16_t *a = (int16_t *)job->call->scratch, *b = a + n, *gates = b + n;
    int32_t g, k;
    for (g = 0; g < TW_LSTM_GATES; g++) {
        memset(a, 0, (size_t)n * 4u); /* a and b: the library adds to them */
        if (wide)
            parts_s16(job, (const int16_t *)x, (const int16_t *)h, g, a, b);
        else
            parts_s8(job, (const int8_t *)x, (const int8_t *)h, g, a, b);
        for (k = 0; k < n; k++)
            gates[k * TW_LSTM_GATES + g] = tw_lstm_gate_of(job->call, g, a[k], b[k]);
    }
    return gates;
}

static void step_s8(const tw_lstm_job *job, const void *x, const void *h, int16_t *c, void *y)
{
    const int16_t *gates = gates_of(job, 0, x, h);
    const int32_t zero = job->y->tensor->zero_point;
    int32_t k;
    for (k = 0; k < job->outputs; k++, gates += TW_LSTM_GATES)
        ((int8_t *)y)[k] = (int8_t)tw_clamp_s32(tw_lstm_result_of(job->call, gates, &c[k]) + zero,
                                                INT8_MIN, INT8_MAX);
}

static void step_s16(const tw_lstm_job *job, const void *x, const void *h, int16_t *c, void *y)
{
    const int16_t *gates = gates_of(job, 1, x, h);
    int32_t k;
    for (k = 0; k < job->outputs; k++, gates += TW_LSTM_GATES)
        ((int16_t *)y)[k] = (int16_t)tw_lstm_clamp(tw_lstm_result_of(job->call, gates, &c[k]));
}

static tw_status run_s8(const tw_call *call)
{
    return tw_lstm_integer_run(call, 0, step_s8);
}

static tw_status run_s16(const tw_call *call)
{
    const int32_t n = call->out[0].tensor->dim[2];
    memset((char *)call->scratch + tw_cmsis_nn_lstm_scratch(n, 0), 0, (size_t)n * 8u);
    return tw_lstm_integer_run(call, 1, step_s16);
}

TW_CMSIS_NN_KERNEL(lstm_s8, run_s8, check_s8);
TW_CMSIS_NN_KERNEL(lstm_s16, run_s16, check_s16);
