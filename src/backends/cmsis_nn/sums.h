/* Where CMSIS-NN's arithmetic on int16 is the reference's. */
#ifndef TW_BACKENDS_CMSIS_NN_SUMS_H
#define TW_BACKENDS_CMSIS_NN_SUMS_H

#include "backends/backend.h"
#include "ops/product.h"

typedef enum tw_weight_order { TW_WEIGHTS_BY_OUTPUT, TW_WEIGHTS_BY_TAP } tw_weight_order;

/* Why sums of int16 activations and constant int8 weights, in the portable kernel's tables, do not fit what
 * the library keeps them in; null where they do. */
const char *tw_cmsis_nn_sums_fit(const tw_native_node *n, tw_weight_order order);

/* The same of products of two activations of int16. */
const char *tw_cmsis_nn_products_fit(const tw_native_node *n, int32_t depth);

/* What a row of int8 weights can make of int16 activations, and what is left of such a sum of 64 bits when it
 * is rescaled, one bit before the last is rounded off. */
int64_t tw_cmsis_nn_row_reach(const int8_t *weights, int64_t count);
int64_t tw_cmsis_nn_rescaled_reach(int64_t most, int32_t multiplier, int32_t shift);

/* Does the portable kernel add up in 64 bits? */
static inline bool tw_cmsis_nn_is_wide(const tw_native_node *n)
{
    return n->portable->blob[TW_BLOB_BIAS].bytes == 2 * n->portable->blob[TW_BLOB_MULTIPLIER].bytes;
}

#endif
