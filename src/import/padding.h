/* TensorFlow's padding, for every container that has it. span: of the kernel, dilated. All numbers are
 * the caller's to check: extents and spans from 0 up, strides from 1. */
#ifndef TW_IMPORT_PADDING_H
#define TW_IMPORT_PADDING_H

#include <stdint.h>

typedef struct tw_pads {
    int64_t begin, end;
    int64_t added; /* elements behind the result of a transposed convolution */
} tw_pads;

/* SAME: as many results as strides fit the input, the padding halved, the odd one behind. */
static inline tw_pads tw_same_pads(int64_t extent, int64_t stride, int64_t span)
{
    const int64_t out = (extent + stride - 1) / stride;
    const int64_t pads = (out - 1) * stride + span - extent;
    if (out <= 0 || pads <= 0)
        return (tw_pads){0, 0, 0};
    return (tw_pads){pads / 2, pads - pads / 2, 0};
}

/* What makes `extent` results of x elements, spread: the pads of the convolution that is transposed,
 * which is padded as SAME has it or not at all. */
static inline tw_pads tw_transposed_pads(int64_t x, int64_t extent, int64_t stride, int64_t span,
                                         int same)
{
    const int64_t steps = same ? (extent + stride - 1) / stride : (extent + stride - span) / stride;
    const int64_t total = (steps - 1) * stride + span - extent;
    tw_pads pads = {total > 0 ? total / 2 : 0, 0, 0};
    const int64_t rest = (x - 1) * stride + span - pads.begin - extent;
    pads.end = rest > 0 ? rest : 0;
    pads.added = rest < 0 ? -rest : 0;
    return pads;
}

#endif
