/* Fully connected layers of int16 activations with int8 weights: TFLite's FULLY_CONNECTED. */
#include "ops/codes.h"
#include "ops/connected_job.h"
#include "ops/product_s16.h"

typedef struct tw_connected_s16 {
    tw_connected_job job;
    tw_channels_s16 channels;
} tw_connected_s16;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_connected_check(call, TW_S16, TW_S8, work);
    const tw_tensor *w = status == TW_OK ? call->in[1].tensor : NULL;
    if (!w)
        return status;
    return (w->dim[1] <= 1 || w->stride[1] == 1) && tw_channels_s16_check(call, w->dim[0])
               ? TW_OK
               : TW_E_CHECK;
}

static void visit(const void *of, const tw_matrix_part *part)
{
    const tw_connected_s16 *all = (const tw_connected_s16 *)of;
    const tw_connected_job *job = &all->job;
    const tw_patch patch = tw_connected_patch(part->rows);
    tw_product_s16(&job->product, &patch, (const int16_t *)job->x + part->a,
                   (const int8_t *)job->w + part->b, &all->channels, job->outputs.begin,
                   (int16_t *)job->y + part->out, job->outputs.end - job->outputs.begin);
}

static tw_status run(const tw_call *call)
{
    tw_connected_s16 all;
    tw_channels_s16_of(call, &all.channels);
    return tw_connected_run(call, &all.job, visit, &all);
}

TW_KERNEL(fully_connected, s16, run, check);
