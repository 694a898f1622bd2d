/* Matrix products of two activations by CMSIS-NN, of either type: what a call hands to each batch. Device code. */
#ifndef TW_CMSIS_NN_MATMUL_JOB_H
#define TW_CMSIS_NN_MATMUL_JOB_H

#include "backends/cmsis_nn/image.h"
#include "ops/matmul_job.h"

typedef struct tw_cmsis_nn_matmul {
    tw_matmul_job job; /* first: what tw_matmul_run fills in */
    const tw_call *call;
    tw_status *status;
} tw_cmsis_nn_matmul;

/* The operands of one batch, the second by columns, and the result's scale. */
typedef struct tw_cmsis_nn_batch {
    cmsis_nn_dims a, b, y;
    cmsis_nn_per_tensor_quant_params scale;
} tw_cmsis_nn_batch;

/* 0 where there is nothing to compute, or a batch before this one has failed. */
static inline int tw_cmsis_nn_batch_of(const tw_cmsis_nn_matmul *p, const tw_matrix_part *part,
                                       tw_cmsis_nn_batch *batch)
{
    const int32_t depth = p->job.product.depth, columns = p->job.columns;
    batch->a = tw_cmsis_nn_dims(1, 1, part->rows, depth);
    batch->b = tw_cmsis_nn_dims(1, 1, columns, depth);
    batch->y = tw_cmsis_nn_dims(1, 1, part->rows, columns);
    batch->scale.multiplier = *tw_cmsis_nn_table(p->call, TW_BLOB_MULTIPLIER, 0);
    batch->scale.shift = *tw_cmsis_nn_table(p->call, TW_BLOB_SHIFT, 0);
    return *p->status == TW_OK && part->rows > 0 && columns > 0;
}

/* visit: of one batch; of: a tw_cmsis_nn_matmul. */
static inline tw_status tw_cmsis_nn_matmul_run(const tw_call *call, tw_matrix_function visit)
{
    tw_cmsis_nn_matmul p;
    tw_status inner = TW_OK, status;
    p.call = call;
    p.status = &inner;
    status = tw_matmul_run(call, &p.job, visit, &p);
    return status == TW_OK ? inner : status;
}

#endif
