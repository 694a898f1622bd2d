/* What the kernels of recurrent layers share, and the tables of the int8 ones. Device code. */
#ifndef TW_OPS_RECURRENT_JOB_H
#define TW_OPS_RECURRENT_JOB_H

#include "ops/lstm_job.h"
#include "ops/recurrent.h"

/* Element types of a kernel: x, w, r, h and y; of the cell. */
typedef struct tw_recurrent_types {
    uint32_t stored, cell;
} tw_recurrent_types;

/* Shapes, types, states, step memory and the attributes' lists. */
tw_status tw_recurrent_check(const tw_call *call, int32_t gates, const tw_recurrent_types *types,
                             uint64_t *work);

/* The steps of a sequence that are taken: up to its length, or those that are true. */
static inline int tw_recurrent_is_taken(const tw_lstm_job *job, int32_t n, int32_t t)
{
    const tw_view *lengths = tw_lstm_operand(job->call, TW_RECURRENT_LENGTHS);
    const int32_t step = (job->first ? 0 : job->y->row) + t;
    if (!lengths)
        return 1;
    if (lengths->tensor->dtype == TW_BOOL) {
        const ptrdiff_t steps = job->x->tensor->dim[1];
        return ((const uint8_t *)lengths->data)[n * steps + step] != 0;
    }
    return step < ((const int32_t *)lengths->data)[n];
}

/* ---- int8 ---- */

enum {
    TW_RECURRENT_BLOB_SCALES,  /* tw_recurrent_scales */
    TW_RECURRENT_BLOB_SIGMOID, /* uint16 [256]: 65536 * sigmoid(i / 24) */
    TW_RECURRENT_BLOB_BIAS,    /* int32 [2, G, O]: of x and of h, zero points folded in */
    TW_RECURRENT_BLOB_RESCALE, /* tw_lstm_rescale [x_scales + h_scales]: sums to 12 fraction bits */
    TW_RECURRENT_BLOB_PEEPHOLE, /* int16 [3, O]; absent where there are none */
    TW_RECURRENT_BLOBS
};

typedef struct tw_recurrent_scales {
    int32_t x_scales, h_scales; /* of w and r: 1, one a gate or one a row */
    tw_lstm_rescale result;     /* 15 fraction bits (a PeepholeLstm: 30) to steps of h; a Gru: 30 to
                                   steps of h with 15 fraction bits */
    tw_lstm_rescale forget, input, peephole[3]; /* of a PeepholeLstm */
    int32_t cell_multiplier, cell_shift;        /* its cell to steps of the table */
    int32_t clip;                               /* with 12 fraction bits; 0: none */
} tw_recurrent_scales;

/* Fraction bits of s . h where a Gru resets before the product: 255 * 2^4 * 128 * 4096 is less than 2^31.
 * Most outputs of an int8 layer. */
enum { TW_RECURRENT_RESET_BITS = 4, TW_RECURRENT_S8_MOST = 4096 };

/* Scratch of int8: the gates of a step, int16. */
static inline uint64_t tw_recurrent_scratch_s8(uint64_t gates, uint64_t outputs)
{
    return gates * outputs * 2u;
}

#endif
