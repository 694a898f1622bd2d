/* Blocks of pixels to channels and back.
 *
 *     DepthToSpace(x)   x [N, H, W, C * b * b]   out [N, H * b, W * b, C]
 *     SpaceToDepth(x)   x [N, H * b, W * b, C]   out [N, H, W, C * b * b]
 *
 * Pixel (y, x) of the larger image, channel c, is pixel (y / b, x / b) of the smaller, channel
 * block_first: (y % b * b + x % b) * C + c; channel_first: c * b * b + y % b * b + x % b. */
#ifndef TW_OPS_DEPTH_SPACE_H
#define TW_OPS_DEPTH_SPACE_H

#include "ops/attributes.h"

enum { TW_BLOCK_FIRST, TW_CHANNEL_FIRST };

#define TW_DEPTH_SPACE_ATTRIBUTES(A, T)                                                            \
    A(T, INT, block, 1, 1, 1 << 14, "pixels of a block in each direction")                         \
    A(T, ENUM, order, TW_BLOCK_FIRST, 0, 1,                                                        \
      "block_first|channel_first: of the smaller image's channels, what counts slowest")
TW_ATTRIBUTE_STRUCT(depth_space, TW_DEPTH_SPACE_ATTRIBUTES);

#endif
