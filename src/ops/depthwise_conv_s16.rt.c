/* Depthwise convolution of int16 activations with int8 weights: TFLite's DEPTHWISE_CONV_2D. */
#include "ops/codes.h"
#include "ops/depthwise_job.h"
#include "ops/product_s16.h"

typedef struct tw_depthwise_s16 {
    tw_depthwise_job job;
    tw_channels_s16 channels;
} tw_depthwise_s16;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_depthwise_check(call, TW_S16, TW_S8, work);
    return status == TW_OK && !tw_channels_s16_check(call, tw_depthwise_outputs(call)) ? TW_E_CHECK
                                                                                       : status;
}

/* `n` outputs of one pixel, the first of them o. x_step: 1, or 0 where one input channel serves all. */
static void pixel(const tw_depthwise_s16 *all, const tw_patch *patch, const int16_t *x, int16_t *y,
                  int32_t o, int n, int x_step)
{
    const tw_depthwise_job *job = &all->job;
    const int8_t *w = (const int8_t *)job->w + o;
    uint64_t sum[TW_DEPTHWISE_BLOCK];
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        sum[k] = tw_channels_s16_bias(&all->channels, o + k);
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const int16_t *from = x + (i - patch->rows.first) * job->x_row +
                                  (j - patch->columns.first) * job->x_column;
            const int8_t *by = w + i * job->w_row + j * job->w_column;
            for (k = 0; k < n; k++)
                sum[k] += (uint64_t)(int64_t)(from[k * x_step] * by[k]);
        }
    }
    for (k = 0; k < n; k++)
        y[k] = tw_channels_s16_finish(&all->channels, o + k, sum[k]);
}

static void visit(const void *of, const tw_patch *patch)
{
    const tw_depthwise_s16 *all = (const tw_depthwise_s16 *)of;
    const tw_depthwise_job *job = &all->job;
    int32_t o, n, q;
    for (o = job->begin; o < job->end; o += n) {
        const int16_t *x = (const int16_t *)job->x + patch->in + o / job->multiplier;
        int16_t *y = (int16_t *)job->y + patch->out + (o - job->begin);
        n = tw_depthwise_length(job, o);
        for (q = 0; q < patch->pixels; q++)
            pixel(all, patch, x + q * job->x_pixel, y + q * job->y_pixel, o, n,
                  job->multiplier == 1);
    }
}

static tw_status run(const tw_call *call)
{
    tw_depthwise_s16 all;
    tw_channels_s16_of(call, &all.channels);
    return tw_depthwise_run(call, &all.job, visit, &all);
}

TW_KERNEL_BLOCKS(depthwise_conv, s16, run, check);
