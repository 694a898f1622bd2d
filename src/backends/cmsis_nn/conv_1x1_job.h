/* What the adapters of the convolution without neighbours share, whether weights are bytes or two to a byte.
 * Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_CONV_1X1_JOB_H
#define TW_BACKENDS_CMSIS_NN_CONV_1X1_JOB_H

#include "backends/cmsis_nn/conv_job.h"
#include "backends/cmsis_nn/product.h"

/* The weights of the outputs from one on (null: they begin within a byte), and the library's functions for
 * pixels as rows and for strides. */
typedef struct tw_cmsis_nn_pointwise {
    const int8_t *(*weights)(const tw_call *call, int32_t output);
    tw_status (*rows)(const tw_call *call, const tw_cmsis_nn_product *product);
    tw_cmsis_nn_conv_function strided;
} tw_cmsis_nn_pointwise;

tw_status tw_cmsis_nn_conv_1x1_check(const tw_call *call, uint64_t *work);
tw_status tw_cmsis_nn_conv_1x1_run(const tw_call *call, const tw_cmsis_nn_pointwise *functions);

#endif
