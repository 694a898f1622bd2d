/* Boxes without those that better ones overlap: ONNX's NonMaxSuppression, with room for `most` of them.
 *
 *     NonMaxSuppression(boxes, scores, limit, overlap, threshold)
 *         boxes f32 [B, N, 4]   scores f32 [B, C, N]   out  s64 [most, 3], count s64 [1]
 *
 * In every class of every batch by itself, boxes from the highest score down are kept, at most `limit` (s64,
 * one element; absent: all) of a class: those whose score is above `threshold` (f32; absent: any) and whose
 * intersection over union with none that is kept exceeds `overlap` (f32; absent: 0). Of equal scores the
 * earlier box comes first. Each is a row batch, class, box; the count is of all, also of those behind `most`,
 * which are left out; rows behind the last are -1. A box is two opposite corners, y and x of each, or its
 * centre and size, x first (`centre`). */
#ifndef TW_OPS_NON_MAX_H
#define TW_OPS_NON_MAX_H

#include "ops/attributes.h"

#define TW_NON_MAX_MOST (1 << 20)

#define TW_NON_MAX_ATTRIBUTES(A, T)                                                                \
    A(T, INT, most, 1, 0, TW_NON_MAX_MOST, "rows of the result")                                   \
    A(T, BOOL, centre, 0, 0, 1, "boxes are x, y of the centre, width and height")
TW_ATTRIBUTE_STRUCT(non_max, TW_NON_MAX_ATTRIBUTES);

#endif
