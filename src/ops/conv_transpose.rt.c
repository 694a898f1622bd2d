/* Transposed convolution kernels. In: operands as the check has verified them. Out: the band, one
 * phase after the other, each as the convolution of stride 1 that it is. See conv_transpose.h. */
#include "ops/conv_transpose_job.h"

#include "ops/codes.h"

typedef struct tw_transpose_s8 {
    tw_transpose_job job;
    tw_channels channels;
} tw_transpose_s8;

/* Rows and columns: extents and attributes; everything is verified. */
static int read_spans(const tw_call *call, tw_span spans[2])
{
    const tw_conv_transpose_attributes *a = (const tw_conv_transpose_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_tensor *x = call->in[0].tensor, *w = call->in[1].tensor, *y = call->out[0].tensor;
    const int spatial = (int)x->rank - 2;
    int i;
    static const tw_span single = {1, 1, 1, 1, 1, 0, 0};
    spans[0] = spans[1] = single;
    if (a->output_pad.count != 0 && a->output_pad.count != spatial)
        return 0;
    for (i = 0; i < spatial; i++) {
        tw_span *s = &spans[2 - spatial + i];
        const int32_t added = a->output_pad.count ? a->output_pad.v[i] : 0;
        if (!tw_window_entry(s, &lists, spatial, i) || added < 0 || added > TW_WINDOW_MOST)
            return 0;
        s->in = x->dim[1 + i];
        s->out = y->dim[1 + i];
        s->kernel = w->dim[1 + i];
        if (s->in < 1 || s->out < 1 || s->kernel < 1 || s->stride > TW_PHASES_MOST ||
            tw_transposed_extent(s) + s->pad_begin + s->pad_end > TW_WINDOW_LIMIT ||
            tw_transposed_extent(s) + added != s->out)
            return 0;
    }
    return spans[0].stride * spans[1].stride <= TW_PHASES_MOST;
}

tw_status tw_transpose_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint64_t *work)
{
    const tw_conv_transpose_attributes *a = (const tw_conv_transpose_attributes *)call->attributes;
    const tw_tensor *x, *w, *y;
    tw_span spans[2];
    int32_t extents[7];
    if (call->in_count < 2 || call->in_count > 3 || call->out_count != 1 ||
        call->attribute_bytes != sizeof *a || !tw_operand_check(&call->in[0], dtype, 3, 4) ||
        !tw_operand_check(&call->out[0], dtype, 3, 4))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    y = call->out[0].tensor;
    w = call->in[1].tensor;
    if (y->rank != x->rank || y->dim[0] != x->dim[0] ||
        !tw_extents_check(&call->in[1], weights, (int)x->rank, (int)x->rank) ||
        !read_spans(call, spans))
        return TW_E_CHECK;
    if (!tw_groups_check(x, w, y, a->group))
        return TW_E_CHECK;
    extents[0] = x->dim[0];
    extents[1] = spans[0].in;
    extents[2] = spans[1].in;
    extents[3] = w->dim[0];
    extents[4] = spans[0].kernel;
    extents[5] = spans[1].kernel;
    extents[6] = w->dim[w->rank - 1];
    return tw_work(work, extents, 7) ? TW_OK : TW_E_CHECK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_transpose_check(call, TW_F32, TW_F32, work);
    return status != TW_OK || tw_bias_check(call, call->in[1].tensor->dim[0]) ? status : TW_E_CHECK;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_transpose_check(call, TW_S8, TW_S8, work);
    if (status != TW_OK)
        return status;
    return tw_is_dense(call->in[1].tensor) && tw_channels_check(call, call->in[1].tensor->dim[0])
               ? TW_OK
               : TW_E_CHECK;
}

static void visit_f32(const void *of, const tw_patch *patch)
{
    const tw_transpose_job *job = (const tw_transpose_job *)of;
    const tw_product *p = &job->product;
    tw_product_f32(p, patch, (const float *)job->x + patch->in + (ptrdiff_t)job->group * p->depth,
                   (const float *)job->w, (const float *)job->bias, (float *)job->y + patch->out,
                   job->outputs);
}

/* sum[k] += (x - zero) . w[k] of up to four outputs that share the loads of x. Unsigned: a sum that a
 * hostile plan makes too large wraps. */
static void dot(const int8_t *x, int32_t zero, const int8_t *w, ptrdiff_t next, int32_t n,
                int32_t count, uint32_t sum[4])
{
    uint32_t a = 0, b = 0, c = 0, d = 0;
    int32_t i, k;
    if (count == 4) {
        for (i = 0; i < n; i++) {
            int32_t v = x[i] - zero;
            a += (uint32_t)(v * w[i]);
            b += (uint32_t)(v * w[i + next]);
            c += (uint32_t)(v * w[i + 2 * next]);
            d += (uint32_t)(v * w[i + 3 * next]);
        }
        sum[0] += a;
        sum[1] += b;
        sum[2] += c;
        sum[3] += d;
        return;
    }
    for (k = 0; k < count; k++)
        for (i = 0; i < n; i++)
            sum[k] += (uint32_t)((x[i] - zero) * w[i + k * next]);
}

/* `count` outputs of one pixel, the first of them o, over the taps inside. */
static void pixel_s8(const tw_transpose_s8 *all, const tw_patch *patch, const int8_t *x, int8_t *y,
                     int32_t o, int32_t count)
{
    const tw_transpose_job *job = &all->job;
    const tw_product *p = &job->product;
    const tw_channels *q = &all->channels;
    const int8_t *w = (const int8_t *)job->w + o * p->w_output;
    uint32_t sum[4] = {0};
    int32_t r, c, k;
    for (k = 0; k < count; k++)
        sum[k] = (uint32_t)q->bias[job->first + o + k];
    for (r = patch->rows.first; r < patch->rows.last; r++)
        for (c = patch->columns.first; c < patch->columns.last; c++)
            dot(x + (r - patch->rows.first) * p->x_row + (c - patch->columns.first) * p->x_column,
                q->in_zero, w + r * p->w_row + c * p->w_column, p->w_output, p->depth, count, sum);
    for (k = 0; k < count; k++)
        y[o + k] = tw_channels_finish(q, job->first + o + k, sum[k]);
}

static void visit_s8(const void *of, const tw_patch *patch)
{
    const tw_transpose_s8 *all = (const tw_transpose_s8 *)of;
    const tw_transpose_job *job = &all->job;
    const tw_product *p = &job->product;
    const int8_t *x = (const int8_t *)job->x + patch->in + (ptrdiff_t)job->group * p->depth;
    int8_t *y = (int8_t *)job->y + patch->out;
    int32_t pixel, o;
    for (pixel = 0; pixel < patch->pixels; pixel++)
        for (o = 0; o < job->outputs; o += 4)
            pixel_s8(all, patch, x + pixel * p->x_pixel, y + pixel * p->y_pixel, o,
                     job->outputs - o < 4 ? job->outputs - o : 4);
}

/* One axis of the outputs from `first` to `end` - 1 of the phase of `first`: the window over the input
 * by which each next one of them moves on by one element. */
static tw_phase phase_window(const tw_span *s, int32_t first, int32_t end, tw_span *window)
{
    const tw_phase phase = tw_phase_of(s, (first + s->pad_begin) % s->stride);
    tw_span w = {0, 0, 1, 1, 1, TW_WINDOW_LIMIT, 0}; /* without taps: nothing is ever inside */
    w.in = s->in;
    w.out = (end - first - 1) / s->stride + 1;
    if (phase.taps > 0) {
        w.kernel = phase.taps;
        w.dilation = phase.reach;
        w.pad_begin = -(first + s->pad_begin - phase.last * s->dilation) / s->stride;
    }
    *window = w;
    return phase;
}

/* The outputs of an image whose first one is (row, column) and that follow at the strides. */
static void phase_image(const tw_image *out, const tw_window_spans *window, const tw_span spans[2],
                        tw_image *phase)
{
    int i;
    *phase = *out;
    for (i = 0; i < 2; i++) {
        phase->begin[1 + i] = 0;
        phase->end[1 + i] = phase->dim[1 + i] = window->axis[i].out;
        phase->stride[1 + i] = (int32_t)tw_steps(spans[i].stride, out->stride[1 + i]);
    }
}

/* The weights of the phase: of the group's first output, last tap, and the steps to the others. */
static void set_weights(tw_transpose_job *job, const tw_view *weights, const tw_phase phase[2],
                        uint32_t bytes)
{
    const tw_tensor *w = weights->tensor;
    tw_product *p = &job->product;
    const ptrdiff_t row = w->rank == 4 ? w->stride[1] : 0, column = w->stride[w->rank - 2];
    p->w_output = w->stride[0];
    p->w_row = -phase[0].step * row;
    p->w_column = -phase[1].step * column;
    p->w_depth = w->stride[w->rank - 1];
    job->w = (const char *)weights->data +
             (phase[0].last * row + phase[1].last * column + job->first * p->w_output) *
                 (ptrdiff_t)bytes;
}

/* All outputs of one group in the phase of output (row, column). */
static tw_status run_phase(const tw_call *call, tw_transpose_job *job, const tw_span spans[2],
                           const tw_image *in, const tw_image *out, int32_t row, int32_t column,
                           const tw_transpose_kind *kind, void *context)
{
    tw_product *p = &job->product;
    tw_window_spans window;
    tw_phase phase[2];
    tw_image part;
    phase[0] = phase_window(&spans[0], row, out->end[1], &window.axis[0]);
    phase[1] = phase_window(&spans[1], column, out->end[2], &window.axis[1]);
    phase_image(out, &window, spans, &part);
    p->rows = phase[0].taps;
    p->columns = phase[1].taps;
    p->x_pixel = in->stride[2];
    p->x_column = tw_steps(phase[1].reach, in->stride[2]);
    p->x_row = tw_steps(phase[0].reach, in->stride[1]);
    p->y_pixel = part.stride[2];
    set_weights(job, &call->in[1], phase, kind->weight_bytes);
    job->y = (char *)call->out[0].data +
             tw_image_at(out, out->begin[0], row, column, job->first) * (ptrdiff_t)kind->bytes;
    return tw_window_walk(&window, in, &part, kind->visit, context);
}

static tw_status run_group(const tw_call *call, tw_transpose_job *job, const tw_span spans[2],
                           const tw_image *in, const tw_image *out, const tw_transpose_kind *kind,
                           void *context)
{
    int32_t row, column;
    for (row = out->begin[1]; row < out->end[1] && row - out->begin[1] < spans[0].stride; row++) {
        for (column = out->begin[2];
             column < out->end[2] && column - out->begin[2] < spans[1].stride; column++) {
            tw_status status = run_phase(call, job, spans, in, out, row, column, kind, context);
            if (status != TW_OK)
                return status;
        }
    }
    return TW_OK;
}

tw_status tw_transpose_run(const tw_call *call, tw_transpose_job *job, const float *bias,
                           const tw_transpose_kind *kind, void *context)
{
    const tw_conv_transpose_attributes *a = (const tw_conv_transpose_attributes *)call->attributes;
    const tw_tensor *w = call->in[1].tensor;
    const int32_t outputs = w->dim[0] / a->group;
    tw_span spans[2];
    tw_image in, out;
    int32_t end;
    if (!read_spans(call, spans) || !tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    tw_image_of(&call->in[0], &in);
    tw_image_of(&call->out[0], &out);
    job->x = call->in[0].data;
    job->product.depth = w->dim[w->rank - 1];
    job->product.low = call->clamp_low;
    job->product.high = call->clamp_high;
    for (job->first = out.begin[3]; job->first < out.end[3]; job->first = end) {
        tw_status status;
        job->group = job->first / outputs;
        end = (job->group + 1) * outputs;
        end = end < out.end[3] ? end : out.end[3];
        job->outputs = end - job->first;
        job->bias = bias ? bias + job->first : NULL;
        status = run_group(call, job, spans, &in, &out, kind, context);
        if (status != TW_OK)
            return status;
    }
    return TW_OK;
}

static tw_status run_f32(const tw_call *call)
{
    static const tw_transpose_kind kind = {4, 4, visit_f32};
    tw_transpose_job job;
    const float *bias = NULL;
    if (call->in_count == 3 && call->in[2].tensor) {
        if (!tw_is_whole(&call->in[2]))
            return TW_E_DATA;
        bias = (const float *)call->in[2].data;
    }
    return tw_transpose_run(call, &job, bias, &kind, &job);
}

static tw_status run_s8(const tw_call *call)
{
    static const tw_transpose_kind kind = {1, 1, visit_s8};
    tw_transpose_s8 all;
    tw_channels_of(call, &all.channels);
    return tw_transpose_run(call, &all.job, NULL, &kind, &all);
}

TW_KERNEL_BLOCKS(conv_transpose, f32, run_f32, check_f32);
TW_KERNEL_BLOCKS(conv_transpose, s8, run_s8, check_s8);
