/* What the pooling kernels of every type share. Device code. */
#ifndef TW_OPS_POOL_JOB_H
#define TW_OPS_POOL_JOB_H

#include "ops/pool.h"
#include "ops/product.h"

/* Channels worked on side by side. */
enum { TW_POOL_BLOCK = 16 };

typedef struct tw_pool_job {
    tw_window_spans window;
    ptrdiff_t x_pixel, x_row, x_column, y_pixel;
    const void *x;
    void *y;
    int32_t begin, end; /* channels present in out */
    tw_bound low, high;
    int count_padding, half_even, rescale;
    int32_t in_zero;
    tw_channels channels; /* of one entry, where rescale */
} tw_pool_job;

/* Shapes and attributes; work counts the taps of every window. */
tw_status tw_pool_check(const tw_call *call, uint32_t dtype, uint64_t *work);

/* Visit the patches of the output with a tw_pool_job. */
tw_status tw_pool_run(const tw_call *call, tw_patch_function visit);

/* What the sums of a patch's pixel at output column `column` are divided by: at least 1. */
int32_t tw_pool_count(const tw_pool_job *job, const tw_patch *patch, int32_t column);

/* v / count to the nearest integer, halves away from zero or to even. */
int32_t tw_pool_divide(int32_t v, int32_t count, int half_even);

/* Elements from the first tap inside to tap (i, j). */
static inline ptrdiff_t tw_pool_tap(const tw_pool_job *job, const tw_patch *patch, int32_t i,
                                    int32_t j)
{
    return (i - patch->rows.first) * job->x_row + (j - patch->columns.first) * job->x_column;
}

#endif
