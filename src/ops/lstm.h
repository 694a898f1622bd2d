/* Long short-term memory over the time axis of [batch, time, features].
 *
 *     Lstm(x, w, r, b?, h0?, c0?)   x [N, T, I]   w [4, O, I]   r [4, O, O]   b [4, O]   h0, c0 [N, O]
 *     y [N, T, O], y_h? [N, O], y_c? [N, O]: all hidden states, the last one, the last cell
 *
 *     i, f, g, o = x[t] * w + b + h[t - 1] * r        (gates in this order: input, forget, cell, output)
 *     c[t] = sigmoid(f) * c[t - 1] + sigmoid(i) * tanh(g), within -cell_clip and cell_clip
 *     h[t] = sigmoid(o) * tanh(c[t])
 *
 * int8: x, h and y int8, c int16 with a scale that is a power of two, w and r int8 with a scale for
 * each gate. TFLite's UNIDIRECTIONAL_SEQUENCE_LSTM: gates are summed as int16 with 12 fraction bits, and
 * sigmoid and tanh interpolate in a table. int16: x, h and y int16 without zero points, b int64. Floats with
 * int8 weights: x[t] and h[t - 1] are quantised as hybrid.h has it, each once a step. h and c between bands are step memory. */
#ifndef TW_OPS_LSTM_H
#define TW_OPS_LSTM_H

#include "ops/attributes.h"

#define TW_LSTM_ATTRIBUTES(A, T)                                                                   \
    A(T, FLOAT, cell_clip, 0, 0, 3.4e38, "bound of the cell's size; 0: none")                      \
    A(T, BOOL, asymmetric, 0, 0, 1, "f32 by s8: x and h are quantised with a zero point")
TW_ATTRIBUTE_STRUCT(lstm, TW_LSTM_ATTRIBUTES);

enum { TW_LSTM_GATES = 4, TW_LSTM_FORGET = 1, TW_LSTM_CELL = 2, TW_LSTM_OUTPUT = 3 };

/* Step memory: h of elements of `bytes`, then c from this byte on. state: elements of each. */
static inline uint64_t tw_lstm_cell_offset(uint64_t state, uint32_t bytes)
{
    return (state * bytes + 15u) / 16u * 16u;
}

/* Blobs of the integer kernels. */
enum {
    TW_LSTM_BLOB_SCALES,  /* tw_lstm_scales */
    TW_LSTM_BLOB_SIGMOID, /* uint16 [256]: 65536 * sigmoid(i / 24) */
    TW_LSTM_BLOB_BIAS,    /* [4, O]: b, less what x's zero point adds; int32, of int16 int64 */
    TW_LSTM_BLOB_H_BIAS,  /* int32 [4, O]: what h's zero point adds; int16 has none */
    TW_LSTM_BLOBS
};

typedef struct tw_lstm_rescale {
    int32_t multiplier, shift;
} tw_lstm_rescale;

typedef struct tw_lstm_scales {
    tw_lstm_rescale x[TW_LSTM_GATES], h[TW_LSTM_GATES]; /* sums to 12 fraction bits */
    tw_lstm_rescale forget, input, output;              /* products: f * c, i * g, o * tanh(c) */
    int32_t tanh_multiplier, tanh_shift;                /* c to the table's steps */
    int32_t clip;                                       /* of the stored cell; 0: none */
} tw_lstm_scales;

#endif
