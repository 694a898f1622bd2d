/* The boxes of a detector that remain: TensorFlow Lite's TFLite_Detection_PostProcess.
 *
 *     Detections(x, s, a)   x f32 [1, N, K]   s f32 [1, N, C]   a f32 [N, 4]
 *                           out  boxes [1, D, 4], classes [1, D], scores [1, D], count [1], all f32,
 *                           D = most * per_box
 *
 * x, K >= 4, says each box by its centre and size relative to its anchor (both y, x, height, width); s its
 * score in each class, with one in front where C is `classes` + 1: no class at all. A box of
 *     y' = y / y_scale * anchor.height + anchor.y,   height' = exp(height / h_scale) * anchor.height
 * is kept if no box with a higher score that is kept overlaps it by more than `overlap`, intersection over
 * union. Fast: a box's score is its best class's, `most` boxes are kept, and each gives its `per_box` best
 * classes. Regular: in every class by itself, at most `per_class` boxes; of all the `most` best are kept.
 * Of equal scores the earlier box, and the earlier class, comes first. The count is of boxes; behind the last:
 * zeros. (With more than one class a box, the Micro kernel counts classes and leaves gaps; this is TensorFlow
 * Lite's.) */
#ifndef TW_OPS_DETECTIONS_H
#define TW_OPS_DETECTIONS_H

#include "ops/attributes.h"

#define TW_DETECTIONS_MOST (1 << 16)

/* clang-format off */
#define TW_DETECTIONS_ATTRIBUTES(A, T)                                                             \
    A(T, INT, most, 1, 1, TW_DETECTIONS_MOST, "boxes kept")                                        \
    A(T, INT, classes, 1, 1, TW_DETECTIONS_MOST, "classes")                                        \
    A(T, INT, per_box, 1, 1, TW_DETECTIONS_MOST, "fast: classes of each box")                      \
    A(T, INT, per_class, 100, 1, TW_DETECTIONS_MOST, "regular: boxes of each class")               \
    A(T, BOOL, regular, 0, 0, 1, "every class by itself")                                          \
    A(T, FLOAT, threshold, 0, -1e30, 1e30, "least score")                                          \
    A(T, FLOAT, overlap, 0.5, 1e-6, 1, "least intersection over union that removes a box")         \
    A(T, FLOAT, y_scale, 1, 1e-6, 1e6, "of the centre's y")                                        \
    A(T, FLOAT, x_scale, 1, 1e-6, 1e6, "of the centre's x")                                        \
    A(T, FLOAT, h_scale, 1, 1e-6, 1e6, "of the height")                                            \
    A(T, FLOAT, w_scale, 1, 1e-6, 1e6, "of the width")
/* clang-format on */
TW_ATTRIBUTE_STRUCT(detections, TW_DETECTIONS_ATTRIBUTES);

/* Detections that there is room for; classes that a box gives. */
static inline int64_t tw_detections_room(const tw_detections_attributes *a)
{
    return (int64_t)a->most * a->per_box;
}

static inline int32_t tw_detections_of_box(const tw_detections_attributes *a)
{
    return a->per_box < a->classes ? a->per_box : a->classes;
}

typedef struct tw_box {
    float top, left, bottom, right;
} tw_box;

typedef struct tw_detection {
    float score;
    int32_t box, class_index;
} tw_detection;

/* Scratch: N boxes, N best scores, `most` detections, N flags. */
static inline int64_t tw_detections_scratch(const tw_detections_attributes *a, int32_t boxes)
{
    return (int64_t)boxes * (int64_t)(sizeof(tw_box) + sizeof(float) + 1) +
           (int64_t)a->most * (int64_t)sizeof(tw_detection);
}

#endif
