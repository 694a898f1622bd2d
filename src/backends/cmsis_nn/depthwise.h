/* What both halves of the depthwise convolution know. */
#ifndef TW_BACKENDS_CMSIS_NN_DEPTHWISE_H
#define TW_BACKENDS_CMSIS_NN_DEPTHWISE_H

#include "backends/cmsis_nn/cpus.h"

/* Channels that the library works on at a time on MVE. */
enum { TW_CMSIS_NN_BLOCK = 124 };

/* Scratch of the function for one output a channel: one pixel's taps as int16 with the DSP extension, a
 * block of four pixels' on MVE. UINT32_MAX: too much. */
static inline uint32_t tw_cmsis_nn_depthwise_scratch(int64_t channels, int64_t taps, uint32_t cpus)
{
    const int64_t mve = (cpus & TW_CMSIS_NN_MVE) ? 4 * TW_CMSIS_NN_BLOCK * taps : 0;
    const int64_t dsp = (cpus & TW_CMSIS_NN_DSP) ? 2 * channels * taps : 0;
    const int64_t bytes = mve > dsp ? mve : dsp;
    return bytes > INT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

/* The same of int16, of fewer taps than this: four pixels' on MVE, and what is read behind them. */
enum { TW_CMSIS_NN_DEPTHWISE_TAPS = 512 };

static inline uint32_t tw_cmsis_nn_depthwise_s16_scratch(int64_t channels, int64_t taps,
                                                         uint32_t cpus)
{
    const int64_t mve = (cpus & TW_CMSIS_NN_MVE) ? 8 * channels * taps + 8 : 0;
    const int64_t dsp = (cpus & TW_CMSIS_NN_DSP) ? 2 * channels * taps : 0;
    const int64_t bytes = mve > dsp ? mve : dsp;
    return bytes > INT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

#endif
