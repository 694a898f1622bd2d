/* Regions of images, each pooled to the same extents.
 *
 *     RoiAlign(x, regions, batches)   x [N, H, W, C]   regions [R, 4]   batches s64 [R]
 *     MaxRoiPool(x, regions)          x [N, H, W, C]   regions [R, 5], the batch first
 *                                     out [R, height, width, C]
 *
 * A region is x, y of its first and its last corner, in elements of the input once multiplied by `scale`.
 * RoiAlign takes in every cell `samples` by `samples` places between four elements (0: as many as the
 * cell has elements, rounded up) and their mean, or of the four elements times their weights the largest.
 * MaxRoiPool takes the largest element of every cell, zero where it has none. */
#ifndef TW_OPS_ROI_H
#define TW_OPS_ROI_H

#include "ops/attributes.h"

enum { TW_ROI_AVERAGE, TW_ROI_MAX };

/* Output extents, and places of a cell in each direction, are no more than this. */
#define TW_ROI_MOST 4096

#define TW_ROI_ATTRIBUTES(A, T)                                                                    \
    A(T, INT, height, 1, 1, TW_ROI_MOST, "rows of the output")                                     \
    A(T, INT, width, 1, 1, TW_ROI_MOST, "columns of the output")                                   \
    A(T, FLOAT, scale, 1, 0, 1e6, "from a region's numbers to elements")                           \
    A(T, INT, samples, 0, 0, TW_ROI_MOST, "places of a cell in each direction; 0: by its size")    \
    A(T, BOOL, half_pixel, 0, 0, 1, "elements are centred half an element on")                     \
    A(T, ENUM, mode, TW_ROI_AVERAGE, 0, 1, "avg|max: of a cell's places")
TW_ATTRIBUTE_STRUCT(roi, TW_ROI_ATTRIBUTES);

#endif
