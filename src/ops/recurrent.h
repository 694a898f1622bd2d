/* Recurrent layers: attributes and operands of the members of recurrent.def.
 *
 *     Op(x, w, r, b?, lengths?, h0?, c0?, p?)
 *         x [N, T, I]   w [G, O, I]   r [G, O, O]   b [2, G, O]: of w and of r
 *         lengths s32 [N], or bool [N, T]: the steps that are taken
 *         h0, c0 [N, O]   p [3, O]; c0 and p of a PeepholeLstm only
 *     y [N, T, O], y_h? [N, O], y_c? [N, O]: all hidden states, the last one, the last cell
 *
 * Gates G: of an Rnn one; of a Gru z (update), s (reset), k (candidate); of a PeepholeLstm i (input),
 * o (output), f (forget), c (cell), peepholes i, o, f. The output gate's peephole looks at the new
 * cell. At a step that is not taken, behind a sequence's length or false, the states stay as they are and y is
 * 0; with hold it is the hidden state. w and r may as well be
 * [1, G * O, I] and [1, G * O, O]: the same elements, which may then have a scale for each row.
 *
 * int8: x, w, r, h0, y and y_h int8, h as y has it; c0 and y_c int16, of a scale that is a power of two; b and
 * p constant floats. docs/numerics.md has the arithmetic. */
#ifndef TW_OPS_RECURRENT_H
#define TW_OPS_RECURRENT_H

#include "ops/attributes.h"

/* Names and values in the order of TW_ACTIVATION_WORDS; alpha and beta where the expression has
 * them. */
enum {
    TW_ACTIVATION_SIGMOID = 0,
    TW_ACTIVATION_TANH,
    TW_ACTIVATION_RELU,
    TW_ACTIVATION_AFFINE,
    TW_ACTIVATION_LEAKY_RELU,
    TW_ACTIVATION_THRESHOLDED_RELU,
    TW_ACTIVATION_SCALED_TANH,
    TW_ACTIVATION_HARD_SIGMOID,
    TW_ACTIVATION_ELU,
    TW_ACTIVATION_SOFTSIGN,
    TW_ACTIVATION_SOFTPLUS,
    TW_ACTIVATIONS
};
#define TW_ACTIVATION_WORDS                                                                        \
    "sigmoid|tanh|relu|affine|leaky_relu|thresholded_relu|scaled_tanh|hard_sigmoid|elu|softsign|"  \
    "softplus: "

#define TW_RECURRENT_ATTRIBUTES(A, T)                                                              \
    A(T, ENUM, f, 0, 0, TW_ACTIVATIONS - 1, TW_ACTIVATION_WORDS "of the gates")                    \
    A(T, ENUM, g, 1, 0, TW_ACTIVATIONS - 1, TW_ACTIVATION_WORDS "of the candidate")                \
    A(T, ENUM, h, 1, 0, TW_ACTIVATIONS - 1, TW_ACTIVATION_WORDS "of the cell, for the result")     \
    A(T, FLOATS, alpha, 0, -3.4e38, 3.4e38, "of f, g and h; empty: 1")                             \
    A(T, FLOATS, beta, 0, -3.4e38, 3.4e38, "of f, g and h; empty: 0")                              \
    A(T, FLOAT, clip, 0, 0, 3.4e38, "bound of what f and g are applied to; 0: none")               \
    A(T, BOOL, linear_before_reset, 0, 0, 1,                                                       \
      "Gru: k = g(x * w + b + s . (h * r + b)) with both parts of b")                              \
    A(T, BOOL, input_forget, 0, 0, 1, "PeepholeLstm: f = 1 - i")                                   \
    A(T, BOOL, hold, 0, 0, 1, "y at a step that is not taken: the hidden state, not 0")
TW_ATTRIBUTE_STRUCT(recurrent, TW_RECURRENT_ATTRIBUTES);

enum {
    TW_RECURRENT_X,
    TW_RECURRENT_W,
    TW_RECURRENT_R,
    TW_RECURRENT_B,
    TW_RECURRENT_LENGTHS,
    TW_RECURRENT_H0,
    TW_RECURRENT_C0,
    TW_RECURRENT_P,
    TW_RECURRENT_OPERANDS
};

#endif
