/* Transposed convolution of one or two spatial axes, in groups: each input element is spread over the
 * outputs that a convolution of the same attributes would read it for.
 *
 *     ConvTranspose(x, w, b?)   x [N, (H,) W, C]   w [O, (kh,) kw, C / group]   b [O]
 *                               out [N, (H',) W', O]
 *
 *     out[n, y, x', o] = clamp(b[o] + sum over i, j, c, and those r, q with
 *         y = r * sh - ph + i * dh, x' = q * sw - pw + j * dw, of x[n, r, q, g * C/group + c] * w[o, i, j, c])
 *
 * with g = o / (O / group) and H' = (H - 1) * sh + dh * (kh - 1) + 1 - ph - ph_end + output_pad.
 * Outputs are computed one by one, by phase: all outputs with one remainder of (y + ph) by sh see the
 * same taps, so that each phase is a convolution of stride 1. Float: bias first, then input rows,
 * columns and channels ascending. Floats with int8 weights: to the bit what the floats that these stand
 * for give. int8: TFLite's TRANSPOSE_CONV; how many taps an output sees differs
 * from one to the next, so the bias table has no zero points folded in. */
#ifndef TW_OPS_CONV_TRANSPOSE_H
#define TW_OPS_CONV_TRANSPOSE_H

#include "ops/window.h"

/* Phases on all axes together: finding the taps of one takes as many steps. */
#define TW_PHASES_MOST 4096

#define TW_CONV_TRANSPOSE_ATTRIBUTES(A, T)                                                         \
    TW_WINDOW_ATTRIBUTES(A, T)                                                                     \
    A(T, INT, group, 1, 1, INT32_MAX, "channel groups")                                            \
    A(T, INTS, output_pad, 0, 0, TW_WINDOW_MOST, "elements added behind the output; empty: 0")
TW_ATTRIBUTE_STRUCT(conv_transpose, TW_CONV_TRANSPOSE_ATTRIBUTES);

/* The taps that outputs of one phase see: last, last - step, ... (`taps` of them), and how many input
 * elements lie from one to the next. */
typedef struct tw_phase {
    int32_t taps, last, step, reach;
} tw_phase;

static inline int32_t tw_common_divisor(int32_t a, int32_t b)
{
    while (b != 0) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* remainder: of (output + pad_begin) by the stride. */
static inline tw_phase tw_phase_of(const tw_span *s, int32_t remainder)
{
    const int32_t divisor = tw_common_divisor(s->stride, s->dilation);
    tw_phase phase = {0, 0, 1, 1};
    int32_t k;
    phase.step = s->stride / divisor;
    phase.reach = s->dilation / divisor;
    for (k = 0; k < s->kernel && k < phase.step; k++) {
        if ((uint32_t)k * (uint32_t)s->dilation % (uint32_t)s->stride == (uint32_t)remainder) {
            phase.taps = (s->kernel - 1 - k) / phase.step + 1;
            phase.last = k + (phase.taps - 1) * phase.step;
            break;
        }
    }
    return phase;
}

/* Outputs along an axis without output_pad; may be 0 or less. */
static inline int64_t tw_transposed_extent(const tw_span *s)
{
    return (int64_t)(s->in - 1) * s->stride + tw_window_reach(s) - s->pad_begin - s->pad_end;
}

#endif
