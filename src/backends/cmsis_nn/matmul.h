/* What both halves of the matrix product know. */
#ifndef TW_BACKENDS_CMSIS_NN_MATMUL_H
#define TW_BACKENDS_CMSIS_NN_MATMUL_H

#include "backends/cmsis_nn/cpus.h"

/* Scratch of a product: on MVE the sum of every column of the second operand. */
static inline uint32_t tw_cmsis_nn_matmul_scratch(int32_t columns, uint32_t cpus)
{
    return (cpus & TW_CMSIS_NN_MVE) ? 4u * (uint32_t)columns : 0;
}

#endif
