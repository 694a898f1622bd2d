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
    int32_t channel_count;
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

/* What averages are divided by, and 2^32 over it, rounded up: size * over >> 32 is size / count where
 * size * count < 2^32. over is 0 where sizes may be larger than that, and for 1. */
typedef struct tw_divisor {
    int32_t count;
    uint32_t over;
} tw_divisor;

/* For sums of at most `most` a tap; 0: of any size. */
static inline tw_divisor tw_divisor_of(int32_t count, uint32_t most)
{
    const uint64_t reach = (uint64_t)(uint32_t)count * (uint32_t)count * most;
    tw_divisor d;
    d.count = count;
    d.over = count < 2 || most == 0 || reach > UINT32_MAX ? 0 : UINT32_MAX / (uint32_t)count + 1;
    return d;
}

/* v / count to the nearest integer, halves away from zero or to even. */
static inline int32_t tw_pool_divide(int32_t v, const tw_divisor *d, int half_even)
{
    const uint32_t size = v < 0 ? 0u - (uint32_t)v : (uint32_t)v, count = (uint32_t)d->count;
    uint32_t q = d->over ? (uint32_t)((uint64_t)size * d->over >> 32) : size / count;
    const uint32_t left = size - q * count, lacks = count - left;
    q += left > lacks || (left == lacks && (!half_even || (q & 1) != 0));
    return (int32_t)(v < 0 ? 0u - q : q);
}

/* Elements from the first tap inside to tap (i, j). */
static inline ptrdiff_t tw_pool_tap(const tw_pool_job *job, const tw_patch *patch, int32_t i,
                                    int32_t j)
{
    return (i - patch->rows.first) * job->x_row + (j - patch->columns.first) * job->x_column;
}

#endif
