/* GridSample: kernel. In: x whole, the grid's rows of the band. Out: the band, one place after the other,
 * its channels side by side. */
#include "ops/grid_sample.h"

#include "ops/codes.h"
#include "ops/pad.h"
#include "ops/product.h"
#include "runtime/math.h"

enum { SPATIAL = 3, TAPS = 4 };

/* The taps of a place on one axis: input indices (-1: outside, where that is zero) and weights. */
typedef struct tw_grid_axis {
    int32_t count, index[TAPS];
    float weight[TAPS];
} tw_grid_axis;

typedef struct tw_grid_job {
    const tw_grid_sample_attributes *attributes;
    int32_t spatial, extent[SPATIAL], channels;
    ptrdiff_t step[SPATIAL];
} tw_grid_job;

/* Positions are kept to what an int32_t holds and a float tells apart; a NaN is far outside. */
static float within(float x)
{
    const float far = 16777216.0f;
    return x > -far ? (x < far ? x : far) : -far;
}

/* x mirrored about low and high until it lies between them. */
static float mirror(float x, float low, float high)
{
    const float range = high - low;
    float beyond, turns;
    if (!(range > 0.0f))
        return low;
    beyond = x < low ? low - x : x - high;
    if (beyond <= 0.0f)
        return x;
    turns = tw_truncf(beyond / range);
    beyond -= turns * range;
    if ((x < low) == (tw_fmodf(turns, 2.0f) == 0.0f))
        return low + beyond;
    return high - beyond;
}

/* The element that position i of an axis of n stands for. */
static int32_t element(const tw_grid_sample_attributes *a, int32_t i, int32_t n)
{
    if (i >= 0 && i < n)
        return i;
    if (a->padding == TW_GRID_ZEROS)
        return -1;
    if (a->padding == TW_GRID_BORDER)
        return i < 0 ? 0 : n - 1;
    return tw_pad_source(a->align_corners ? TW_PAD_REFLECT : TW_PAD_SYMMETRIC, i, n);
}

static void cubic_weights(float t, float *weight)
{
    const float a = -0.75f, s = 1.0f - t;
    weight[0] = ((a * (t + 1.0f) - 5.0f * a) * (t + 1.0f) + 8.0f * a) * (t + 1.0f) - 4.0f * a;
    weight[1] = ((a + 2.0f) * t - (a + 3.0f)) * t * t + 1.0f;
    weight[2] = ((a + 2.0f) * s - (a + 3.0f)) * s * s + 1.0f;
    weight[3] = ((a * (s + 1.0f) - 5.0f * a) * (s + 1.0f) + 8.0f * a) * (s + 1.0f) - 4.0f * a;
}

static void find_taps(const tw_grid_sample_attributes *a, float place, int32_t n, tw_grid_axis *t)
{
    const float last = (float)(n - 1);
    const float low = a->align_corners ? 0.0f : -0.5f, high = a->align_corners ? last : last + 0.5f;
    float x =
        a->align_corners ? (place + 1.0f) / 2.0f * last : ((place + 1.0f) * (float)n - 1.0f) / 2.0f;
    int32_t first, k;
    x = within(x);
    if (a->mode == TW_GRID_NEAREST)
        x = tw_rintf(x);
    if (a->mode != TW_GRID_CUBIC && (x < low || x > high)) { /* of cubic, every tap is */
        if (a->padding == TW_GRID_BORDER)
            x = tw_clampf(x, 0.0f, last);
        else if (a->padding == TW_GRID_REFLECTION)
            x = mirror(x, low, high);
    }
    first = (int32_t)tw_floorf(x);
    t->count = a->mode == TW_GRID_NEAREST ? 1 : a->mode == TW_GRID_LINEAR ? 2 : 4;
    t->weight[0] = 1.0f;
    if (a->mode == TW_GRID_LINEAR) {
        t->weight[1] = x - (float)first;
        t->weight[0] = 1.0f - t->weight[1];
    } else if (a->mode == TW_GRID_CUBIC) {
        cubic_weights(x - (float)first, t->weight);
        first--;
    }
    for (k = 0; k < t->count; k++)
        t->index[k] = element(a, first + k, n);
}

/* One place: all combinations of the axes' taps. */
static void sample(const tw_grid_job *job, const float *x, const float *place, float *y)
{
    tw_grid_axis axis[SPATIAL];
    int32_t tap[SPATIAL] = {0}, k, c;
    for (k = 0; k < job->spatial; k++)
        find_taps(job->attributes, place[job->spatial - 1 - k], job->extent[k], &axis[k]);
    for (c = 0; c < job->channels; c++)
        y[c] = 0.0f;
    do {
        const float *from = x;
        float weight = 1.0f;
        int inside = 1;
        for (k = 0; k < job->spatial; k++) {
            const int32_t i = axis[k].index[tap[k]];
            weight *= axis[k].weight[tap[k]];
            inside = inside && i >= 0;
            from += (i < 0 ? 0 : i) * job->step[k];
        }
        for (c = 0; inside && c < job->channels; c++)
            y[c] += weight * from[c];
        for (k = job->spatial - 1; k >= 0 && ++tap[k] == axis[k].count; k--)
            tap[k] = 0;
    } while (k >= 0);
}

static ptrdiff_t offset(const tw_view *v, const int32_t *index, int32_t axes)
{
    ptrdiff_t at = 0;
    int32_t k;
    for (k = 0; k < axes; k++)
        at += (ptrdiff_t)(index[k] - (k == v->axis ? v->row : 0)) * v->tensor->stride[k];
    return at;
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *grid = &call->in[1], *out = &call->out[0];
    const int32_t last = (int32_t)out->tensor->rank - 1;
    int32_t index[TW_MAX_RANK] = {0}, begin[TW_MAX_RANK], end[TW_MAX_RANK], k;
    const float *from = (const float *)x->data;
    tw_grid_job job;
    job.attributes = (const tw_grid_sample_attributes *)call->attributes;
    job.spatial = last - 1;
    for (k = 0; k <= last; k++) {
        index[k] = begin[k] = k == out->axis ? out->row : 0;
        end[k] = k == out->axis ? out->row + out->rows : out->tensor->dim[k];
        if (end[k] <= begin[k])
            return TW_OK;
    }
    for (k = 0; k < job.spatial; k++) {
        job.extent[k] = x->tensor->dim[1 + k];
        job.step[k] = x->tensor->stride[1 + k];
    }
    job.channels = end[last] - begin[last];
    for (k = 0; k <= last; k++) { /* channels and batches of x as of out, places as of out */
        const int32_t low = k == 0 || k == last ? begin[k] : 0;
        const int32_t high = k == 0 || k == last ? end[k] : x->tensor->dim[k];
        if ((k == x->axis && (low < x->row || high > x->row + x->rows)) ||
            (k == grid->axis && (grid->row > (k == last ? 0 : begin[k]) ||
                                 grid->row + grid->rows < (k == last ? job.spatial : end[k]))))
            return TW_E_SCHEDULE;
    }
    from += (begin[last] - (x->axis == last ? x->row : 0)) * (ptrdiff_t)x->tensor->stride[last];
    do {
        sample(&job, from + offset(x, index, 1),
               (const float *)grid->data + offset(grid, index, last),
               (float *)out->data + offset(out, index, last));
        for (k = last - 1; k >= 0 && ++index[k] == end[k]; k--)
            index[k] = begin[k];
    } while (k >= 0);
    return TW_OK;
}

/* Work counts the taps of every output. */
static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_grid_sample_attributes *a = (const tw_grid_sample_attributes *)call->attributes;
    const tw_tensor *x, *grid, *y;
    int32_t extents[TW_MAX_RANK + SPATIAL], k, count = 0;
    if (call->in_count != 2 || call->out_count != 1 || call->attribute_bytes != sizeof *a ||
        a->mode < 0 || a->mode > TW_GRID_CUBIC || a->padding < 0 ||
        a->padding > TW_GRID_REFLECTION || (a->align_corners & ~1) != 0 ||
        !tw_operand_check(&call->in[0], TW_F32, 3, 5) ||
        !tw_operand_check(&call->in[1], TW_F32, 3, 5) ||
        !tw_operand_check(&call->out[0], TW_F32, 3, 5))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    grid = call->in[1].tensor;
    y = call->out[0].tensor;
    if (grid->rank != x->rank || y->rank != x->rank || x->dim[0] != y->dim[0] ||
        grid->dim[x->rank - 1] != (int32_t)x->rank - 2 ||
        x->dim[x->rank - 1] != y->dim[y->rank - 1])
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)x->rank; k++) {
        extents[count++] = y->dim[k];
        if (k == 0 || k + 1 == (int32_t)x->rank)
            continue;
        if (x->dim[k] < 1 || x->dim[k] > 1 << 24)
            return TW_E_CHECK;
        extents[count++] = a->mode == TW_GRID_NEAREST ? 1 : a->mode == TW_GRID_LINEAR ? 2 : 4;
    }
    for (k = 0; k + 1 < (int32_t)x->rank; k++)
        if (grid->dim[k] != y->dim[k])
            return TW_E_CHECK;
    return tw_work(work, extents, count) ? TW_OK : TW_E_CHECK;
}

TW_KERNEL(grid_sample, f32, run, check);
