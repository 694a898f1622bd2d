/* What the transposed convolution kernels of every type signature share. Device code. */
#ifndef TW_OPS_CONV_TRANSPOSE_JOB_H
#define TW_OPS_CONV_TRANSPOSE_JOB_H

#include "ops/conv_transpose.h"
#include "ops/product.h"

typedef struct tw_transpose_job {
    tw_product product; /* of one phase */
    const void *x, *w, *bias;
    void *y;
    int32_t group, outputs; /* the group in hand; its outputs that are present */
    int32_t first;          /* the first of these */
} tw_transpose_job;

/* What differs from type to type. */
typedef struct tw_transpose_kind {
    uint32_t bytes, weight_bytes; /* of an element */
    tw_patch_function visit;
} tw_transpose_kind;

/* Everything but bias and tables; `weights` is their type. */
tw_status tw_transpose_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint64_t *work);

/* Fill in the job and visit the patches of the output, phase by phase, with `context`, which should
 * hold it. bias: null where there is none or it stands in tables. */
tw_status tw_transpose_run(const tw_call *call, tw_transpose_job *job, const float *bias,
                           const tw_transpose_kind *kind, void *context);

#endif
