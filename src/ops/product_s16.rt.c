/* The loops of product_s16.h. */
#include "ops/product_s16.h"

/* So many products of int16 and int8 fit a sum of 32 bits. */
enum { CHUNK = 256 };

/* Are the sums 64 bits? The bias then has twice the bytes of the other tables. */
static int is_wide(const tw_call *call)
{
    return call->blobs[TW_BLOB_BIAS].bytes / 2u == call->blobs[TW_BLOB_MULTIPLIER].bytes;
}

int tw_channels_s16_check(const tw_call *call, int32_t channels)
{
    const int32_t *multiplier, *shift;
    const uint64_t bytes = (uint64_t)channels * 4u;
    int32_t i, most;
    if (call->blob_count != TW_BLOB_COUNT || call->blobs[TW_BLOB_MULTIPLIER].bytes != bytes ||
        call->blobs[TW_BLOB_SHIFT].bytes != bytes ||
        (call->blobs[TW_BLOB_BIAS].bytes != bytes && call->blobs[TW_BLOB_BIAS].bytes != 2 * bytes))
        return 0;
    for (i = 0; i < TW_BLOB_COUNT; i++)
        if (((uintptr_t)call->blobs[i].data & 7u) != 0)
            return 0;
    most = is_wide(call) ? 14 : 30;
    multiplier = (const int32_t *)call->blobs[TW_BLOB_MULTIPLIER].data;
    shift = (const int32_t *)call->blobs[TW_BLOB_SHIFT].data;
    for (i = 0; i < channels; i++)
        if (multiplier[i] < 0 || shift[i] < -31 || shift[i] > most)
            return 0;
    return call->in[0].tensor->zero_point == 0 && call->out[0].tensor->zero_point == 0 &&
           call->clamp_low.s32 >= INT16_MIN && call->clamp_low.s32 <= call->clamp_high.s32 &&
           call->clamp_high.s32 <= INT16_MAX;
}

void tw_channels_s16_of(const tw_call *call, tw_channels_s16 *q)
{
    const void *bias = call->blobs[TW_BLOB_BIAS].data;
    const int wide = is_wide(call);
    q->multiplier = (const int32_t *)call->blobs[TW_BLOB_MULTIPLIER].data;
    q->shift = (const int32_t *)call->blobs[TW_BLOB_SHIFT].data;
    q->bias = wide ? NULL : (const int32_t *)bias;
    q->wide_bias = wide ? (const int64_t *)bias : NULL;
    q->low = call->clamp_low.s32;
    q->high = call->clamp_high.s32;
}

uint64_t tw_dot_s16(const int16_t *x, const int8_t *w, int32_t n)
{
    uint64_t sum = 0;
    int32_t i, k;
    for (i = 0; i < n; i += CHUNK) {
        const int32_t count = n - i < CHUNK ? n - i : CHUNK;
        int32_t part = 0;
        for (k = 0; k < count; k++)
            part += x[i + k] * w[i + k];
        sum += (uint64_t)(int64_t)part;
    }
    return sum;
}

void tw_product_s16(const tw_product *p, const tw_patch *patch, const int16_t *x, const int8_t *w,
                    const tw_channels_s16 *q, int32_t first, int16_t *y, int32_t outputs)
{
    const int32_t rows = patch->rows.last - patch->rows.first;
    int32_t columns = patch->columns.last - patch->columns.first, depth = p->depth;
    int32_t o, pixel, r, c;
    w += patch->rows.first * p->w_row + patch->columns.first * p->w_column;
    if (p->x_column == depth && p->w_column == depth) { /* taps side by side are one run */
        depth *= columns;
        columns = columns > 0;
    }
    for (o = 0; o < outputs; o++, w += p->w_output) {
        for (pixel = 0; pixel < patch->pixels; pixel++) {
            uint64_t sum = tw_channels_s16_bias(q, first + o);
            for (r = 0; r < rows; r++)
                for (c = 0; c < columns; c++)
                    sum += tw_dot_s16(x + pixel * p->x_pixel + r * p->x_row + c * p->x_column,
                                      w + r * p->w_row + c * p->w_column, depth);
            y[pixel * p->y_pixel + o] = tw_channels_s16_finish(q, first + o, sum);
        }
    }
}
