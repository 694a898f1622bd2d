/* Convolution of floats with int8 weights: hybrid.h has the arithmetic. */
#include "ops/codes.h"
#include "ops/conv_job.h"
#include "ops/hybrid.h"

typedef struct tw_conv_f32w8 {
    tw_conv_job job;
    tw_hybrid hybrid;
} tw_conv_f32w8;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_conv_check(call, TW_F32, TW_S8, work);
    if (status != TW_OK)
        return status;
    return tw_is_dense(call->in[1].tensor) &&
                   tw_hybrid_check(call, call->in[1].tensor->dim[0],
                                   tw_hybrid_image_bytes(call->in[0].tensor))
               ? TW_OK
               : TW_E_CHECK;
}

static int32_t sum_of(const tw_product *p, const tw_patch *patch, int32_t zero, const int8_t *x,
                      const int8_t *w)
{
    uint32_t sum = 0;
    int32_t r, c;
    for (r = patch->rows.first; r < patch->rows.last; r++)
        for (c = patch->columns.first; c < patch->columns.last; c++)
            sum += (uint32_t)tw_hybrid_dot(x + (r - patch->rows.first) * p->x_row +
                                               (c - patch->columns.first) * p->x_column,
                                           zero, w + r * p->w_row + c * p->w_column, p->depth);
    return (int32_t)sum;
}

static void visit(const void *of, const tw_patch *patch)
{
    const tw_conv_f32w8 *all = (const tw_conv_f32w8 *)of;
    const tw_conv_job *job = &all->job;
    const tw_product *p = &job->product;
    int32_t o, pixel;
    for (o = job->begin; o < job->end; o++) {
        const int8_t *w = (const int8_t *)job->w + o * p->w_output;
        const int8_t *x = (const int8_t *)job->x + patch->in + tw_conv_group_depth(job, o);
        float *y = (float *)job->y + patch->out + (o - job->begin);
        for (pixel = 0; pixel < patch->pixels; pixel++)
            y[pixel * p->y_pixel] = tw_hybrid_finish(
                &all->hybrid, o, sum_of(p, patch, all->hybrid.in_zero, x + pixel * p->x_pixel, w));
    }
}

static tw_status run_batch(const tw_call *call, void *context)
{
    tw_conv_f32w8 *all = (tw_conv_f32w8 *)context;
    return tw_conv_run(call, &all->job, visit, all);
}

static tw_status run(const tw_call *call)
{
    tw_conv_f32w8 all;
    tw_status status = tw_hybrid_open(call, &all.hybrid);
    return status == TW_OK ? tw_hybrid_batches(call, &all.hybrid, run_batch, &all) : status;
}

TW_KERNEL_BLOCKS(conv, f32w8, run, check);
