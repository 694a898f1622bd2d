/* Rows by a matrix of weights. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_PRODUCT_H
#define TW_BACKENDS_CMSIS_NN_PRODUCT_H

#include "backends/cmsis_nn/library.h"

/* `count` rows of `depth` elements, `outputs` results each. Tables begin with the first output's; zero
 * points are folded into the bias, and weights have none. */
typedef struct tw_cmsis_nn_product {
    const int8_t *x, *weights;
    int8_t *y;
    int32_t count, depth, outputs;
    cmsis_nn_per_channel_quant_params scales;
    int32_t *bias;
} tw_cmsis_nn_product;

/* Clamped and with the output's zero point, as the call has them. */
tw_status tw_cmsis_nn_product_run(const tw_call *call, const tw_cmsis_nn_product *product);

/* The same with weights of 4 bits, two to a byte. */
tw_status tw_cmsis_nn_product_pairs(const tw_call *call, const tw_cmsis_nn_product *product);

#endif
