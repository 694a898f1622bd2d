/* The host half of window.h: output shapes, messages and row maps of windowed operators. */
#ifndef TW_OPS_WINDOW_SHAPE_H
#define TW_OPS_WINDOW_SHAPE_H

#include "ops/op.h"
#include "ops/window.h"

/* The output's shape from input 0, a kernel of `spatial` extents and the attributes: rank, batch and
 * type from the input, `channels` last. Fails with a message on anything that does not fit. */
bool tw_window_shape(const tw_shape_call *call, const tw_window_lists *lists, const int32_t *kernel,
                     int spatial, int ceil, int32_t channels);

/* How rows of the windowed input relate to rows of the output: identity on the batch axis, the
 * window's own map on a spatial axis, whole on the channel axis. */
tw_rowmap tw_window_rows(const tw_node *node, const tw_window_lists *lists, const int32_t *kernel,
                         int axis);

/* Checks of operands that the multiply-accumulate operators share. */

/* Types that go together: x and w alike, b alike or, for int8, s32; b a vector of `channels`. */
bool tw_check_weights(const tw_shape_call *call, int32_t channels);

#endif
