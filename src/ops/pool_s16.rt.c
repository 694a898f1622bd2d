/* Pooling of int16: input and output have one scale and no zero point. */
#include "ops/codes.h"
#include "ops/pool_job.h"

enum { BLOCK = TW_POOL_BLOCK };

/* Sums of int16 over so many taps stay within 32 bits. */
enum { MOST_TAPS = 1 << 16 };

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_pool_check(call, TW_S16, work);
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    int64_t taps = 1;
    int32_t i;
    if (status != TW_OK)
        return status;
    for (i = 0; i < a->kernel.count; i++)
        taps *= a->kernel.v[i];
    return taps < MOST_TAPS && call->blob_count == 0 && call->in[0].tensor->zero_point == 0 &&
                   call->out[0].tensor->zero_point == 0 && call->clamp_low.s32 >= INT16_MIN &&
                   call->clamp_low.s32 <= call->clamp_high.s32 && call->clamp_high.s32 <= INT16_MAX
               ? TW_OK
               : TW_E_CHECK;
}

static void largest(const tw_pool_job *job, const tw_patch *patch, const int16_t *x, int32_t *most,
                    int n)
{
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        most[k] = INT16_MIN;
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const int16_t *from = x + tw_pool_tap(job, patch, i, j);
            for (k = 0; k < n; k++)
                most[k] = from[k] > most[k] ? from[k] : most[k];
        }
    }
}

static void average(const tw_pool_job *job, const tw_patch *patch, const int16_t *x, int32_t *sum,
                    const tw_divisor *d, int n)
{
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        sum[k] = 0;
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const int16_t *from = x + tw_pool_tap(job, patch, i, j);
            for (k = 0; k < n; k++)
                sum[k] += from[k];
        }
    }
    for (k = 0; k < n; k++)
        sum[k] = tw_pool_divide(sum[k], d, job->half_even);
}

static void visit(const tw_pool_job *job, const tw_patch *patch, int averages)
{
    int32_t pixel, c, n, k, v[BLOCK];
    for (pixel = 0; pixel < patch->pixels; pixel++) {
        const int16_t *x = (const int16_t *)job->x + patch->in + pixel * job->x_pixel;
        int16_t *y = (int16_t *)job->y + patch->out + pixel * job->y_pixel;
        const tw_divisor d = tw_divisor_of(tw_pool_count(job, patch, patch->column + pixel), 32768);
        for (c = job->begin; c < job->end; c += n) {
            n = job->end - c < BLOCK ? job->end - c : BLOCK;
            if (averages)
                average(job, patch, x + c, v, &d, n);
            else
                largest(job, patch, x + c, v, n);
            for (k = 0; k < n; k++)
                y[c - job->begin + k] = (int16_t)tw_clamp_s32(v[k], job->low.s32, job->high.s32);
        }
    }
}

static void visit_largest(const void *job, const tw_patch *patch)
{
    visit((const tw_pool_job *)job, patch, 0);
}

static void visit_average(const void *job, const tw_patch *patch)
{
    visit((const tw_pool_job *)job, patch, 1);
}

static tw_status run_max_pool(const tw_call *call)
{
    return tw_pool_run(call, visit_largest);
}

static tw_status run_average_pool(const tw_call *call)
{
    return tw_pool_run(call, visit_average);
}

TW_KERNEL_BLOCKS(max_pool, s16, run_max_pool, check);
TW_KERNEL_BLOCKS(average_pool, s16, run_average_pool, check);
