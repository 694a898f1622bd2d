/* Depthwise convolution: what all type signatures share, and the float kernel. Channels are worked on in blocks, side by side, so that input,
 * weights and sums are contiguous. */
#include "ops/depthwise_job.h"

#include "ops/codes.h"

enum { BLOCK = TW_DEPTHWISE_BLOCK };

static void kernel_of(const tw_tensor *w, int32_t kernel[2])
{
    kernel[0] = w->rank == 3 ? w->dim[0] : 1;
    kernel[1] = w->dim[w->rank - 2];
}

int tw_depthwise_window(const tw_call *call, tw_window_spans *window)
{
    const tw_depthwise_conv_attributes *a = (const tw_depthwise_conv_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    int32_t kernel[2];
    kernel_of(call->in[1].tensor, kernel);
    return tw_window_read(window, call->in[0].tensor, call->out[0].tensor, kernel, &lists, 0);
}

tw_status tw_depthwise_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint64_t *work)
{
    const tw_tensor *x, *w, *y;
    tw_window_spans window;
    int32_t extents[6];
    if (call->in_count < 2 || call->in_count > 3 || call->out_count != 1 ||
        call->attribute_bytes != sizeof(tw_depthwise_conv_attributes) ||
        !tw_operand_check(&call->in[0], dtype, 3, 4) ||
        !tw_operand_check(&call->in[1], weights, 2, 3) ||
        !tw_operand_check(&call->out[0], dtype, 3, 4))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    w = call->in[1].tensor;
    y = call->out[0].tensor;
    if (w->rank != x->rank - 1 || !tw_depthwise_window(call, &window) || x->dim[x->rank - 1] < 1 ||
        w->dim[w->rank - 1] < 1 || w->dim[w->rank - 1] % x->dim[x->rank - 1] != 0 ||
        w->dim[w->rank - 1] != y->dim[y->rank - 1])
        return TW_E_CHECK;
    extents[0] = y->dim[0];
    extents[1] = window.axis[0].out;
    extents[2] = window.axis[1].out;
    extents[3] = w->dim[w->rank - 1];
    extents[4] = window.axis[0].kernel;
    extents[5] = window.axis[1].kernel;
    return tw_work(work, extents, 6) ? TW_OK : TW_E_CHECK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_depthwise_check(call, TW_F32, TW_F32, work);
    return status != TW_OK || tw_bias_check(call, tw_depthwise_outputs(call)) ? status : TW_E_CHECK;
}

/* `n` outputs of one pixel, the first of them o. x_step: 1, or 0 where one input channel serves all. */
static TW_INLINE void pixel_f32(const tw_depthwise_job *job, const tw_patch *patch, const float *x,
                                float *y, int32_t o, const int n, const int x_step)
{
    const float *w = (const float *)job->w + o, *bias = (const float *)job->bias;
    float sum[BLOCK];
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        sum[k] = bias ? bias[o + k] : 0.0f;
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const float *from = x + (i - patch->rows.first) * job->x_row +
                                (j - patch->columns.first) * job->x_column;
            const float *by = w + i * job->w_row + j * job->w_column;
            for (k = 0; k < n; k++)
                sum[k] += from[k * x_step] * by[k];
        }
    }
    for (k = 0; k < n; k++)
        y[k] = sum[k] < job->low.f32    ? job->low.f32
               : sum[k] > job->high.f32 ? job->high.f32
                                        : sum[k];
}

static void visit_f32(const void *of, const tw_patch *patch)
{
    const tw_depthwise_job *job = (const tw_depthwise_job *)of;
    int32_t o, n, pixel;
    for (o = job->begin; o < job->end; o += n) {
        const float *x = (const float *)job->x + patch->in + o / job->multiplier;
        float *y = (float *)job->y + patch->out + (o - job->begin);
        n = tw_depthwise_length(job, o);
        for (pixel = 0; pixel < patch->pixels; pixel++) {
            const float *from = x + pixel * job->x_pixel;
            float *to = y + pixel * job->y_pixel;
            if (job->multiplier != 1)
                pixel_f32(job, patch, from, to, o, n, 0);
            else if (n == BLOCK)
                pixel_f32(job, patch, from, to, o, BLOCK, 1);
            else
                pixel_f32(job, patch, from, to, o, n, 1);
        }
    }
}

tw_status tw_depthwise_run(const tw_call *call, tw_depthwise_job *job, tw_patch_function visit,
                           void *context)
{
    const tw_depthwise_conv_attributes *a = (const tw_depthwise_conv_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_tensor *x = call->in[0].tensor, *w = call->in[1].tensor;
    tw_window_spans window;
    tw_image in, out;
    int32_t kernel[2];
    if (!tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    kernel_of(w, kernel);
    tw_window_of(&window, x, call->out[0].tensor, kernel, &lists);
    tw_image_of(&call->in[0], &in);
    tw_image_of(&call->out[0], &out);
    job->x = call->in[0].data;
    job->w = call->in[1].data;
    job->y = call->out[0].data;
    job->rows = window.axis[0].kernel;
    job->columns = window.axis[1].kernel;
    job->multiplier = w->dim[w->rank - 1] / x->dim[x->rank - 1];
    job->begin = out.begin[3];
    job->end = out.end[3];
    job->x_pixel = tw_steps(window.axis[1].stride, in.stride[2]);
    job->x_column = tw_steps(window.axis[1].dilation, in.stride[2]);
    job->x_row = tw_steps(window.axis[0].dilation, in.stride[1]);
    job->w_row = w->rank == 3 ? w->stride[0] : 0;
    job->w_column = w->stride[w->rank - 2];
    job->y_pixel = out.stride[2];
    job->low = call->clamp_low;
    job->high = call->clamp_high;
    return tw_window_walk(&window, &in, &out, visit, context);
}

static tw_status run_f32(const tw_call *call)
{
    tw_depthwise_job job;
    job.bias = NULL;
    if (call->in_count == 3 && call->in[2].tensor) {
        if (!tw_is_whole(&call->in[2]))
            return TW_E_DATA;
        job.bias = call->in[2].data;
    }
    return tw_depthwise_run(call, &job, visit_f32, &job);
}

TW_KERNEL_BLOCKS(depthwise_conv, f32, run_f32, check_f32);
