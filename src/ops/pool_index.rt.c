/* Where the largest elements under the windows stand: MaxPoolIndex. See pool.h. */
#include "ops/codes.h"
#include "ops/pool_job.h"

/* As a pooling whose output has the input's type. */
static tw_status check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    tw_call plain = *call;
    tw_tensor y;
    tw_view out;
    if (call->out_count != 1 || !call->out[0].tensor || call->out[0].tensor->dtype != TW_S64)
        return TW_E_CHECK;
    y = *call->out[0].tensor;
    out = call->out[0];
    y.dtype = (uint8_t)dtype;
    out.tensor = &y;
    plain.out = &out;
    return tw_pool_check(&plain, dtype, work);
}

/* Rows of W elements, planes of H rows: where tap (i, j) of the patch's pixel stands in its plane. */
static int64_t place(const tw_pool_job *job, const tw_patch *patch, int32_t column, int32_t i,
                     int32_t j)
{
    const tw_span *rows = &job->window.axis[0], *columns = &job->window.axis[1];
    const int64_t y = (int64_t)patch->row * rows->stride - rows->pad_begin + i * rows->dilation;
    return y * columns->in + (int64_t)column * columns->stride - columns->pad_begin +
           j * columns->dilation;
}

/* The place of the first largest element of one channel; `from` is at the first tap inside. A NaN is
 * larger than all. `read` gives an element as a float, which holds every int8 and uint8. */
static TW_INLINE int64_t find(const tw_pool_job *job, const tw_patch *patch, const char *from,
                              int32_t column, const int bytes, float (*read)(const char *))
{
    float most = 0;
    int64_t best = 0;
    int32_t i, j;
    int any = 0;
    for (i = patch->rows.first; i < patch->rows.last; i++) {
        for (j = patch->columns.first; j < patch->columns.last; j++) {
            const float v = read(from + tw_pool_tap(job, patch, i, j) * bytes);
            if (!any || v > most || (v != v && most == most)) {
                most = v;
                best = place(job, patch, column, i, j);
                any = 1;
            }
        }
    }
    return best;
}

static TW_INLINE void visit(const void *of, const tw_patch *patch, const int bytes,
                            float (*read)(const char *))
{
    const tw_pool_job *job = (const tw_pool_job *)of;
    const int64_t plane = (int64_t)job->window.axis[0].in * job->window.axis[1].in;
    int32_t pixel, c;
    for (pixel = 0; pixel < patch->pixels; pixel++) {
        const char *x = (const char *)job->x + (patch->in + pixel * job->x_pixel) * bytes;
        int64_t *y = (int64_t *)job->y + patch->out + pixel * job->y_pixel;
        for (c = job->begin; c < job->end; c++)
            y[c - job->begin] =
                ((int64_t)patch->batch * job->channel_count + c) * plane +
                find(job, patch, x + (ptrdiff_t)c * bytes, patch->column + pixel, bytes, read);
    }
}

#define TW_INDEX_KERNEL(signature, dtype, type)                                                    \
    static float read_##signature(const char *at)                                                  \
    {                                                                                              \
        return (float)*(const type *)(const void *)at;                                             \
    }                                                                                              \
    static void visit_##signature(const void *job, const tw_patch *patch)                          \
    {                                                                                              \
        visit(job, patch, (int)sizeof(type), read_##signature);                                    \
    }                                                                                              \
    static tw_status check_##signature(const tw_call *call, uint64_t *work)                        \
    {                                                                                              \
        return check(call, dtype, work);                                                           \
    }                                                                                              \
    static tw_status run_##signature(const tw_call *call)                                          \
    {                                                                                              \
        return tw_pool_run(call, visit_##signature);                                               \
    }                                                                                              \
    TW_KERNEL(max_pool_index, signature, run_##signature, check_##signature)

TW_INDEX_KERNEL(f32, TW_F32, float);
TW_INDEX_KERNEL(s8, TW_S8, int8_t);
TW_INDEX_KERNEL(u8, TW_U8, uint8_t);
