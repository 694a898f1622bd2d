/* Convolution of one or two spatial axes, in groups.
 *
 *     Conv(x, w, b?)   x [N, (H,) W, C]   w [O, (kh,) kw, C / group]   b [O]   out [N, (H',) W', O]
 *
 *     out[n, y, x', o] = clamp(b[o] + sum over i, j, c of
 *         x[n, y * sh - ph + i * dh, x' * sw - pw + j * dw, g * C/group + c] * w[o, i, j, c])
 *
 * with g = o / (O / group) and H' = floor((H + ph + ph_end - dh * (kh - 1) - 1) / sh) + 1. Padding is
 * real zero: taps outside the input are left out of the sum. Float: bias first, then rows, columns
 * and channels ascending. int8: TFLite's CONV_2D, tables multiplier, shift and folded bias. */
#ifndef TW_OPS_CONV_H
#define TW_OPS_CONV_H

#include "ops/window.h"

#define TW_CONV_ATTRIBUTES(A, T)                                                                   \
    TW_WINDOW_ATTRIBUTES(A, T)                                                                     \
    A(T, INT, group, 1, 1, INT32_MAX, "channel groups")
TW_ATTRIBUTE_STRUCT(conv, TW_CONV_ATTRIBUTES);

#endif
