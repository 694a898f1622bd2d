/* What the fully connected kernels of every type signature share. Device code. */
#ifndef TW_OPS_CONNECTED_JOB_H
#define TW_OPS_CONNECTED_JOB_H

#include "ops/fully_connected.h"
#include "ops/matrix.h"
#include "ops/product.h"

typedef struct tw_connected_job {
    tw_product product;
    const void *x, *w, *bias;
    void *y;
    tw_range outputs; /* present */
} tw_connected_job;

/* Everything but bias and tables; `weights` is their type. */
tw_status tw_connected_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint64_t *work);

/* Fill in the job but for the bias, and visit the rows of the output with `context`, which should
 * hold it. */
tw_status tw_connected_run(const tw_call *call, tw_connected_job *job, tw_matrix_function visit,
                           void *context);

/* Rows of a matrix as the pixels of a patch. */
static inline tw_patch tw_connected_patch(int32_t rows)
{
    tw_patch patch;
    memset(&patch, 0, sizeof patch);
    patch.pixels = rows;
    patch.rows.last = patch.columns.last = 1;
    return patch;
}

#endif
