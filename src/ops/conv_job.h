/* What the convolution kernels of every type signature share: the check of shapes, the reading of a
 * call and the walk over groups. Device code. */
#ifndef TW_OPS_CONV_JOB_H
#define TW_OPS_CONV_JOB_H

#include "ops/conv.h"
#include "ops/product.h"

typedef struct tw_conv_job {
    tw_product product;
    const void *x, *w, *bias;
    void *y;
    int32_t group_outputs;
    int32_t begin, end; /* output channels present */
} tw_conv_job;

/* Extents and attributes of the window; 0 where they contradict each other. */
int tw_conv_window(const tw_call *call, tw_window_spans *window);

/* Everything but bias and tables. `weights` is their type; they may lie in any order that their
 * strides tell. */
tw_status tw_conv_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint64_t *work);

/* Fill in the job but for the bias, and visit the patches of the output with `context`, which should
 * hold it. */
tw_status tw_conv_run(const tw_call *call, tw_conv_job *job, tw_patch_function visit,
                      void *context);

/* The first output behind those that share o's group. */
static inline int32_t tw_conv_group_end(const tw_conv_job *job, int32_t o)
{
    int32_t next = (o / job->group_outputs + 1) * job->group_outputs;
    return next < job->end ? next : job->end;
}

/* Elements of the input in front of o's group, behind a patch's first tap. */
static inline ptrdiff_t tw_conv_group_depth(const tw_conv_job *job, int32_t o)
{
    return (ptrdiff_t)(o / job->group_outputs) * job->product.depth;
}

#endif
