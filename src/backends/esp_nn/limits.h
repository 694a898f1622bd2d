/* What both halves know of the library's limits. Device and host code. */
#ifndef TW_BACKENDS_ESP_NN_LIMITS_H
#define TW_BACKENDS_ESP_NN_LIMITS_H

#include <stdint.h>

/* The library keeps some extents in 16 bits, signed here and there, and loads 16 bytes at a time. */
enum { TW_ESP_NN_MOST = INT16_MAX, TW_ESP_NN_ALIGN = 16 };

static inline int64_t tw_esp_nn_aligned(int64_t bytes)
{
    return (bytes + TW_ESP_NN_ALIGN - 1) / TW_ESP_NN_ALIGN * TW_ESP_NN_ALIGN;
}

/* Outputs of a call: the library keeps a sum for each on the stack, so that it takes 256 bytes of it. */
enum { TW_ESP_NN_OUTPUTS = 64 };

/* The depths that the library's fast function takes in this many rows, which must all begin at multiples
 * of 16 bytes. Weights have no zero point. */
static inline int tw_esp_nn_depth_fits(int32_t depth, int64_t rows)
{
    return depth >= 16 && depth <= TW_ESP_NN_MOST && (rows <= 1 || depth % TW_ESP_NN_ALIGN == 0);
}

#endif
