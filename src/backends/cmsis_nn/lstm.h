/* What both halves of the LSTM know. Scratch: the parts that x and h add to a gate, then four gates, int16
 * each; behind them the sums that int16's h begins with, all 0. */
#ifndef TW_BACKENDS_CMSIS_NN_LSTM_H
#define TW_BACKENDS_CMSIS_NN_LSTM_H

#include "ops/lstm.h"

static inline uint64_t tw_cmsis_nn_lstm_scratch(int32_t outputs, int wide)
{
    const uint64_t values =
        ((uint64_t)(uint32_t)outputs * (TW_LSTM_GATES + 2) * 2 + 15u) / 16u * 16u;
    return values + (wide ? (uint64_t)(uint32_t)outputs * 8u : 0);
}

#endif
