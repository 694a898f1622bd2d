/* Transposed convolution of floats with int8 weights: each weight is multiplied by its channel's scale where
 * it is read, so that results are to the bit those of the float layer with the weights that the int8
 * ones stand for. TFLite has no hybrid form of the operator. */
#include "ops/codes.h"
#include "ops/conv_transpose_job.h"
#include "ops/hybrid.h"

typedef struct tw_transpose_f32w8 {
    tw_transpose_job job;
    tw_hybrid hybrid; /* scales, bias and bounds; nothing is quantised */
} tw_transpose_f32w8;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_transpose_check(call, TW_F32, TW_S8, work);
    if (status != TW_OK)
        return status;
    return tw_is_dense(call->in[1].tensor) && tw_hybrid_check(call, call->in[1].tensor->dim[0], 0)
               ? TW_OK
               : TW_E_CHECK;
}

/* sum[k] += x . w[k] of up to four outputs that share the loads of x, in order. */
static void dot(const float *x, const int8_t *w, ptrdiff_t next, int32_t n, int32_t count,
                const float *scale, float sum[4])
{
    int32_t i, k;
    for (i = 0; i < n; i++)
        for (k = 0; k < count; k++)
            sum[k] += x[i] * (scale[k] * (float)w[i + k * next]);
}

/* `count` outputs of one pixel, the first of them o, over the taps inside. */
static void pixel_of(const tw_transpose_f32w8 *all, const tw_patch *patch, const float *x, float *y,
                     int32_t o, int32_t count)
{
    const tw_transpose_job *job = &all->job;
    const tw_product *p = &job->product;
    const tw_hybrid *h = &all->hybrid;
    const int8_t *w = (const int8_t *)job->w + o * p->w_output;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int32_t r, c, k;
    for (k = 0; h->bias && k < count; k++)
        sum[k] = h->bias[job->first + o + k];
    for (r = patch->rows.first; r < patch->rows.last; r++)
        for (c = patch->columns.first; c < patch->columns.last; c++)
            dot(x + (r - patch->rows.first) * p->x_row + (c - patch->columns.first) * p->x_column,
                w + r * p->w_row + c * p->w_column, p->w_output, p->depth, count,
                h->scale + job->first + o, sum);
    for (k = 0; k < count; k++)
        y[o + k] = sum[k] < h->low ? h->low : sum[k] > h->high ? h->high : sum[k];
}

static void visit(const void *of, const tw_patch *patch)
{
    const tw_transpose_f32w8 *all = (const tw_transpose_f32w8 *)of;
    const tw_transpose_job *job = &all->job;
    const tw_product *p = &job->product;
    const float *x = (const float *)job->x + patch->in + (ptrdiff_t)job->group * p->depth;
    float *y = (float *)job->y + patch->out;
    int32_t pixel, o;
    for (pixel = 0; pixel < patch->pixels; pixel++)
        for (o = 0; o < job->outputs; o += 4)
            pixel_of(all, patch, x + pixel * p->x_pixel, y + pixel * p->y_pixel, o,
                     job->outputs - o < 4 ? job->outputs - o : 4);
}

static tw_status run(const tw_call *call)
{
    static const tw_transpose_kind kind = {4, 1, visit};
    tw_transpose_f32w8 all;
    tw_status status = tw_hybrid_open(call, &all.hybrid);
    return status == TW_OK ? tw_transpose_run(call, &all.job, NULL, &kind, &all) : status;
}

TW_KERNEL_BLOCKS(conv_transpose, f32w8, run, check);
