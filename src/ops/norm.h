/* Normalisation over axes: attributes and geometry of the members of norm.def. */
#ifndef TW_OPS_NORM_H
#define TW_OPS_NORM_H

#include "ops/attributes.h"

#define TW_NORM_ATTRIBUTES(A, T)                                                                   \
    A(T, INTS, axes, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axes normalised together; empty: all")     \
    A(T, FLOAT, epsilon, 0, 0, 1e6, "see the formula")
TW_ATTRIBUTE_STRUCT(norm, TW_NORM_ATTRIBUTES);

/* What the axes come to. Axes that stay outside the first normalised one are loops of their own;
 * behind it all groups are normalised at the same time. */
typedef struct tw_norm_axes {
    int32_t mask;   /* bit k: axis k is normalised */
    int32_t first;  /* outermost normalised axis of an extent other than 1, else the rank */
    int32_t count;  /* elements of a group */
    int32_t groups; /* groups at the same time */
} tw_norm_axes;

/* Scratch of a group: its mean, the sum of distances from it, and the sum of terms, later the
 * factor. */
#define TW_NORM_GROUP_BYTES 12
/* Of int8: two sums of 64 bits, mean and factor. */
#define TW_NORM_S8_GROUP_BYTES 32

/* 0 when the attributes do not fit a tensor of these extents. */
int tw_norm_resolve(const tw_norm_attributes *a, int32_t rank, const int32_t *dim, tw_norm_axes *n);

#endif
