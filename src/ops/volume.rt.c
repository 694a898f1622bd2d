/* Convolutions of three axes: kernels. In: operands as the check has verified them. Out: the band, slice by
 * slice; what a slice has from one tap is where the next goes on, and the last one bounds it. */
#include "ops/volume.h"

#include "ops/codes.h"
#include "ops/conv_job.h"
#include "ops/conv_transpose_job.h"

/* One slice of input, weights and output as a call of two spatial axes. */
typedef struct tw_slice {
    tw_tensor tensor[3]; /* x, w, out */
    tw_view in[2], out[1];
    tw_conv_transpose_attributes attributes; /* of Conv as far as they go */
    tw_call call;
} tw_slice;

typedef struct tw_volume_job {
    union {
        tw_conv_job conv;
        tw_transpose_job transpose;
    } as;
    const float *bias; /* of all outputs; null for none */
    int again;         /* the output holds what earlier taps have given */
} tw_volume_job;

/* ---- slices ---- */

static tw_ints behind_first(const tw_ints *list)
{
    tw_ints rest;
    memset(&rest, 0, sizeof rest);
    if (list->count == 3) {
        rest.count = 2;
        rest.v[0] = list->v[1];
        rest.v[1] = list->v[2];
    }
    return rest;
}

static tw_tensor without_axis(const tw_tensor *from, int32_t first)
{
    tw_tensor t = *from;
    int32_t k;
    t.rank = 4;
    t.dim[0] = first;
    for (k = 1; k < 4; k++) {
        t.dim[k] = from->dim[k + 1];
        t.stride[k] = from->stride[k + 1];
    }
    return t;
}

/* The view of one slice; its address is still to be set. */
static tw_view slice_view(const tw_view *from, const tw_tensor *tensor)
{
    tw_view v = *from;
    v.tensor = tensor;
    v.axis = from->axis >= 2 ? from->axis - 1 : 0;
    v.row = from->axis >= 2 ? from->row : 0;
    v.rows = from->axis >= 2 ? from->rows : 1;
    return v;
}

static void open_slice(const tw_call *call, int transposed, tw_slice *s)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    memset(&s->attributes, 0, sizeof s->attributes);
    s->attributes.stride = behind_first(&a->stride);
    s->attributes.dilation = behind_first(&a->dilation);
    s->attributes.pad_begin = behind_first(&a->pad_begin);
    s->attributes.pad_end = behind_first(&a->pad_end);
    s->attributes.group = a->group;
    if (transposed)
        s->attributes.output_pad =
            behind_first(&((const tw_conv_transpose_attributes *)call->attributes)->output_pad);
    s->tensor[0] = without_axis(call->in[0].tensor, 1);
    s->tensor[1] = without_axis(call->in[1].tensor, call->in[1].tensor->dim[0]);
    s->tensor[2] = without_axis(call->out[0].tensor, 1);
    s->in[0] = slice_view(&call->in[0], &s->tensor[0]);
    s->in[1] = call->in[1];
    s->in[1].tensor = &s->tensor[1];
    s->in[1].axis = 0;
    s->in[1].row = 0;
    s->in[1].rows = s->tensor[1].dim[0];
    s->out[0] = slice_view(&call->out[0], &s->tensor[2]);
    s->call = *call;
    s->call.in = s->in;
    s->call.out = s->out;
    s->call.in_count = 2;
    s->call.attributes = &s->attributes;
    s->call.attribute_bytes =
        transposed ? sizeof(tw_conv_transpose_attributes) : sizeof(tw_conv_attributes);
}

static void *slice_at(const tw_view *v, int32_t batch, int32_t slice)
{
    const ptrdiff_t at = (ptrdiff_t)(batch - (v->axis == 0 ? v->row : 0)) * v->tensor->stride[0] +
                         (ptrdiff_t)(slice - (v->axis == 1 ? v->row : 0)) * v->tensor->stride[1];
    return (char *)v->data + at * (ptrdiff_t)sizeof(float);
}

/* ---- check ---- */

static int read_span(const tw_call *call, int transposed, tw_span *s)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    int32_t added = 0;
    if (transposed) {
        const tw_ints *list = &((const tw_conv_transpose_attributes *)call->attributes)->output_pad;
        if (list->count != 0 && list->count != 3)
            return 0;
        added = list->count ? list->v[0] : 0;
    }
    if (!tw_window_entry(s, &lists, 3, 0) || s->stride > TW_PHASES_MOST)
        return 0; /* the other axes are for the check of two */
    s->in = call->in[0].tensor->dim[1];
    s->out = call->out[0].tensor->dim[1];
    s->kernel = call->in[1].tensor->dim[1];
    if (s->in < 1 || s->out < 1 || s->kernel < 1 || tw_window_reach(s) > TW_WINDOW_LIMIT ||
        added < 0 || added > TW_WINDOW_MOST)
        return 0;
    return s->out == (transposed ? tw_transposed_extent(s) + added : tw_window_extent(s, 0));
}

static int times(uint64_t *work, int32_t factor)
{
    if (factor < 0 || (factor > 0 && *work > (uint64_t)INT64_MAX / (uint32_t)factor))
        return 0;
    *work *= (uint32_t)factor;
    return 1;
}

static tw_status check(const tw_call *call, int transposed, uint64_t *work)
{
    tw_slice s;
    tw_span span;
    tw_status status;
    if (call->in_count < 2 || call->in_count > 3 || call->out_count != 1 ||
        call->attribute_bytes !=
            (transposed ? sizeof(tw_conv_transpose_attributes) : sizeof(tw_conv_attributes)) ||
        !tw_operand_check(&call->in[0], TW_F32, 5, 5) ||
        !tw_extents_check(&call->in[1], TW_F32, 5, 5) ||
        !tw_operand_check(&call->out[0], TW_F32, 5, 5) ||
        call->in[0].tensor->dim[0] != call->out[0].tensor->dim[0] ||
        !read_span(call, transposed, &span) || !tw_bias_check(call, call->in[1].tensor->dim[0]))
        return TW_E_CHECK;
    open_slice(call, transposed, &s);
    status = transposed ? tw_transpose_check(&s.call, TW_F32, TW_F32, work)
                        : tw_conv_check(&s.call, TW_F32, TW_F32, work);
    if (status != TW_OK || !times(work, call->in[0].tensor->dim[0]) || !times(work, span.kernel) ||
        !times(work, transposed ? span.in : span.out))
        return TW_E_CHECK;
    return TW_OK;
}

static tw_status check_conv3d(const tw_call *call, uint64_t *work)
{
    return check(call, 0, work);
}

static tw_status check_conv_transpose3d(const tw_call *call, uint64_t *work)
{
    return check(call, 1, work);
}

/* ---- sums ---- */

static void product(const tw_volume_job *job, const tw_product *p, const tw_patch *patch,
                    const float *x, const float *w, int32_t first, float *y, int32_t outputs)
{
    tw_patch one = *patch;
    int32_t pixel;
    if (!job->again) {
        tw_product_f32(p, patch, x, w, job->bias ? job->bias + first : NULL, y, outputs);
        return;
    }
    one.pixels = 1;
    for (pixel = 0; pixel < patch->pixels; pixel++)
        tw_product_f32(p, &one, x + pixel * p->x_pixel, w, y + pixel * p->y_pixel,
                       y + pixel * p->y_pixel, outputs);
}

static void visit_conv(const void *of, const tw_patch *patch)
{
    const tw_volume_job *all = (const tw_volume_job *)of;
    const tw_conv_job *job = &all->as.conv;
    const tw_product *p = &job->product;
    int32_t o, next;
    for (o = job->begin; o < job->end; o = next) {
        next = tw_conv_group_end(job, o);
        product(all, p, patch, (const float *)job->x + patch->in + tw_conv_group_depth(job, o),
                (const float *)job->w + o * p->w_output, o,
                (float *)job->y + patch->out + (o - job->begin), next - o);
    }
}

static void visit_transpose(const void *of, const tw_patch *patch)
{
    const tw_volume_job *all = (const tw_volume_job *)of;
    const tw_transpose_job *job = &all->as.transpose;
    const tw_product *p = &job->product;
    product(all, p, patch, (const float *)job->x + patch->in + (ptrdiff_t)job->group * p->depth,
            (const float *)job->w, job->first, (float *)job->y + patch->out, job->outputs);
}

static tw_status run_slice(const tw_slice *s, tw_volume_job *job, int transposed)
{
    static const tw_transpose_kind kind = {sizeof(float), sizeof(float), visit_transpose};
    return transposed ? tw_transpose_run(&s->call, &job->as.transpose, NULL, &kind, job)
                      : tw_conv_run(&s->call, &job->as.conv, visit_conv, job);
}

/* Is input slice i present? */
static int holds(const tw_view *x, int32_t i)
{
    return x->axis != 1 || (i >= x->row && i < x->row + x->rows);
}

/* Output slice o of one batch. */
static tw_status run_output(const tw_call *call, tw_slice *s, const tw_span *span,
                            tw_volume_job *job, int transposed, int32_t batch, int32_t o)
{
    const tw_view *x = &call->in[0];
    const tw_view present = s->in[0];
    int32_t k, i, last = -1;
    tw_status status = TW_OK;
    for (k = 0; k < span->kernel; k++)
        if ((transposed ? tw_slice_of_transpose(span, o, k) : tw_slice_of_conv(span, o, k)) >= 0)
            last = k;
    s->out[0].data = slice_at(&call->out[0], batch, o);
    job->again = 0;
    for (k = 0; k <= (last < 0 ? 0 : last) && status == TW_OK; k++) {
        i = transposed ? tw_slice_of_transpose(span, o, k) : tw_slice_of_conv(span, o, k);
        if (i < 0 && last >= 0)
            continue;
        if (i >= 0 && !holds(x, i))
            return TW_E_SCHEDULE;
        s->in[0] = present;
        if (i >= 0) {
            s->in[0].data = slice_at(x, batch, i);
        } else { /* no tap inside: the bias alone */
            s->in[0].axis = 1;
            s->in[0].row = s->in[0].rows = 0;
        }
        s->in[1].data = (char *)call->in[1].data +
                        (ptrdiff_t)k * call->in[1].tensor->stride[1] * (ptrdiff_t)sizeof(float);
        s->call.clamp_low = call->clamp_low;
        s->call.clamp_high = call->clamp_high;
        if (k < last) {
            s->call.clamp_low.f32 = -__builtin_inff();
            s->call.clamp_high.f32 = __builtin_inff();
        }
        status = run_slice(s, job, transposed);
        job->again = 1;
    }
    s->in[0] = present;
    return status;
}

static tw_status run(const tw_call *call, int transposed)
{
    const tw_view *out = &call->out[0], *x = &call->in[0];
    const int32_t begin = out->axis == 0 ? out->row : 0;
    const int32_t end = out->axis == 0 ? out->row + out->rows : out->tensor->dim[0];
    const int32_t first = out->axis == 1 ? out->row : 0;
    const int32_t last = out->axis == 1 ? out->row + out->rows : out->tensor->dim[1];
    tw_slice s;
    tw_span span;
    tw_volume_job job;
    int32_t batch, o;
    job.bias = NULL;
    if (!read_span(call, transposed, &span) || !tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    if (call->in_count == 3 && call->in[2].tensor) {
        if (!tw_is_whole(&call->in[2]))
            return TW_E_DATA;
        job.bias = (const float *)call->in[2].data;
    }
    if (x->axis == 0 && (x->row > begin || x->row + x->rows < end))
        return TW_E_SCHEDULE;
    open_slice(call, transposed, &s);
    for (batch = begin; batch < end; batch++) {
        for (o = first; o < last; o++) {
            const tw_status status = run_output(call, &s, &span, &job, transposed, batch, o);
            if (status != TW_OK)
                return status;
        }
    }
    return TW_OK;
}

static tw_status run_conv3d(const tw_call *call)
{
    return run(call, 0);
}

static tw_status run_conv_transpose3d(const tw_call *call)
{
    return run(call, 1);
}

TW_KERNEL(conv3d, f32, run_conv3d, check_conv3d);
TW_KERNEL(conv_transpose3d, f32, run_conv_transpose3d, check_conv_transpose3d);
