/* Sampling at places that are data.
 *
 *     GridSample(x, grid)   x [N, spatial.., C]   grid [N, places.., s]   out [N, places.., C]
 *
 * A place is s numbers, the innermost of x's s spatial axes first; -1 and 1 are the borders of the input:
 * the centres of its first and last elements where `align_corners`, else their outer edges. Elements
 * outside are by `padding` zero, those at the border, or mirrored about it. Taps ascend, the outermost axis
 * outermost, their weights are multiplied in that order. */
#ifndef TW_OPS_GRID_SAMPLE_H
#define TW_OPS_GRID_SAMPLE_H

#include "ops/attributes.h"

enum { TW_GRID_NEAREST, TW_GRID_LINEAR, TW_GRID_CUBIC };
enum { TW_GRID_ZEROS, TW_GRID_BORDER, TW_GRID_REFLECTION };

#define TW_GRID_SAMPLE_ATTRIBUTES(A, T)                                                            \
    A(T, ENUM, mode, TW_GRID_LINEAR, 0, 2, "nearest|linear|cubic: which taps, which weights")      \
    A(T, ENUM, padding, TW_GRID_ZEROS, 0, 2, "zeros|border|reflection: what lies outside")         \
    A(T, BOOL, align_corners, 0, 0, 1, "-1 and 1 are centres of elements")
TW_ATTRIBUTE_STRUCT(grid_sample, TW_GRID_SAMPLE_ATTRIBUTES);

#endif
