/* Transposed convolution of int16 activations with int8 weights: TFLite's TRANSPOSE_CONV. */
#include "ops/codes.h"
#include "ops/conv_transpose_job.h"
#include "ops/product_s16.h"

typedef struct tw_transpose_s16 {
    tw_transpose_job job;
    tw_channels_s16 channels;
} tw_transpose_s16;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_transpose_check(call, TW_S16, TW_S8, work);
    if (status != TW_OK)
        return status;
    return tw_is_dense(call->in[1].tensor) &&
                   tw_channels_s16_check(call, call->in[1].tensor->dim[0])
               ? TW_OK
               : TW_E_CHECK;
}

static void visit(const void *of, const tw_patch *patch)
{
    const tw_transpose_s16 *all = (const tw_transpose_s16 *)of;
    const tw_transpose_job *job = &all->job;
    const tw_product *p = &job->product;
    tw_product_s16(p, patch, (const int16_t *)job->x + patch->in + (ptrdiff_t)job->group * p->depth,
                   (const int8_t *)job->w, &all->channels, job->first,
                   (int16_t *)job->y + patch->out, job->outputs);
}

static tw_status run(const tw_call *call)
{
    static const tw_transpose_kind kind = {2, 1, visit};
    tw_transpose_s16 all;
    tw_channels_s16_of(call, &all.channels);
    return tw_transpose_run(call, &all.job, NULL, &kind, &all);
}

TW_KERNEL_BLOCKS(conv_transpose, s16, run, check);
