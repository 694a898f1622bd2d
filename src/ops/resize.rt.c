/* Resampling kernels. In: x and the table of resize.h, verified by the check. Out: the band, a run along
 * the innermost axis at a time, or one element where that axis is resampled too. */
#include "ops/resize.h"

#include "ops/codes.h"
#include "ops/product.h"
#include "runtime/move.h"

enum { BLOCK = 16 };

/* One axis: outputs [begin, end), steps in elements. */
typedef struct tw_resize_loop {
    int32_t begin, end, taps;
    const int32_t *first, *count;
    const void *weight;
    ptrdiff_t in_step, out_step;
    int32_t in_base; /* the input index that the view's address stands for */
} tw_resize_loop;

typedef struct tw_resize_job {
    int32_t rank;
    tw_resize_loop loop[TW_MAX_RANK];
    int32_t index[TW_MAX_RANK]; /* of the output in hand */
    float extrapolation;
    int32_t shift;
} tw_resize_job;

/* ---- check ---- */

static int check_axis(const tw_call *call, int32_t k, int weighted, int32_t *taps)
{
    const int32_t *words = (const int32_t *)call->blobs[0].data;
    const tw_resize_axis *axis = (const tw_resize_axis *)call->blobs[0].data + k;
    const int32_t in = call->in[0].tensor->dim[k], out = call->out[0].tensor->dim[k];
    const uint64_t all = call->blobs[0].bytes / 4u;
    int32_t o;
    *taps = 1;
    if (axis->taps == 0)
        return in == out;
    if (axis->taps < 0 || axis->at < 0 ||
        (uint64_t)(uint32_t)out * (2u + (weighted ? (uint64_t)(uint32_t)axis->taps : 0u)) +
                (uint32_t)axis->at >
            all)
        return 0;
    for (o = 0; o < out; o++) {
        const int32_t first = words[axis->at + o], count = words[axis->at + out + o];
        if (first < 0 || count < (weighted ? 0 : 1) || count > axis->taps || first > in - count)
            return 0;
    }
    *taps = axis->taps;
    return 1;
}

/* Work counts the taps of every output. */
static tw_status check(const tw_call *call, uint32_t dtype, int weighted, uint64_t *work)
{
    const tw_tensor *x, *y;
    int32_t extents[2 * TW_MAX_RANK], k, resampled = 0;
    if (call->in_count != 1 || call->out_count != 1 || call->blob_count != 1 ||
        call->attribute_bytes != sizeof(tw_resize_attributes) ||
        !tw_extents_check(&call->in[0], dtype, 0, TW_MAX_RANK) ||
        !tw_extents_check(&call->out[0], dtype, 0, TW_MAX_RANK))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    y = call->out[0].tensor;
    if (x->rank != y->rank || ((uintptr_t)call->blobs[0].data & 3u) != 0 ||
        call->blobs[0].bytes / sizeof(tw_resize_axis) < y->rank)
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)y->rank; k++) {
        extents[2 * k] = y->dim[k];
        if (!check_axis(call, k, weighted, &extents[2 * k + 1]))
            return TW_E_CHECK;
        resampled += ((const tw_resize_axis *)call->blobs[0].data)[k].taps != 0;
    }
    if (dtype == TW_S8 && weighted && resampled > 2)
        return TW_E_CHECK;
    return tw_work(work, extents, 2 * (int)y->rank) ? TW_OK : TW_E_CHECK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return check(call, TW_F32, 1, work);
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    return check(call, TW_S8, 1, work);
}

static tw_status check_any(const tw_call *call, uint64_t *work)
{
    const tw_status status = tw_check_move(call, 1, 1, work);
    return status == TW_OK ? check(call, call->out[0].tensor->dtype, 0, work) : status;
}

/* ---- loops ---- */

/* Are the inputs of the outputs on axis k present? */
static int is_present(const tw_view *in, int32_t k, const tw_resize_loop *l)
{
    int32_t o;
    if (l->taps == 0)
        return tw_holds_of(in, k, l->begin, l->end - l->begin);
    for (o = l->begin; o < l->end; o++)
        if (l->count[o] > 0 && !tw_holds_of(in, k, l->first[o], l->count[o]))
            return 0;
    return 1;
}

/* Does any output along the axis read the input? */
static int has_taps(const tw_resize_loop *l)
{
    int32_t o;
    for (o = l->begin; o < l->end; o++)
        if (l->taps == 0 || l->count[o] > 0)
            return 1;
    return 0;
}

/* Does the view hold what is read of it? Outputs outside the input on any axis read nothing. */
static int is_held(const tw_resize_job *job, const tw_view *in)
{
    int32_t k;
    for (k = 0; k < job->rank; k++)
        if (!has_taps(&job->loop[k]))
            return 1;
    for (k = in->axis; k <= in->axis + (in->columns != 0) && k < job->rank; k++)
        if (!is_present(in, k, &job->loop[k]))
            return 0;
    return 1;
}

/* TW_NO_OUTPUT: there is nothing to do. */
static tw_status open_job(tw_resize_job *job, const tw_call *call)
{
    const tw_view *in = &call->in[0], *out = &call->out[0];
    const int32_t *words = (const int32_t *)call->blobs[0].data;
    int32_t k, empty = 0;
    memset(job, 0, sizeof *job);
    job->rank = (int32_t)out->tensor->rank;
    job->extrapolation = ((const tw_resize_attributes *)call->attributes)->extrapolation;
    for (k = 0; k < job->rank; k++) {
        const tw_resize_axis *axis = (const tw_resize_axis *)call->blobs[0].data + k;
        tw_resize_loop *l = &job->loop[k];
        const int32_t n = out->tensor->dim[k];
        l->begin = tw_first_of(out, k);
        l->end = l->begin + tw_count_of(out, k);
        l->taps = axis->taps;
        l->first = words + axis->at;
        l->count = l->first + n;
        l->weight = l->count + n;
        l->in_step = in->tensor->stride[k];
        l->out_step = out->tensor->stride[k];
        l->in_base = tw_first_of(in, k);
        job->index[k] = l->begin;
        job->shift += l->taps ? TW_RESIZE_BITS : 0;
        empty |= l->end <= l->begin;
    }
    if (empty)
        return TW_NO_OUTPUT;
    return is_held(job, in) ? TW_OK : TW_E_SCHEDULE;
}

/* Elements from the views' data to the run in hand, at the first tap of every axis before `axes`. 0:
 * an axis has no tap. */
static int locate(const tw_resize_job *job, int32_t axes, ptrdiff_t *from, ptrdiff_t *to)
{
    int32_t k;
    *from = *to = 0;
    for (k = 0; k < axes; k++) {
        const tw_resize_loop *l = &job->loop[k];
        const int32_t o = job->index[k], i = l->taps ? l->first[o] : o;
        *from += (i - l->in_base) * l->in_step;
        *to += (o - l->begin) * l->out_step;
        if (l->taps && l->count[o] == 0)
            return 0;
    }
    return 1;
}

static void locate_out(const tw_resize_job *job, int32_t axes, ptrdiff_t *to)
{
    int32_t k;
    *to = 0;
    for (k = 0; k < axes; k++)
        *to += (job->index[k] - job->loop[k].begin) * job->loop[k].out_step;
}

/* The axes that are walked one index at a time: all but an innermost one that is kept. */
static int32_t outer_axes(const tw_resize_job *job)
{
    const tw_resize_loop *last = &job->loop[job->rank > 0 ? job->rank - 1 : 0];
    return job->rank > 0 && last->taps == 0 && last->in_step == 1 && last->out_step == 1
               ? job->rank - 1
               : job->rank;
}

static int32_t run_length(const tw_resize_job *job, int32_t axes)
{
    return axes < job->rank ? job->loop[axes].end - job->loop[axes].begin : 1;
}

static int next_output(tw_resize_job *job, int32_t axes)
{
    int32_t k;
    for (k = axes - 1; k >= 0; k--) {
        if (++job->index[k] < job->loop[k].end)
            return 1;
        job->index[k] = job->loop[k].begin;
    }
    return 0;
}

/* The taps of one output on all axes, as an odometer. */
typedef struct tw_resize_taps {
    int32_t tap[TW_MAX_RANK];
    ptrdiff_t offset; /* elements from the first tap */
} tw_resize_taps;

static int next_tap(const tw_resize_job *job, int32_t axes, tw_resize_taps *t)
{
    int32_t k;
    for (k = axes - 1; k >= 0; k--) {
        const tw_resize_loop *l = &job->loop[k];
        if (l->taps == 0)
            continue;
        t->offset += l->in_step;
        if (++t->tap[k] < l->count[job->index[k]])
            return 1;
        t->offset -= t->tap[k] * l->in_step;
        t->tap[k] = 0;
    }
    return 0;
}

static const int32_t *weights_at(const tw_resize_job *job, int32_t k)
{
    const tw_resize_loop *l = &job->loop[k];
    return (const int32_t *)l->weight + (ptrdiff_t)job->index[k] * l->taps;
}

/* ---- float ---- */

static float weight_f32(const tw_resize_job *job, int32_t axes, const tw_resize_taps *t)
{
    float weight = 1.0f;
    int32_t k;
    for (k = 0; k < axes; k++)
        if (job->loop[k].taps != 0)
            weight *= ((const float *)(const void *)weights_at(job, k))[t->tap[k]];
    return weight;
}

static void run_of_f32(const tw_resize_job *job, int32_t axes, const float *x, float *y, int32_t n)
{
    tw_resize_taps t;
    int32_t c;
    memset(&t, 0, sizeof t);
    for (c = 0; c < n; c++)
        y[c] = 0.0f;
    do {
        const float weight = weight_f32(job, axes, &t);
        const float *from = x + t.offset;
        for (c = 0; c < n; c++)
            y[c] += weight * from[c];
    } while (next_tap(job, axes, &t));
}

static tw_status run_f32(const tw_call *call)
{
    tw_resize_job job;
    const tw_status status = open_job(&job, call);
    const int32_t axes = outer_axes(&job), n = run_length(&job, axes);
    if (status != TW_OK)
        return status == TW_NO_OUTPUT ? TW_OK : status;
    do {
        ptrdiff_t from, to;
        int32_t c;
        if (locate(&job, axes, &from, &to)) {
            run_of_f32(&job, axes, (const float *)call->in[0].data + from,
                       (float *)call->out[0].data + to, n);
        } else {
            locate_out(&job, axes, &to);
            for (c = 0; c < n; c++)
                ((float *)call->out[0].data)[to + c] = job.extrapolation;
        }
    } while (next_output(&job, axes));
    return TW_OK;
}

/* ---- int8 ---- */

/* Unsigned: a sum that a hostile plan makes too large wraps. */
static uint32_t weight_s8(const tw_resize_job *job, int32_t axes, const tw_resize_taps *t)
{
    uint32_t weight = 1;
    int32_t k;
    for (k = 0; k < axes; k++)
        if (job->loop[k].taps != 0)
            weight *= (uint32_t)weights_at(job, k)[t->tap[k]];
    return weight;
}

static TW_INLINE void block_s8(const tw_resize_job *job, int32_t axes, const int8_t *x, int8_t *y,
                               const int n)
{
    const int32_t one = (int32_t)1 << job->shift;
    const uint32_t half = (uint32_t)one >> 1;
    uint32_t sum[BLOCK] = {0};
    tw_resize_taps t;
    int c;
    memset(&t, 0, sizeof t);
    do {
        const uint32_t weight = weight_s8(job, axes, &t);
        const int8_t *from = x + t.offset;
        for (c = 0; c < n; c++) {
            const int32_t v = from[c];
            sum[c] += weight * (uint32_t)v;
        }
    } while (next_tap(job, axes, &t));
    for (c = 0; c < n; c++) {
        const int32_t v = (int32_t)(sum[c] + ((int32_t)sum[c] > 0 ? half : 0u - half));
        y[c] = (int8_t)tw_clamp_s32(v / one, INT8_MIN, INT8_MAX); /* cubic overshoots */
    }
}

static tw_status run_s8(const tw_call *call)
{
    tw_resize_job job;
    const tw_status status = open_job(&job, call);
    const int32_t axes = outer_axes(&job), n = run_length(&job, axes);
    if (status != TW_OK)
        return status == TW_NO_OUTPUT ? TW_OK : status;
    do {
        ptrdiff_t from, to;
        int32_t c;
        const int8_t *x = (const int8_t *)call->in[0].data;
        int8_t *y = (int8_t *)call->out[0].data;
        if (!locate(&job, axes, &from, &to))
            return TW_E_DATA;
        for (c = 0; c + BLOCK <= n; c += BLOCK)
            block_s8(&job, axes, x + from + c, y + to + c, BLOCK);
        if (c < n)
            block_s8(&job, axes, x + from + c, y + to + c, n - c);
    } while (next_output(&job, axes));
    return TW_OK;
}

/* ---- moves ---- */

static tw_status run_any(const tw_call *call)
{
    tw_resize_job job;
    const tw_status status = open_job(&job, call);
    const int32_t axes = outer_axes(&job), n = run_length(&job, axes);
    const size_t bytes = tw_dtype_bytes(call->out[0].tensor->dtype);
    if (status != TW_OK)
        return status == TW_NO_OUTPUT ? TW_OK : status;
    do {
        ptrdiff_t from, to;
        if (!locate(&job, axes, &from, &to))
            return TW_E_DATA;
        memmove((char *)call->out[0].data + to * (ptrdiff_t)bytes,
                (const char *)call->in[0].data + from * (ptrdiff_t)bytes, (size_t)n * bytes);
    } while (next_output(&job, axes));
    return TW_OK;
}

TW_KERNEL_BLOCKS(resize, f32, run_f32, check_f32);
TW_KERNEL_BLOCKS(resize, s8, run_s8, check_s8);
TW_KERNEL_BLOCKS(resize_nearest, any, run_any, check_any);
