/* Matrix product kernels. Float sums are product.h's; int8 has its own loops because neither operand
 * is known when the tables are made. */
#include "ops/matmul_job.h"

#include "ops/codes.h"

enum { BLOCK = 16 };

typedef struct tw_matmul_s8 {
    tw_matmul_job job;
    int32_t b_zero;
    tw_channels channels; /* of one entry; in_zero is a's zero point */
} tw_matmul_s8;

tw_status tw_matmul_check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    const tw_matmul_attributes *attributes = (const tw_matmul_attributes *)call->attributes;
    const tw_tensor *y;
    int32_t extents[TW_MAX_RANK + 1];
    int i;
    if (call->in_count != 2 || call->out_count != 1 ||
        call->attribute_bytes != sizeof *attributes ||
        (attributes->transpose_b != 0 && attributes->transpose_b != 1) ||
        !tw_operand_check(&call->in[0], dtype, 2, TW_MAX_RANK) ||
        !tw_extents_check(&call->in[1], dtype, 2, TW_MAX_RANK) ||
        !tw_operand_check(&call->out[0], dtype, 2, TW_MAX_RANK) ||
        !tw_matrix_check(call->in[0].tensor, call->in[1].tensor, attributes->transpose_b,
                         call->out[0].tensor))
        return TW_E_CHECK;
    y = call->out[0].tensor;
    for (i = 0; i < (int)y->rank; i++)
        extents[i] = y->dim[i];
    extents[i] = call->in[0].tensor->dim[call->in[0].tensor->rank - 1];
    return tw_work(work, extents, i + 1) ? TW_OK : TW_E_CHECK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return tw_matmul_check(call, TW_F32, work);
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    const tw_tensor *b;
    if (tw_matmul_check(call, TW_S8, work) != TW_OK)
        return TW_E_CHECK;
    b = call->in[1].tensor;
    return tw_operand_check(&call->in[1], TW_S8, 2, TW_MAX_RANK) && b->zero_point >= INT8_MIN &&
                   b->zero_point <= INT8_MAX && tw_channels_check(call, 1)
               ? TW_OK
               : TW_E_CHECK;
}

static void visit_f32(const void *of, const tw_matrix_part *part)
{
    const tw_matmul_job *job = (const tw_matmul_job *)of;
    tw_patch patch;
    memset(&patch, 0, sizeof patch);
    patch.pixels = part->rows;
    patch.rows.last = patch.columns.last = 1;
    tw_product_f32(&job->product, &patch, (const float *)job->a + part->a,
                   (const float *)job->b + part->b, NULL, (float *)job->y + part->out,
                   job->columns);
}

/* One row of a by `n` columns that are side by side in b. */
static inline void side_by_side(const tw_matmul_s8 *all, const int8_t *a, const int8_t *b,
                                int8_t *y, const int n)
{
    const tw_product *p = &all->job.product;
    uint32_t sum[BLOCK], total = 0;
    int32_t i;
    int k;
    for (k = 0; k < n; k++)
        sum[k] = 0;
    for (i = 0; i < p->depth; i++, b += p->w_depth) {
        int32_t v = a[i] - all->channels.in_zero;
        total += (uint32_t)v;
        for (k = 0; k < n; k++)
            sum[k] += (uint32_t)(v * b[k]);
    }
    for (k = 0; k < n; k++)
        y[k] = tw_channels_finish(&all->channels, 0, sum[k] - (uint32_t)all->b_zero * total);
}

/* One row of a by `n` columns, up to four, each contiguous in b. */
static inline void end_to_end(const tw_matmul_s8 *all, const int8_t *a, const int8_t *b, int8_t *y,
                              const int n)
{
    const tw_product *p = &all->job.product;
    uint32_t sum[4] = {0, 0, 0, 0}, total = 0;
    int32_t i;
    int k;
    for (i = 0; i < p->depth; i++) {
        int32_t v = a[i] - all->channels.in_zero;
        total += (uint32_t)v;
        for (k = 0; k < n; k++)
            sum[k] += (uint32_t)(v * b[i + k * p->w_output]);
    }
    for (k = 0; k < n; k++)
        y[k] = tw_channels_finish(&all->channels, 0, sum[k] - (uint32_t)all->b_zero * total);
}

static void visit_s8(const void *of, const tw_matrix_part *part)
{
    const tw_matmul_s8 *all = (const tw_matmul_s8 *)of;
    const tw_matmul_job *job = &all->job;
    const tw_product *p = &job->product;
    int32_t row, n;
    for (row = 0; row < part->rows; row++) {
        const int8_t *a = (const int8_t *)job->a + part->a + row * p->x_pixel;
        const int8_t *b = (const int8_t *)job->b + part->b;
        int8_t *y = (int8_t *)job->y + part->out + row * p->y_pixel;
        n = 0;
        if (job->transposed || p->w_depth == 1) {
            for (; n + 4 <= job->columns; n += 4)
                end_to_end(all, a, b + n * p->w_output, y + n, 4);
            for (; n < job->columns; n++)
                end_to_end(all, a, b + n * p->w_output, y + n, 1);
        } else {
            for (; n + BLOCK <= job->columns; n += BLOCK)
                side_by_side(all, a, b + n, y + n, BLOCK);
            if (n < job->columns)
                side_by_side(all, a, b + n, y + n, job->columns - n);
        }
    }
}

tw_status tw_matmul_run(const tw_call *call, tw_matmul_job *job, tw_matrix_function visit,
                        void *context)
{
    const tw_tensor *a = call->in[0].tensor, *b = call->in[1].tensor, *y = call->out[0].tensor;
    const int transposed = ((const tw_matmul_attributes *)call->attributes)->transpose_b;
    const tw_range columns = tw_present(&call->out[0], (int)y->rank - 1);
    tw_product *p = &job->product;
    memset(p, 0, sizeof *p);
    job->a = call->in[0].data;
    job->b = call->in[1].data;
    job->y = call->out[0].data;
    job->transposed = transposed;
    job->columns = columns.end - columns.begin;
    p->rows = p->columns = 1;
    p->depth = a->dim[a->rank - 1];
    p->x_pixel = a->stride[a->rank - 2];
    p->y_pixel = y->stride[y->rank - 2];
    p->w_output = b->stride[(int)b->rank - (transposed ? 2 : 1)];
    p->w_depth = b->stride[(int)b->rank - (transposed ? 1 : 2)];
    p->low = call->clamp_low;
    p->high = call->clamp_high;
    return tw_matrix_walk(&call->in[0], &call->in[1], transposed, &call->out[0], visit, context);
}

static tw_status run_f32(const tw_call *call)
{
    tw_matmul_job job;
    return tw_matmul_run(call, &job, visit_f32, &job);
}

static tw_status run_s8(const tw_call *call)
{
    tw_matmul_s8 all;
    tw_channels_of(call, &all.channels);
    all.b_zero = call->in[1].tensor->zero_point;
    return tw_matmul_run(call, &all.job, visit_s8, &all);
}

TW_KERNEL(matmul, f32, run_f32, check_f32);
TW_KERNEL(matmul, s8, run_s8, check_s8);
