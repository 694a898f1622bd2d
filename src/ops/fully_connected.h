/* A matrix of weights over the last axis.
 *
 *     FullyConnected(x, w, b?)   x [.., K]   w [O, K]   b [O]   out [.., O]
 *
 *     out[.., o] = clamp(b[o] + sum over k of x[.., k] * w[o, k])
 *
 * Float: bias first, then k ascending. int8: TFLite's FULLY_CONNECTED. */
#ifndef TW_OPS_FULLY_CONNECTED_H
#define TW_OPS_FULLY_CONNECTED_H

#endif
