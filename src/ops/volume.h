/* Convolutions of three spatial axes, in floats.
 *
 *     Conv3d(x, w, b?), ConvTranspose3d(x, w, b?)
 *     x [N, D, H, W, C]   w [O, kd, kh, kw, C / group]   b [O]   out [N, D', H', W', O]
 *
 * Attributes, extents and formulas are those of Conv and ConvTranspose with an axis more in front of rows
 * and columns. Each slice of the output is the sum of two-dimensional convolutions, one for every tap
 * on the first axis that lies inside, ascending, each summed as Conv and ConvTranspose do. */
#ifndef TW_OPS_VOLUME_H
#define TW_OPS_VOLUME_H

#include "ops/conv.h"
#include "ops/conv_transpose.h"

/* The input slice that output slice o reads with tap k; -1: none. */
static inline int32_t tw_slice_of_conv(const tw_span *s, int32_t o, int32_t k)
{
    const int64_t at = (int64_t)o * s->stride - s->pad_begin + (int64_t)k * s->dilation;
    return at >= 0 && at < s->in ? (int32_t)at : -1;
}

static inline int32_t tw_slice_of_transpose(const tw_span *s, int32_t o, int32_t k)
{
    const int64_t at = (int64_t)o + s->pad_begin - (int64_t)k * s->dilation;
    return at >= 0 && at % s->stride == 0 && at / s->stride < s->in ? (int32_t)(at / s->stride)
                                                                    : -1;
}

#endif
