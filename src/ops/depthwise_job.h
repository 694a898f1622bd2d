/* What the depthwise convolution kernels of every type signature share. Device code. */
#ifndef TW_OPS_DEPTHWISE_JOB_H
#define TW_OPS_DEPTHWISE_JOB_H

#include "ops/depthwise_conv.h"
#include "ops/product.h"

/* Channels worked on side by side. */
enum { TW_DEPTHWISE_BLOCK = 16 };

typedef struct tw_depthwise_job {
    int32_t rows, columns; /* of the kernel */
    int32_t multiplier;    /* output channels per input channel */
    ptrdiff_t x_pixel, x_row, x_column, w_row, w_column, y_pixel;
    const void *x, *w, *bias;
    void *y;
    int32_t begin, end; /* output channels present */
    tw_bound low, high;
} tw_depthwise_job;

/* Extents and attributes of the window; 0 where they contradict each other. */
int tw_depthwise_window(const tw_call *call, tw_window_spans *window);

/* Everything but bias and tables; `weights` is their type. */
tw_status tw_depthwise_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint64_t *work);

/* Fill in the job but for the bias, and visit the patches of the output with `context`, which should
 * hold it. */
tw_status tw_depthwise_run(const tw_call *call, tw_depthwise_job *job, tw_patch_function visit,
                           void *context);

/* Output channels of a verified call. */
static inline int32_t tw_depthwise_outputs(const tw_call *call)
{
    const tw_tensor *y = call->out[0].tensor;
    return y->dim[y->rank - 1];
}

/* How many of the channels from o on fit a block: all they read must be contiguous, so with a
 * multiplier a block is the outputs of one input channel. */
static inline int32_t tw_depthwise_length(const tw_depthwise_job *job, int32_t o)
{
    int32_t end = job->multiplier == 1 ? job->end : (o / job->multiplier + 1) * job->multiplier;
    end = end < job->end ? end : job->end;
    return end - o < TW_DEPTHWISE_BLOCK ? end - o : TW_DEPTHWISE_BLOCK;
}

#endif
