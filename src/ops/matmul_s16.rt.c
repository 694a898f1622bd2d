/* Matrix product of int16 by int16: sums of 64 bits, as TFLite's BATCH_MATMUL. */
#include "ops/codes.h"
#include "ops/matmul_job.h"
#include "ops/product_s16.h"

typedef struct tw_matmul_s16 {
    tw_matmul_job job;
    tw_channels_s16 channels; /* of one entry */
} tw_matmul_s16;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_matmul_check(call, TW_S16, work);
    return status == TW_OK && call->in[1].tensor->zero_point == 0 && tw_channels_s16_check(call, 1)
               ? TW_OK
               : TW_E_CHECK;
}

static void visit(const void *of, const tw_matrix_part *part)
{
    const tw_matmul_s16 *all = (const tw_matmul_s16 *)of;
    const tw_product *p = &all->job.product;
    int32_t row, n, i;
    for (row = 0; row < part->rows; row++) {
        const int16_t *a = (const int16_t *)all->job.a + part->a + row * p->x_pixel;
        int16_t *y = (int16_t *)all->job.y + part->out + row * p->y_pixel;
        for (n = 0; n < all->job.columns; n++) {
            const int16_t *b = (const int16_t *)all->job.b + part->b + n * p->w_output;
            uint64_t sum = tw_channels_s16_bias(&all->channels, 0);
            for (i = 0; i < p->depth; i++)
                sum += (uint64_t)(int64_t)(a[i] * b[i * p->w_depth]);
            y[n] = tw_channels_s16_finish(&all->channels, 0, sum);
        }
    }
}

static tw_status run(const tw_call *call)
{
    tw_matmul_s16 all;
    tw_channels_s16_of(call, &all.channels);
    return tw_matmul_run(call, &all.job, visit, &all);
}

TW_KERNEL(matmul, s16, run, check);
