/* Pooling kernels. Channels are worked on in blocks, side by side. */
#include "ops/pool_job.h"

#include "ops/codes.h"

enum { BLOCK = TW_POOL_BLOCK };

static int read_window(const tw_call *call, tw_window_spans *window)
{
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    int spatial = (int)call->in[0].tensor->rank - 2;
    int32_t kernel[2];
    if (a->kernel.count != spatial || spatial < 1)
        return 0;
    kernel[0] = spatial == 2 ? a->kernel.v[0] : 1;
    kernel[1] = a->kernel.v[spatial - 1];
    return tw_window_read(window, call->in[0].tensor, call->out[0].tensor, kernel, &lists, a->ceil);
}

tw_status tw_pool_check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    const tw_tensor *x, *y;
    tw_window_spans window;
    int32_t extents[6];
    if (call->in_count != 1 || call->out_count != 1 || call->attribute_bytes != sizeof *a ||
        !tw_operand_check(&call->in[0], dtype, 3, 4) ||
        !tw_operand_check(&call->out[0], dtype, 3, 4) || (a->ceil & ~1) != 0 ||
        (a->count_include_pad & ~1) != 0 || (a->rounding & ~1) != 0 || !read_window(call, &window))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    y = call->out[0].tensor;
    if (x->dim[x->rank - 1] != y->dim[y->rank - 1] ||
        (int64_t)window.axis[0].kernel * window.axis[1].kernel > TW_POOL_MOST_TAPS)
        return TW_E_CHECK;
    extents[0] = y->dim[0];
    extents[1] = window.axis[0].out;
    extents[2] = window.axis[1].out;
    extents[3] = y->dim[y->rank - 1];
    extents[4] = window.axis[0].kernel;
    extents[5] = window.axis[1].kernel;
    return tw_work(work, extents, 6) ? TW_OK : TW_E_CHECK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return tw_pool_check(call, TW_F32, work);
}

/* Bytes without tables: one scale, or none. The zero point is the only number that matters. */
static tw_status check_bytes(const tw_call *call, uint32_t dtype, int32_t low, uint64_t *work)
{
    tw_status status = tw_pool_check(call, dtype, work);
    int32_t zero;
    if (status != TW_OK)
        return status;
    zero = call->in[0].tensor->zero_point;
    if (zero < low || zero > low + 255)
        return TW_E_CHECK;
    if (call->blob_count != 0)
        return dtype == TW_S8 && tw_channels_check(call, 1) ? TW_OK : TW_E_CHECK;
    return zero == call->out[0].tensor->zero_point && call->clamp_low.s32 >= low &&
                   call->clamp_low.s32 <= call->clamp_high.s32 && call->clamp_high.s32 <= low + 255
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    return check_bytes(call, TW_S8, INT8_MIN, work);
}

static tw_status check_u8(const tw_call *call, uint64_t *work)
{
    return check_bytes(call, TW_U8, 0, work);
}

tw_status tw_pool_run(const tw_call *call, tw_patch_function visit)
{
    tw_pool_job state, *job = &state;
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    tw_image in, out;
    if (!read_window(call, &job->window))
        return TW_E_DATA;
    tw_image_of(&call->in[0], &in);
    tw_image_of(&call->out[0], &out);
    job->x = call->in[0].data;
    job->y = call->out[0].data;
    job->channel_count = out.dim[3];
    job->begin = out.begin[3];
    job->end = out.end[3];
    job->x_pixel = tw_steps(job->window.axis[1].stride, in.stride[2]);
    job->x_column = tw_steps(job->window.axis[1].dilation, in.stride[2]);
    job->x_row = tw_steps(job->window.axis[0].dilation, in.stride[1]);
    job->y_pixel = out.stride[2];
    job->low = call->clamp_low;
    job->high = call->clamp_high;
    job->count_padding = a->count_include_pad;
    job->half_even = a->rounding == TW_POOL_HALF_EVEN;
    job->rescale = call->blob_count != 0;
    job->in_zero = call->in[0].tensor->zero_point;
    if (job->rescale)
        tw_channels_of(call, &job->channels);
    return tw_window_walk(&job->window, &in, &out, visit, job);
}

/* ---- largest ---- */

static TW_INLINE void largest_f32(const tw_pool_job *job, const tw_patch *patch, const float *x,
                                  float *y, const int n)
{
    float most[BLOCK];
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        most[k] = -__builtin_inff();
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const float *from = x + tw_pool_tap(job, patch, i, j);
            for (k = 0; k < n; k++) /* a NaN stays */
                most[k] = from[k] > most[k] || from[k] != from[k] ? from[k] : most[k];
        }
    }
    for (k = 0; k < n; k++)
        y[k] = most[k] < job->low.f32    ? job->low.f32
               : most[k] > job->high.f32 ? job->high.f32
                                         : most[k];
}

static void visit_largest_f32(const void *of, const tw_patch *patch)
{
    const tw_pool_job *job = (const tw_pool_job *)of;
    int32_t pixel, c;
    for (pixel = 0; pixel < patch->pixels; pixel++) {
        const float *x = (const float *)job->x + patch->in + pixel * job->x_pixel;
        float *y = (float *)job->y + patch->out + pixel * job->y_pixel;
        for (c = job->begin; c + BLOCK <= job->end; c += BLOCK)
            largest_f32(job, patch, x + c, y + (c - job->begin), BLOCK);
        if (c < job->end)
            largest_f32(job, patch, x + c, y + (c - job->begin), job->end - c);
    }
}

/* Stored bytes are int8, or uint8: then `u8` is 128 and the sign bit is flipped on the way in. */
enum { S8 = 0, U8 = 128 };

static TW_INLINE int8_t signed_of(uint8_t stored, const int u8)
{
    return (int8_t)(stored ^ u8);
}

static TW_INLINE void largest_bytes(const tw_pool_job *job, const tw_patch *patch, const uint8_t *x,
                                    uint8_t *y, const int n, const int u8)
{
    int8_t most[BLOCK];
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        most[k] = INT8_MIN;
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const uint8_t *from = x + tw_pool_tap(job, patch, i, j);
            for (k = 0; k < n; k++) {
                int8_t v = signed_of(from[k], u8);
                if (v > most[k])
                    most[k] = v;
            }
        }
    }
    for (k = 0; k < n; k++) {
        int32_t v = most[k] + u8;
        if (job->rescale)
            y[k] = (uint8_t)tw_channels_finish(&job->channels, 0, (uint32_t)(v - job->in_zero));
        else
            y[k] = (uint8_t)tw_clamp_s32(v, job->low.s32, job->high.s32);
    }
}

static TW_INLINE void visit_largest_bytes(const tw_pool_job *job, const tw_patch *patch,
                                          const int u8)
{
    int32_t pixel, c;
    for (pixel = 0; pixel < patch->pixels; pixel++) {
        const uint8_t *x = (const uint8_t *)job->x + patch->in + pixel * job->x_pixel;
        uint8_t *y = (uint8_t *)job->y + patch->out + pixel * job->y_pixel;
        for (c = job->begin; c + BLOCK <= job->end; c += BLOCK)
            largest_bytes(job, patch, x + c, y + (c - job->begin), BLOCK, u8);
        if (c < job->end)
            largest_bytes(job, patch, x + c, y + (c - job->begin), job->end - c, u8);
    }
}

static void visit_largest_s8(const void *job, const tw_patch *patch)
{
    visit_largest_bytes((const tw_pool_job *)job, patch, S8);
}

static void visit_largest_u8(const void *job, const tw_patch *patch)
{
    visit_largest_bytes((const tw_pool_job *)job, patch, U8);
}

/* ---- average ---- */

/* Taps of output o on an axis that are not behind the padding. */
static int32_t padded_taps(const tw_span *s, int32_t o)
{
    int32_t room = s->in + s->pad_end - (o * s->stride - s->pad_begin); /* from the first tap on */
    int32_t n = room <= 0 ? 0 : (room - 1) / s->dilation + 1;
    return n < s->kernel ? n : s->kernel;
}

int32_t tw_pool_count(const tw_pool_job *job, const tw_patch *patch, int32_t column)
{
    int32_t rows = patch->rows.last - patch->rows.first;
    int32_t columns = patch->columns.last - patch->columns.first;
    if (job->count_padding) {
        rows = padded_taps(&job->window.axis[0], patch->row);
        columns = padded_taps(&job->window.axis[1], column);
    }
    return rows > 0 && columns > 0 ? rows * columns : 1;
}

static TW_INLINE void average_f32(const tw_pool_job *job, const tw_patch *patch, const float *x,
                                  float *y, float count, const int n)
{
    float sum[BLOCK];
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        sum[k] = 0.0f;
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const float *from = x + tw_pool_tap(job, patch, i, j);
            for (k = 0; k < n; k++)
                sum[k] += from[k];
        }
    }
    for (k = 0; k < n; k++) {
        float v = sum[k] / count;
        y[k] = v < job->low.f32 ? job->low.f32 : v > job->high.f32 ? job->high.f32 : v;
    }
}

static TW_INLINE void visit_sums_f32(const tw_pool_job *job, const tw_patch *patch,
                                     const int divides)
{
    int32_t pixel, c;
    for (pixel = 0; pixel < patch->pixels; pixel++) {
        const float *x = (const float *)job->x + patch->in + pixel * job->x_pixel;
        float *y = (float *)job->y + patch->out + pixel * job->y_pixel;
        float count = divides ? (float)tw_pool_count(job, patch, patch->column + pixel) : 1.0f;
        for (c = job->begin; c + BLOCK <= job->end; c += BLOCK)
            average_f32(job, patch, x + c, y + (c - job->begin), count, BLOCK);
        if (c < job->end)
            average_f32(job, patch, x + c, y + (c - job->begin), count, job->end - c);
    }
}

static void visit_average_f32(const void *job, const tw_patch *patch)
{
    visit_sums_f32((const tw_pool_job *)job, patch, 1);
}

static void visit_sum_f32(const void *job, const tw_patch *patch)
{
    visit_sums_f32((const tw_pool_job *)job, patch, 0);
}

/* An average from the sum of stored values over `inside` taps. */
static TW_INLINE uint8_t finish_average(const tw_pool_job *job, int32_t sum, int32_t inside,
                                        const tw_divisor *d)
{
    int32_t zero = job->in_zero, v;
    if (!job->rescale && !job->half_even) { /* TFLite rounds the stored values themselves */
        sum += zero * (d->count - inside);
        v = tw_pool_divide(sum, d, 0);
        return (uint8_t)tw_clamp_s32(v, job->low.s32, job->high.s32);
    }
    v = sum - zero * inside;
    if (job->rescale) {
        const tw_channels *q = &job->channels;
        v = tw_pool_divide(tw_requantize(v, q->multiplier[0], q->shift[0]), d, job->half_even);
        return (uint8_t)(tw_clamp_s32(v, q->low, q->high) + q->out_zero);
    }
    return (uint8_t)tw_clamp_s32(tw_pool_divide(v, d, 1) + zero, job->low.s32, job->high.s32);
}

static TW_INLINE void average_bytes(const tw_pool_job *job, const tw_patch *patch, const uint8_t *x,
                                    uint8_t *y, const tw_divisor *d, const int n, const int u8)
{
    int32_t inside =
        (patch->rows.last - patch->rows.first) * (patch->columns.last - patch->columns.first);
    int32_t sum[BLOCK];
    int32_t i, j;
    int k;
    for (k = 0; k < n; k++)
        sum[k] = inside * u8;
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const uint8_t *from = x + tw_pool_tap(job, patch, i, j);
            for (k = 0; k < n; k++)
                sum[k] += signed_of(from[k], u8);
        }
    }
    for (k = 0; k < n; k++)
        y[k] = finish_average(job, sum[k], inside, d);
}

static TW_INLINE void visit_average_bytes(const tw_pool_job *job, const tw_patch *patch,
                                          const int u8)
{
    const uint32_t most = job->rescale ? 0 : 255; /* a tap, zero point taken off */
    int32_t pixel, c;
    for (pixel = 0; pixel < patch->pixels; pixel++) {
        const uint8_t *x = (const uint8_t *)job->x + patch->in + pixel * job->x_pixel;
        uint8_t *y = (uint8_t *)job->y + patch->out + pixel * job->y_pixel;
        const tw_divisor d = tw_divisor_of(tw_pool_count(job, patch, patch->column + pixel), most);
        for (c = job->begin; c + BLOCK <= job->end; c += BLOCK)
            average_bytes(job, patch, x + c, y + (c - job->begin), &d, BLOCK, u8);
        if (c < job->end)
            average_bytes(job, patch, x + c, y + (c - job->begin), &d, job->end - c, u8);
    }
}

static void visit_average_s8(const void *job, const tw_patch *patch)
{
    visit_average_bytes((const tw_pool_job *)job, patch, S8);
}

static void visit_average_u8(const void *job, const tw_patch *patch)
{
    visit_average_bytes((const tw_pool_job *)job, patch, U8);
}

/* ---- records ---- */

#define TW_POOL_KERNEL(symbol, signature, visit)                                                   \
    static tw_status run_##symbol##_##signature(const tw_call *call)                               \
    {                                                                                              \
        return tw_pool_run(call, visit);                                                           \
    }                                                                                              \
    TW_KERNEL_BLOCKS(symbol, signature, run_##symbol##_##signature, check_##signature)

TW_POOL_KERNEL(max_pool, f32, visit_largest_f32);
TW_POOL_KERNEL(max_pool, s8, visit_largest_s8);
TW_POOL_KERNEL(max_pool, u8, visit_largest_u8);
TW_POOL_KERNEL(average_pool, f32, visit_average_f32);
TW_POOL_KERNEL(average_pool, s8, visit_average_s8);
TW_POOL_KERNEL(average_pool, u8, visit_average_u8);
TW_POOL_KERNEL(sum_pool, f32, visit_sum_f32);
