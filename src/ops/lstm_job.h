/* What the LSTM kernels of every type share. Device code. */
#ifndef TW_OPS_LSTM_JOB_H
#define TW_OPS_LSTM_JOB_H

#include "ops/lstm.h"
#include "ops/product.h"

/* Float activations, int8 weights: the table of their scales, gate by gate. Scratch: x[t], then h, as
 * int8. */
typedef struct tw_lstm_hybrid {
    float w[TW_LSTM_GATES], r[TW_LSTM_GATES];
    int32_t asymmetric; /* 1: x and h are quantised with a zero point */
} tw_lstm_hybrid;

typedef struct tw_lstm_job {
    const tw_call *call;
    int32_t batch, steps, inputs, outputs; /* steps: in this call */
    int32_t skipped;                       /* steps of x present before them */
    int first, last;                       /* is it the sequence's first, last band? */
    const tw_view *x, *y;
} tw_lstm_job;

/* Shapes, types and states; `weights` is the type of w and r. */
tw_status tw_lstm_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint32_t cell,
                        uint64_t *work);

/* TW_E_SCHEDULE where an operand lacks rows. */
tw_status tw_lstm_open(tw_lstm_job *job, const tw_call *call);

/* Is a view's tensor dense, of this type and these extents? */
int tw_lstm_is_dense(const tw_view *v, uint32_t dtype, int rank, const int32_t *dim);

void tw_lstm_copy_state(void *to, const tw_view *from, uint32_t bytes);
void tw_lstm_save_state(const tw_view *to, const void *from, uint32_t bytes);

/* Optional operands and results: null when absent. */
static inline const tw_view *tw_lstm_operand(const tw_call *call, uint32_t i)
{
    return i < call->in_count && call->in[i].tensor ? &call->in[i] : NULL;
}

static inline const tw_view *tw_lstm_result(const tw_call *call, uint32_t i)
{
    return i < call->out_count && call->out[i].tensor ? &call->out[i] : NULL;
}

/* bias + a * b, wrapping around. */
static inline int32_t tw_lstm_dot(const int8_t *a, const int8_t *b, int32_t count, int32_t bias)
{
    uint32_t sum = (uint32_t)bias;
    int32_t i;
    for (i = 0; i < count; i++)
        sum += (uint32_t)((int32_t)a[i] * b[i]);
    return (int32_t)sum;
}

/* Elements to sequence n, step t of this call. */
static inline ptrdiff_t tw_lstm_at(const tw_view *v, int32_t n, int32_t t)
{
    return (ptrdiff_t)n * v->tensor->stride[0] + (ptrdiff_t)t * v->tensor->stride[1];
}

/* Elements of a state. */
static inline uint64_t tw_lstm_state(const tw_call *call)
{
    return (uint64_t)call->in[0].tensor->dim[0] * (uint64_t)call->out[0].tensor->dim[2];
}

#endif
