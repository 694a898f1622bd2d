/* Blocks of pixels to batches and back, as TensorFlow's containers have them: dilated convolutions of
 * older models stand between the two. Messages name the builder's node and `op`.
 */
#ifndef TW_IMPORT_BATCHES_H
#define TW_IMPORT_BATCHES_H

#include "import/build.h"

/* Blocks of the axes 1 to count; around: what is padded or cut off on each of them, a constant of
 * integers whose shape is [count, 2]. */
typedef struct tw_batches {
    int count;
    const int64_t *block;
    const tw_value *around;
} tw_batches;

/* [N, S.., rest..], padded, to [blocks * N, S / block.., rest..]. */
tw_value *tw_build_space_to_batch(tw_builder *b, const char *op, tw_value *x,
                                  const tw_batches *batches);
/* [blocks * N, S.., rest..] to [N, S * block.., rest..], cropped. */
tw_value *tw_build_batch_to_space(tw_builder *b, const char *op, tw_value *x,
                                  const tw_batches *batches);

#endif
