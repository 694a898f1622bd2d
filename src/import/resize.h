/* Resampling as ONNX has it, whatever the container: extents by scales or sizes, then the node. Axes
 * are the caller's until tw_resizing_build, which takes them as the IR's. Messages name the builder's
 * node. */
#ifndef TW_IMPORT_RESIZE_H
#define TW_IMPORT_RESIZE_H

#include "import/build.h"

typedef struct tw_resizing {
    int rank;
    int64_t size[TW_MAX_RANK];
    float scale[TW_MAX_RANK]; /* 0: as the extents say */
    float begin[TW_MAX_RANK], end[TW_MAX_RANK];
    const char *mode, *coordinates, *rounding;
    bool antialias, exclude_outside;
    bool tflite; /* places as TensorFlow Lite computes them */
    float cubic, extrapolation;
} tw_resizing;

/* What may stand in mode, coordinates and rounding, space-separated. */
#define TW_RESIZING_MODES "nearest linear cubic"
#define TW_RESIZING_COORDINATES                                                                    \
    "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "                 \
    "tf_half_pixel_for_nn tf_crop_and_resize"
#define TW_RESIZING_ROUNDINGS "round_prefer_floor round_prefer_ceil floor ceil"
/* Is the word one of them? */
bool tw_is_word(const char *word, const char *words);

/* x as it is, and ONNX's defaults. */
void tw_resizing_begin(tw_resizing *r, const tw_shape *x);
bool tw_resizing_scale(tw_builder *b, const tw_shape *x, tw_resizing *r, int axis, float scale);
/* sizes: one for each of the `count` axes. policy: ONNX's keep_aspect_ratio_policy. */
bool tw_resizing_sizes(tw_builder *b, const tw_shape *x, tw_resizing *r, const int *axis, int count,
                       const int64_t *sizes, const char *policy);
tw_value *tw_resizing_build(tw_builder *b, tw_value *x, const tw_resizing *r);

#endif
