/* What both halves of pooling know. */
#ifndef TW_BACKENDS_CMSIS_NN_POOL_H
#define TW_BACKENDS_CMSIS_NN_POOL_H

#include "backends/cmsis_nn/cpus.h"

/* Scratch of an average: a sum a channel with the DSP extension. */
static inline uint32_t tw_cmsis_nn_average_scratch(int32_t channels, uint32_t cpus)
{
    return (cpus & TW_CMSIS_NN_DSP) ? 4u * (uint32_t)channels : 0;
}

#endif
