/* What both halves of the convolution know. */
#ifndef TW_BACKENDS_CMSIS_NN_CONV_H
#define TW_BACKENDS_CMSIS_NN_CONV_H

#include "backends/cmsis_nn/cpus.h"

/* Of an output, so many products of int16 are added up in 32 bits; of those behind them the library loses
 * count where outputs are odd. */
enum { TW_CMSIS_NN_MOST_TAPS = 512 };

/* Scratch of a convolution whose outputs read `taps` input elements each: two pixels' taps as int16, each
 * pixel a multiple of four, or on MVE four pixels' as int8, each a multiple of 16 (which is no less).
 * UINT32_MAX: too much. */
static inline uint32_t tw_cmsis_nn_conv_scratch(int64_t taps, uint32_t cpus)
{
    const int64_t dsp = (taps + 3) / 4 * 4 * 4, mve = (taps + 15) / 16 * 16 * 4;
    const int64_t bytes = (cpus & TW_CMSIS_NN_MVE) ? mve : dsp;
    return bytes > INT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

/* The same of int16: two pixels' taps, or four on MVE, each a multiple of eight. */
static inline uint32_t tw_cmsis_nn_conv_s16_scratch(int64_t taps, uint32_t cpus)
{
    const int64_t bytes = (cpus & TW_CMSIS_NN_MVE) ? (taps + 7) / 8 * 8 * 8 : taps * 4;
    return bytes > INT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

#endif
