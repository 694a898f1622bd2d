/* Float activations and int8 weights, as TFLite's hybrid kernels: what an operator reads at once (a row,
 * an image) is quantised to int8 in scratch with a scale of its own, the sums are integers, and each
 * result is sum * (scale of what was read * scale of the weights) + bias. The weights stay int8 in flash.
 *
 * Weights of one scale: what is read is quantised symmetrically. A scale for each output channel:
 * asymmetrically, with a zero point. Device code. */
#ifndef TW_OPS_HYBRID_H
#define TW_OPS_HYBRID_H

#include "ops/product.h"

/* Blob 0: the weights' scales, one an output channel; asymmetric: 1 or 0. */
typedef struct tw_hybrid_table {
    int32_t channels, asymmetric;
} tw_hybrid_table;

static inline const float *tw_hybrid_scales(const tw_hybrid_table *table)
{
    return (const float *)(const void *)(table + 1);
}

/* What a visitor needs beside its operator's job. */
typedef struct tw_hybrid {
    const float *scale; /* of the weights, by output channel */
    const float *bias;  /* or null */
    int asymmetric;
    float low, high;
    float in_scale, inverse; /* of what was read, and 1 / in_scale */
    int32_t in_zero;
} tw_hybrid;

/* Is the table there for so many channels, the bias a vector of them, and scratch at least so many
 * bytes? */
int tw_hybrid_check(const tw_call *call, int32_t channels, uint64_t scratch);

/* TW_E_DATA where the bias is not whole. */
tw_status tw_hybrid_open(const tw_call *call, tw_hybrid *hybrid);

/* A row of values: choose scale and zero point, and store it as int8. */
void tw_hybrid_row(tw_hybrid *hybrid, const float *x, int32_t count, int8_t *to);

/* For each batch of the output: store the input's batch in scratch as a dense int8 image, and `run` a
 * call that reads it instead, without a bias. Of the input all rows must be present.
 * TW_E_SCHEDULE where they are not. */
typedef tw_status (*tw_hybrid_function)(const tw_call *call, void *context);
tw_status tw_hybrid_batches(const tw_call *call, tw_hybrid *hybrid, tw_hybrid_function run,
                            void *context);

/* Bytes of scratch for that: elements of one batch, of at most INT32_MAX. */
uint64_t tw_hybrid_image_bytes(const tw_tensor *x);

/* Sum of (x - zero) * w over n elements. */
int32_t tw_hybrid_dot(const int8_t *x, int32_t zero, const int8_t *w, int32_t n);

static inline float tw_hybrid_finish(const tw_hybrid *h, int32_t channel, int32_t sum)
{
    const float v =
        (float)sum * (h->in_scale * h->scale[channel]) + (h->bias ? h->bias[channel] : 0.0f);
    return v < h->low ? h->low : v > h->high ? h->high : v;
}

#endif
