/* Long short-term memory of int8 with what the plain one (lstm.h) lacks: TFLite's LSTM and
 * UNIDIRECTIONAL_SEQUENCE_LSTM with coupled gates, peephole connections, layer normalisation or a
 * projection, bit for bit.
 *
 *     LstmFull(x, w, r, b?, h0, c0, p?, n?, j?, d?)
 *         x s8 [N, T, I]   w s8 [G, O, I]   r s8 [G, O, P]   b s32 [G, O]   h0 s8 [N, P]   c0 s16 [N, O]
 *         p s16 [G - 1, O]   n s16 [G, O]   j s8 [P, O]   d s32 [P]
 *     y s8 [N, T, P], y_h? [N, P], y_c? [N, O]: all results, the last one, the last cell
 *
 * Gates in this order: input, forget, cell, output; G is 4, or 3 where they are coupled: without the input
 * gate, which is 1 - forget then. A gate's sum is int16, in steps of 2^-12 or, where it is normalised, of
 * its `steps`. Peephole weights p let the input and forget gates see the old cell, the output gate the new
 * one. Normalised sums (n) have the bias b behind them. What comes out of the cell is int8 of
 * `hidden_scale` and `hidden_zero`, and the result, or is projected by j and d, P results from O. */
#ifndef TW_OPS_LSTM_FULL_H
#define TW_OPS_LSTM_FULL_H

#include "ops/lstm.h"

#define TW_LSTM_FULL_ATTRIBUTES(A, T)                                                              \
    A(T, FLOAT, cell_clip, 0, 0, 3.4e38, "bound of the cell's size; 0: none")                      \
    A(T, FLOAT, projection_clip, 0, 0, 3.4e38, "bound of the projection's size; 0: none")          \
    A(T, FLOATS, steps, 0, 0, 1e6, "scale of each gate's sum; empty: 2^-12")                       \
    A(T, FLOAT, hidden_scale, 1, 1e-9, 1e6, "scale in front of the projection")                    \
    A(T, INT, hidden_zero, 0, -128, 128, "its zero point")
TW_ATTRIBUTE_STRUCT(lstm_full, TW_LSTM_FULL_ATTRIBUTES);

/* Operands. */
enum {
    TW_LSTM_FULL_X,
    TW_LSTM_FULL_W,
    TW_LSTM_FULL_R,
    TW_LSTM_FULL_B,
    TW_LSTM_FULL_H,
    TW_LSTM_FULL_C,
    TW_LSTM_FULL_PEEPHOLE,
    TW_LSTM_FULL_NORM,
    TW_LSTM_FULL_PROJECTION,
    TW_LSTM_FULL_PROJECTION_BIAS,
    TW_LSTM_FULL_OPERANDS
};

/* Blob 0. Gates stand at their places among four, whether there is an input gate or not. */
typedef struct tw_lstm_full_scales {
    tw_lstm_rescale x[TW_LSTM_GATES], h[TW_LSTM_GATES]; /* sums to the gate's steps */
    tw_lstm_rescale peephole[TW_LSTM_GATES];            /* products with the cell to the same */
    tw_lstm_rescale norm[TW_LSTM_GATES];                /* normalised values to 12 fraction bits */
    int32_t variance[TW_LSTM_GATES];                    /* the least */
    tw_lstm_rescale hidden, projection;
    int32_t added_shift;               /* right, of input gate times cell gate */
    int32_t cell_bits;                 /* integer bits of the cell */
    int32_t clip, clip_low, clip_high; /* of the cell, 0: none; of the projection */
    int32_t hidden_zero;
} tw_lstm_full_scales;

/* Blob 1, int32: biases of x and of h, zero points folded in, and of the normalised, [G, O] each; then of
 * the projection, [P]. */

/* Scratch: int16 sums of the gates, then int8 of what comes out of the cell. */
static inline uint64_t tw_lstm_full_scratch(uint64_t cells)
{
    return cells * (TW_LSTM_GATES * 2u + 1u);
}

#endif
