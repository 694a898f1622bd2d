/* What both halves of the filter layer know. */
#ifndef TW_BACKENDS_CMSIS_NN_SVDF_H
#define TW_BACKENDS_CMSIS_NN_SVDF_H

#include <stdint.h>

/* Scratch: a sum a filter and a result a unit, of every sequence, behind `memory` bytes for a new memory
 * that nobody reads. */
static inline uint64_t tw_cmsis_nn_svdf_scratch(int32_t batch, int32_t filters, int32_t units,
                                                uint64_t memory)
{
    const uint64_t results = (uint64_t)(uint32_t)filters + (uint32_t)units;
    const uint64_t sums = results * (uint32_t)batch * 4u;
    return (memory + 3) / 4 * 4 + sums;
}

#endif
