/* A matrix of weights over all elements of a map, summed up row by row as they come.
 *
 *     FullyConnectedMap(x, w, b?)   x [1, .., R, ..]   w [O, K]   b [O]   out [1, .., O]
 *
 *     out[o] = clamp(b[o] + sum over k of x[k] * w[o, k])     k: elements of x, row-major, K in all
 *
 * It is FullyConnected of the map as one vector: the same products in the same order, so the same bytes, whatever
 * rows arrive together. What is kept between them is a sum for each output. Rows are those of x's first axis of an
 * extent other than 1: of an image, of time, or, where x is a vector, its elements. */
#ifndef TW_OPS_CONNECTED_MAP_H
#define TW_OPS_CONNECTED_MAP_H

#include "ops/attributes.h"

#define TW_CONNECTED_MAP_ATTRIBUTES(A, T)                                                          \
    A(T, INT, rank, 2, 1, TW_MAX_RANK, "of the result, whose last axis counts outputs")
TW_ATTRIBUTE_STRUCT(connected_map, TW_CONNECTED_MAP_ATTRIBUTES);

/* The axis of x whose rows are summed up: the first of an extent other than 1, or the last. */
static inline int tw_map_axis(int rank, const int32_t *dim)
{
    int axis = 0;
    while (axis + 1 < rank && dim[axis] == 1)
        axis++;
    return axis;
}

#endif
