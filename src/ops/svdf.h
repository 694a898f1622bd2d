/* One step of a singular value decomposition filter: a layer of filters with a memory each.
 *
 *     Svdf(x, f, t, b?, s)   x [N, I]   f [F, I]   t [F, M]   b [U], U = F / rank   s [N, F * M]
 *     y [N, U], s' [N, F * M]
 *
 *     s'[n, k] = the last M - 1 of s[n, k], then x[n] * f[k]
 *     y[n, u] = clamp(b[u] + sum over the `rank` filters k of u of s'[n, k] * t[k])
 *
 * int8: x, f and y int8; t and s int16 or int8. TFLite's SVDF. Floats with int8 f and t: x is quantised as
 * hybrid.h has it, t multiplied by its scale where it is read. */
#ifndef TW_OPS_SVDF_H
#define TW_OPS_SVDF_H

#include "ops/attributes.h"

#define TW_SVDF_ATTRIBUTES(A, T)                                                                   \
    A(T, INT, rank, 1, 1, 1 << 16, "filters whose outputs are added up")                           \
    A(T, BOOL, asymmetric, 0, 0, 1, "f32 by s8: x is quantised with a zero point")
TW_ATTRIBUTE_STRUCT(svdf, TW_SVDF_ATTRIBUTES);

/* Blobs of the int8 kernel. */
enum {
    TW_SVDF_BLOB_SCALES,  /* tw_svdf_scales */
    TW_SVDF_BLOB_FEATURE, /* int32 [F]: what x's zero point adds */
    TW_SVDF_BLOB_BIAS,    /* int32 [U]: b, less what the memory's zero point adds */
    TW_SVDF_BLOBS
};

typedef struct tw_svdf_scales {
    int32_t feature_multiplier, feature_shift; /* sums to what is remembered */
    int32_t out_multiplier, out_shift;
} tw_svdf_scales;

/* The blob of the kernel of floats with int8 weights. */
typedef struct tw_svdf_hybrid {
    float feature, time; /* scales of f and t */
    int32_t asymmetric;  /* 1: x is quantised with a zero point */
} tw_svdf_hybrid;

#endif
