/* Pooling over windows of one or two spatial axes, channel by channel.
 *
 *     MaxPool(x), AveragePool(x), SumPool(x), MaxPoolIndex(x)
 *     x [N, (H,) W, C]   out [N, (H',) W', C]
 *
 * Extents are conv.h's; with `ceil` they are rounded up, and a window that would start in the padding
 * behind the input is dropped. Elements outside the input are left out: of a maximum always, of an
 * average unless count_include_pad, where padding counts as real zero (what lies behind the padding,
 * under a window rounded up, never counts). A window without any element gives the least value
 * (MaxPool) or zero (AveragePool, SumPool, MaxPoolIndex). MaxPoolIndex counts n, c, y, x in rows of C, H
 * and W, as x would stand with its channels in front.
 *
 * Float averages are summed by rows, then columns, and divided. int8: input and output normally have
 * the same scale; the average is TFLite's AVERAGE_POOL_2D, rounded half away from zero, or half to
 * even counted from the zero point. Where the scales differ the sum (or the maximum), less the zero
 * point, is requantised before it is divided and rounded. */
#ifndef TW_OPS_POOL_H
#define TW_OPS_POOL_H

#include "ops/window.h"

enum { TW_POOL_HALF_AWAY = 0, TW_POOL_HALF_EVEN = 1 };

/* A window has at most so many taps: int8 sums stay within 31 bits. */
#define TW_POOL_MOST_TAPS (1 << 22)

#define TW_POOL_ATTRIBUTES(A, T)                                                                   \
    TW_WINDOW_ATTRIBUTES(A, T)                                                                     \
    A(T, INTS, kernel, 0, 1, TW_WINDOW_MOST, "extent of the window on each spatial axis")          \
    A(T, BOOL, ceil, 0, 0, 1, "round output extents up")                                           \
    A(T, BOOL, count_include_pad, 0, 0, 1, "padding counts as zero")                               \
    A(T, ENUM, rounding, 0, 0, 1, "half_away|half_even: of int8 averages")
TW_ATTRIBUTE_STRUCT(pool, TW_POOL_ATTRIBUTES);

#endif
