/* Resampling along any axes.
 *
 *     Resize(x), ResizeNearest(x)   x [d0, d1, ..]   out [size0, size1, ..]
 *
 *     out[o0, o1, ..] = sum over taps t0, t1, .. of x[first0[o0] + t0, ..] * w0[o0][t0] * w1[o1][t1] * ..
 *
 * Where an output stands in the input is for `coordinates` to say, which taps it has and how much they
 * weigh for `mode`; both are settled when the step is lowered, as tables by axis. Elements outside x are
 * those at its edge, but of tf_crop_and_resize an output outside is `extrapolation`. Float: weights
 * are multiplied axis by axis, taps of the outermost axis ascending outermost. int8: weights have
 * ten fraction bits and add up to one, sums are rounded half away from zero, as TFLite's RESIZE_BILINEAR, and
 * saturated. ResizeNearest
 * moves elements of any type. */
#ifndef TW_OPS_RESIZE_H
#define TW_OPS_RESIZE_H

#include "ops/attributes.h"

enum { TW_RESIZE_NEAREST, TW_RESIZE_LINEAR, TW_RESIZE_CUBIC };

enum {
    TW_RESIZE_HALF_PIXEL,           /* (o + 0.5) / scale - 0.5 */
    TW_RESIZE_HALF_PIXEL_SYMMETRIC, /* the same, centred where scale times extent is no whole number */
    TW_RESIZE_PYTORCH_HALF_PIXEL, /* the same, but a single output stands at -0.5 */
    TW_RESIZE_ALIGN_CORNERS,      /* o * (in - 1) / (out - 1) */
    TW_RESIZE_ASYMMETRIC,         /* o / scale */
    TW_RESIZE_TF_HALF_PIXEL,      /* (o + 0.5) / scale */
    TW_RESIZE_CROP                /* within [begin, end] of the extent */
};

enum { TW_RESIZE_PREFER_FLOOR, TW_RESIZE_PREFER_CEIL, TW_RESIZE_FLOOR, TW_RESIZE_CEIL };

/* Extents of resampled axes, and entries of a table, stay below these. */
#define TW_RESIZE_EXTENT (1 << 20)
#define TW_RESIZE_ENTRIES (1 << 24)

#define TW_RESIZE_ATTRIBUTES(A, T)                                                                 \
    A(T, INTS, size, 0, 0, INT32_MAX, "extents of the output, one an axis")                        \
    A(T, FLOATS, scale, 0, 0, TW_RESIZE_EXTENT,                                                    \
      "outputs an input element on each axis; 0 or empty: from the extents")                       \
    A(T, ENUM, mode, TW_RESIZE_NEAREST, 0, 2, "nearest|linear|cubic: which taps, which weights")   \
    A(T, ENUM, coordinates, TW_RESIZE_HALF_PIXEL, 0, 6,                                            \
      "half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|asymmetric|"               \
      "tf_half_pixel_for_nn|tf_crop_and_resize: where an output stands in the input")              \
    A(T, ENUM, rounding, TW_RESIZE_PREFER_FLOOR, 0, 3,                                             \
      "round_prefer_floor|round_prefer_ceil|floor|ceil: of nearest")                               \
    A(T, BOOL, tflite, 0, 0, 1, "coordinates in float32, step by step as TFLite's reference")      \
    A(T, BOOL, antialias, 0, 0, 1, "widen linear and cubic windows where the output is smaller")   \
    A(T, BOOL, exclude_outside, 0, 0, 1, "taps outside weigh nothing; the others more")            \
    A(T, FLOAT, cubic, -0.75, -16, 16, "coefficient of cubic")                                     \
    A(T, FLOAT, extrapolation, 0, -INFINITY, INFINITY, "outputs outside, of tf_crop_and_resize")   \
    A(T, FLOATS, begin, 0, -1e6, 1e6, "of tf_crop_and_resize, on each axis; empty: 0")             \
    A(T, FLOATS, end, 0, -1e6, 1e6, "of tf_crop_and_resize, on each axis; empty: 1")
TW_ATTRIBUTE_STRUCT(resize, TW_RESIZE_ATTRIBUTES);

/* The table begins with one of these for each axis. Behind it, at word `at` from its start, of an axis
 * of n outputs: the first tap of each (n words), how many taps (n words; 0: extrapolation), and
 * their weights (n times `taps` words: floats or integers; none of ResizeNearest). */
typedef struct tw_resize_axis {
    int32_t taps; /* at most; 0: the axis is taken as it is */
    int32_t at;
} tw_resize_axis;

enum { TW_RESIZE_BITS = 10 };

#endif
