/* Depthwise convolution of one or two spatial axes: each output channel reads one input channel.
 *
 *     DepthwiseConv(x, w, b?)   x [N, (H,) W, C]   w [(kh,) kw, O]   b [O]   out [N, (H',) W', O]
 *
 *     out[n, y, x', o] = clamp(b[o] + sum over i, j of
 *         x[n, y * sh - ph + i * dh, x' * sw - pw + j * dw, o / m] * w[i, j, o])
 *
 * with m = O / C, the channel multiplier, and extents as in conv.h. Padding is real zero. Float: bias
 * first, then rows and columns ascending. int8: TFLite's DEPTHWISE_CONV_2D. */
#ifndef TW_OPS_DEPTHWISE_CONV_H
#define TW_OPS_DEPTHWISE_CONV_H

#include "ops/window.h"

TW_ATTRIBUTE_STRUCT(depthwise_conv, TW_WINDOW_ATTRIBUTES);

#endif
