/* Sums of products of int16 activations and int8 weights: product.h's counterpart. Without zero
 * points, which int16 does not have. Two arithmetics, as the bias is stored:
 *
 *     int64   sums of 64 bits, tw_requantize_wide
 *     int32   sums of 32 bits, which wrap, tw_requantize
 *
 * Device code. */
#ifndef TW_OPS_PRODUCT_S16_H
#define TW_OPS_PRODUCT_S16_H

#include "ops/product.h"

/* The tables of a step, one entry an output channel. Blobs as TW_BLOB_MULTIPLIER .. TW_BLOB_BIAS; the
 * size of the bias tells which it is. */
typedef struct tw_channels_s16 {
    const int32_t *multiplier, *shift;
    const int32_t *bias;      /* int32, or null */
    const int64_t *wide_bias; /* int64, or null */
    int32_t low, high;
} tw_channels_s16;

/* Are the tables there, sound, and for so many channels; no zero points; bounds int16's? */
int tw_channels_s16_check(const tw_call *call, int32_t channels);
void tw_channels_s16_of(const tw_call *call, tw_channels_s16 *channels);

static inline uint64_t tw_channels_s16_bias(const tw_channels_s16 *q, int32_t channel)
{
    return q->wide_bias ? (uint64_t)q->wide_bias[channel] : (uint64_t)(int64_t)q->bias[channel];
}

/* A result from a sum that includes the bias. */
static inline int16_t tw_channels_s16_finish(const tw_channels_s16 *q, int32_t channel,
                                             uint64_t sum)
{
    int32_t v =
        q->wide_bias
            ? tw_requantize_wide((int64_t)sum, q->multiplier[channel], q->shift[channel])
            : tw_requantize((int32_t)(uint32_t)sum, q->multiplier[channel], q->shift[channel]);
    return (int16_t)tw_clamp_s32(v, q->low, q->high);
}

/* x . w over n elements. */
uint64_t tw_dot_s16(const int16_t *x, const int8_t *w, int32_t n);

/* As tw_product_s8. */
void tw_product_s16(const tw_product *p, const tw_patch *patch, const int16_t *x, const int8_t *w,
                    const tw_channels_s16 *q, int32_t first, int16_t *y, int32_t outputs);

#endif
