/* Depthwise convolution of floats with int8 weights: hybrid.h has the arithmetic. */
#include "ops/codes.h"
#include "ops/depthwise_job.h"
#include "ops/hybrid.h"

typedef struct tw_depthwise_f32w8 {
    tw_depthwise_job job;
    tw_hybrid hybrid;
} tw_depthwise_f32w8;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_depthwise_check(call, TW_F32, TW_S8, work);
    return status == TW_OK && !tw_hybrid_check(call, tw_depthwise_outputs(call),
                                               tw_hybrid_image_bytes(call->in[0].tensor))
               ? TW_E_CHECK
               : status;
}

/* `n` outputs of one pixel, the first of them o. x_step: 1, or 0 where one input channel serves all. */
static void pixel(const tw_depthwise_f32w8 *all, const tw_patch *patch, const int8_t *x, float *y,
                  int32_t o, int n, int x_step)
{
    const tw_depthwise_job *job = &all->job;
    const int8_t *w = (const int8_t *)job->w + o;
    uint32_t sum[TW_DEPTHWISE_BLOCK];
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        sum[k] = 0;
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const int8_t *from = x + (i - patch->rows.first) * job->x_row +
                                 (j - patch->columns.first) * job->x_column;
            const int8_t *by = w + i * job->w_row + j * job->w_column;
            for (k = 0; k < n; k++)
                sum[k] += (uint32_t)((from[k * x_step] - all->hybrid.in_zero) * by[k]);
        }
    }
    for (k = 0; k < n; k++)
        y[k] = tw_hybrid_finish(&all->hybrid, o + k, (int32_t)sum[k]);
}

static void visit(const void *of, const tw_patch *patch)
{
    const tw_depthwise_f32w8 *all = (const tw_depthwise_f32w8 *)of;
    const tw_depthwise_job *job = &all->job;
    int32_t o, n, q;
    for (o = job->begin; o < job->end; o += n) {
        const int8_t *x = (const int8_t *)job->x + patch->in + o / job->multiplier;
        float *y = (float *)job->y + patch->out + (o - job->begin);
        n = tw_depthwise_length(job, o);
        for (q = 0; q < patch->pixels; q++)
            pixel(all, patch, x + q * job->x_pixel, y + q * job->y_pixel, o, n,
                  job->multiplier == 1);
    }
}

static tw_status run_batch(const tw_call *call, void *context)
{
    tw_depthwise_f32w8 *all = (tw_depthwise_f32w8 *)context;
    return tw_depthwise_run(call, &all->job, visit, all);
}

static tw_status run(const tw_call *call)
{
    tw_depthwise_f32w8 all;
    tw_status status = tw_hybrid_open(call, &all.hybrid);
    return status == TW_OK ? tw_hybrid_batches(call, &all.hybrid, run_batch, &all) : status;
}

TW_KERNEL_BLOCKS(depthwise_conv, f32w8, run, check);
