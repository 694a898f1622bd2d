/* What the matrix product kernels of every type share. Device code. */
#ifndef TW_OPS_MATMUL_JOB_H
#define TW_OPS_MATMUL_JOB_H

#include "ops/matmul.h"
#include "ops/matrix.h"
#include "ops/product.h"

typedef struct tw_matmul_job {
    tw_product product; /* w is b */
    const void *a, *b;
    void *y;
    int32_t columns; /* present */
    int transposed;
} tw_matmul_job;

/* Everything but tables: operands of one type. */
tw_status tw_matmul_check(const tw_call *call, uint32_t dtype, uint64_t *work);

/* Fill in the job, and visit the batches of the output with `context`, which should hold it. */
tw_status tw_matmul_run(const tw_call *call, tw_matmul_job *job, tw_matrix_function visit,
                        void *context);

#endif
