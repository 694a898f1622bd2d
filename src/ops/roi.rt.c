/* RoiAlign and MaxRoiPool: kernels. In: x whole, the regions of the band. Out: the band, cell by cell, its
 * channels side by side. A batch that x does not have is an error of the data, and so is a cell of too
 * many places. */
#include "ops/roi.h"

#include "ops/codes.h"
#include "ops/product.h"
#include "runtime/math.h"

typedef struct tw_roi_job {
    const tw_roi_attributes *attributes;
    int32_t height, width, channels; /* of x; channels present */
    ptrdiff_t row, column;           /* of x, elements */
    const float *x;                  /* the region's batch */
    float left, top, cell_width, cell_height;
    int32_t across, down; /* places of a cell */
} tw_roi_job;

static float within(float x, float low, float high)
{
    return x > low ? (x < high ? x : high) : low; /* NaN: low */
}

/* ---- RoiAlign ---- */

/* Around a position on an axis of n elements: two elements and the weight of the second. 0: outside. */
static int neighbours(float at, int32_t n, int32_t index[2], float *weight)
{
    if (!(at >= -1.0f && at <= (float)n))
        return 0;
    at = at > 0.0f ? at : 0.0f;
    index[0] = (int32_t)at;
    if (index[0] >= n - 1) {
        index[0] = index[1] = n - 1;
        *weight = 0.0f;
        return 1;
    }
    index[1] = index[0] + 1;
    *weight = at - (float)index[0];
    return 1;
}

/* One place, taken into y. */
static void take(const tw_roi_job *job, float at_y, float at_x, int first, float *y)
{
    static const float none = 0.0f;
    const float *corner[4];
    float weight[4], right = 0.0f, below = 0.0f;
    int32_t rows[2], columns[2], c, k;
    const int present = neighbours(at_y, job->height, rows, &below) &&
                        neighbours(at_x, job->width, columns, &right);
    for (k = 0; k < 4; k++) {
        corner[k] =
            present ? job->x + rows[k >> 1] * job->row + columns[k & 1] * job->column : &none;
        weight[k] = (k >> 1 ? below : 1.0f - below) * (k & 1 ? right : 1.0f - right);
    }
    for (c = 0; c < job->channels; c++) {
        const ptrdiff_t at = present ? c : 0;
        if (job->attributes->mode == TW_ROI_AVERAGE) {
            for (k = 0; k < 4; k++)
                y[c] += weight[k] * corner[k][at];
        } else {
            float most = weight[0] * corner[0][at];
            for (k = 1; k < 4; k++)
                most = tw_maxf(most, weight[k] * corner[k][at]);
            y[c] = first ? most : tw_maxf(y[c], most);
        }
    }
}

static void align_cell(const tw_roi_job *job, int32_t row, int32_t column, float *y)
{
    const float top = job->top + (float)row * job->cell_height;
    const float left = job->left + (float)column * job->cell_width;
    const int32_t count = job->across * job->down;
    int32_t i, j, c;
    for (c = 0; c < job->channels; c++)
        y[c] = 0.0f;
    for (i = 0; i < job->down; i++)
        for (j = 0; j < job->across; j++)
            take(job, top + ((float)i + 0.5f) * job->cell_height / (float)job->down,
                 left + ((float)j + 0.5f) * job->cell_width / (float)job->across, i + j == 0, y);
    for (c = 0; count > 0 && job->attributes->mode == TW_ROI_AVERAGE && c < job->channels; c++)
        y[c] /= (float)count;
}

/* How many places a cell has; negative: too many. */
static int32_t places(const tw_roi_attributes *a, float cell)
{
    if (a->samples > 0)
        return a->samples;
    cell = tw_ceilf(cell);
    return cell > 0.0f ? (cell <= (float)TW_ROI_MOST ? (int32_t)cell : -1) : 0;
}

static int open_align(tw_roi_job *job, const float *region)
{
    const tw_roi_attributes *a = job->attributes;
    const float offset = a->half_pixel ? 0.5f : 0.0f;
    float width, height;
    job->left = region[0] * a->scale - offset;
    job->top = region[1] * a->scale - offset;
    width = region[2] * a->scale - offset - job->left;
    height = region[3] * a->scale - offset - job->top;
    if (!a->half_pixel) { /* at least one element */
        width = tw_maxf(width, 1.0f);
        height = tw_maxf(height, 1.0f);
    }
    job->cell_width = width / (float)a->width;
    job->cell_height = height / (float)a->height;
    job->across = places(a, job->cell_width);
    job->down = places(a, job->cell_height);
    return job->across >= 0 && job->down >= 0;
}

/* ---- MaxRoiPool ---- */

static int open_pool(tw_roi_job *job, const float *region)
{
    const tw_roi_attributes *a = job->attributes;
    const float far = 16777216.0f;
    float edge[4];
    int32_t k;
    for (k = 0; k < 4; k++)
        edge[k] = within(tw_roundf(region[k] * a->scale), -far, far);
    job->left = edge[0];
    job->top = edge[1];
    job->cell_width = tw_maxf(edge[2] - edge[0] + 1.0f, 1.0f) / (float)a->width;
    job->cell_height = tw_maxf(edge[3] - edge[1] + 1.0f, 1.0f) / (float)a->height;
    return 1;
}

static void pool_cell(const tw_roi_job *job, int32_t row, int32_t column, float *y)
{
    const float bottom = (float)job->height, right = (float)job->width;
    const int32_t top =
        (int32_t)within(job->top + tw_floorf((float)row * job->cell_height), 0.0f, bottom);
    const int32_t end =
        (int32_t)within(job->top + tw_ceilf((float)(row + 1) * job->cell_height), 0.0f, bottom);
    const int32_t left =
        (int32_t)within(job->left + tw_floorf((float)column * job->cell_width), 0.0f, right);
    const int32_t last =
        (int32_t)within(job->left + tw_ceilf((float)(column + 1) * job->cell_width), 0.0f, right);
    int32_t i, j, c;
    for (c = 0; c < job->channels; c++)
        y[c] = 0.0f;
    for (i = top; i < end; i++) {
        for (j = left; j < last; j++) {
            const float *from = job->x + i * job->row + j * job->column;
            for (c = 0; c < job->channels; c++)
                y[c] = i == top && j == left ? from[c] : tw_maxf(y[c], from[c]);
        }
    }
}

/* ---- the walk ---- */

typedef struct tw_roi_kind {
    int (*open)(tw_roi_job *job, const float *region);
    void (*cell)(const tw_roi_job *job, int32_t row, int32_t column, float *y);
} tw_roi_kind;

/* The batch of region r, which must be one of x's; -1: it is none. */
static int64_t batch_of(const tw_call *call, int32_t r, const float **region)
{
    const tw_view *regions = &call->in[1];
    const int32_t base = regions->axis == 0 ? regions->row : 0;
    int64_t batch;
    *region = (const float *)regions->data + (ptrdiff_t)(r - base) * regions->tensor->stride[0];
    if (call->in_count == 3) {
        const tw_view *batches = &call->in[2];
        batch = ((const int64_t *)
                     batches->data)[(ptrdiff_t)(r - batches->row) * batches->tensor->stride[0]];
    } else {
        const float number = (*region)[0];
        batch = number >= 0.0f && number < 16777216.0f ? (int64_t)number : -1;
        *region += 1;
    }
    return batch < call->in[0].tensor->dim[0] ? batch : -1;
}

/* Are the regions of the band present, with all their numbers? */
static int covers(const tw_view *v, const tw_image *out)
{
    return v->axis == 0 ? v->row <= out->begin[0] && v->row + v->rows >= out->end[0]
                        : tw_is_whole(v);
}

static tw_status run(const tw_call *call, const tw_roi_kind *kind)
{
    const tw_view *x = &call->in[0];
    tw_roi_job job;
    tw_image in, out;
    int32_t r, row, column;
    tw_image_of(&call->out[0], &out);
    tw_image_of(x, &in);
    if (!tw_is_whole(x) || !covers(&call->in[1], &out) ||
        (call->in_count == 3 && !covers(&call->in[2], &out)))
        return TW_E_SCHEDULE;
    memset(&job, 0, sizeof job);
    job.attributes = (const tw_roi_attributes *)call->attributes;
    job.height = in.dim[1];
    job.width = in.dim[2];
    job.row = in.stride[1];
    job.column = in.stride[2];
    job.channels = out.end[3] - out.begin[3];
    for (r = out.begin[0]; r < out.end[0]; r++) {
        const float *region;
        const int64_t batch = batch_of(call, r, &region);
        if (batch < 0 || !kind->open(&job, region))
            return TW_E_DATA;
        job.x = (const float *)x->data + (ptrdiff_t)batch * in.stride[0] + out.begin[3];
        for (row = out.begin[1]; row < out.end[1]; row++)
            for (column = out.begin[2]; column < out.end[2]; column++)
                kind->cell(&job, row, column,
                           (float *)call->out[0].data +
                               tw_image_at(&out, r, row, column, out.begin[3]));
    }
    return TW_OK;
}

static tw_status run_align(const tw_call *call)
{
    static const tw_roi_kind kind = {open_align, align_cell};
    return run(call, &kind);
}

static tw_status run_pool(const tw_call *call)
{
    static const tw_roi_kind kind = {open_pool, pool_cell};
    return run(call, &kind);
}

/* Work counts four elements a place where their number is known, else output elements: how many a
 * region takes is data. */
static tw_status check(const tw_call *call, uint32_t operands, uint64_t *work)
{
    const tw_roi_attributes *a = (const tw_roi_attributes *)call->attributes;
    const tw_tensor *x, *regions, *y;
    int32_t extents[7];
    if (call->in_count != operands || call->out_count != 1 || call->attribute_bytes != sizeof *a ||
        a->samples < 0 || a->samples > TW_ROI_MOST || a->height < 1 || a->height > TW_ROI_MOST ||
        a->width < 1 || a->width > TW_ROI_MOST || (a->half_pixel & ~1) != 0 ||
        (a->mode & ~1) != 0 || !tw_operand_check(&call->in[0], TW_F32, 4, 4) ||
        !tw_operand_check(&call->in[1], TW_F32, 2, 2) ||
        !tw_operand_check(&call->out[0], TW_F32, 4, 4) ||
        (operands == 3 && !tw_operand_check(&call->in[2], TW_S64, 1, 1)))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    regions = call->in[1].tensor;
    y = call->out[0].tensor;
    if (regions->dim[0] != y->dim[0] || regions->dim[1] != (operands == 3 ? 4 : 5) ||
        (operands == 3 && call->in[2].tensor->dim[0] != y->dim[0]) || y->dim[1] != a->height ||
        y->dim[2] != a->width || y->dim[3] != x->dim[3] || x->dim[1] < 1 || x->dim[2] < 1 ||
        x->dim[1] > 1 << 24 || x->dim[2] > 1 << 24)
        return TW_E_CHECK;
    extents[0] = y->dim[0];
    extents[1] = a->height;
    extents[2] = a->width;
    extents[3] = y->dim[3];
    extents[4] = extents[5] = a->samples > 0 && operands == 3 ? a->samples : 1;
    extents[6] = a->samples > 0 && operands == 3 ? 4 : 1;
    return tw_work(work, extents, 7) ? TW_OK : TW_E_CHECK;
}

static tw_status check_align(const tw_call *call, uint64_t *work)
{
    return check(call, 3, work);
}

static tw_status check_pool(const tw_call *call, uint64_t *work)
{
    return check(call, 2, work);
}

TW_KERNEL(roi_align, f32, run_align, check_align);
TW_KERNEL(max_roi_pool, f32, run_pool, check_pool);
