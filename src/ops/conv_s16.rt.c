/* Convolution of int16 activations with int8 weights: TFLite's CONV_2D. */
#include "ops/codes.h"
#include "ops/conv_job.h"
#include "ops/product_s16.h"

typedef struct tw_conv_s16 {
    tw_conv_job job;
    tw_channels_s16 channels;
} tw_conv_s16;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_conv_check(call, TW_S16, TW_S8, work);
    if (status != TW_OK)
        return status;
    return tw_is_dense(call->in[1].tensor) &&
                   tw_channels_s16_check(call, call->in[1].tensor->dim[0])
               ? TW_OK
               : TW_E_CHECK;
}

static void visit(const void *of, const tw_patch *patch)
{
    const tw_conv_s16 *all = (const tw_conv_s16 *)of;
    const tw_conv_job *job = &all->job;
    const tw_product *p = &job->product;
    int32_t o, next;
    for (o = job->begin; o < job->end; o = next) {
        next = tw_conv_group_end(job, o);
        tw_product_s16(p, patch, (const int16_t *)job->x + patch->in + tw_conv_group_depth(job, o),
                       (const int8_t *)job->w + o * p->w_output, &all->channels, o,
                       (int16_t *)job->y + patch->out + (o - job->begin), next - o);
    }
}

static tw_status run(const tw_call *call)
{
    tw_conv_s16 all;
    tw_channels_s16_of(call, &all.channels);
    return tw_conv_run(call, &all.job, visit, &all);
}

TW_KERNEL_BLOCKS(conv, s16, run, check);
