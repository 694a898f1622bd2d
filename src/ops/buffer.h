/* Buffer: frames that gather over runs.
 *
 *     Buffer (x, held, count, reset?)     out, count, full
 *
 * held, count: what out and count were in the run before (states). `count` is [frames that are there, 1 once
 * some have been removed]. With reset, one BOOL, everything is dropped and `padding` frames of zeros are
 * there. The n frames of x are put behind those that are there; where they have no room, the `stride`
 * oldest are removed first. What is there stands at the left, oldest first, zeros behind it; with
 * right=1 at the right until frames have been removed. full: is all of out filled? */
#ifndef TW_OPS_BUFFER_H
#define TW_OPS_BUFFER_H

#include "ops/attributes.h"

#define TW_BUFFER_ATTRIBUTES(A, T)                                                                 \
    A(T, INT, axis, 0, 0, TW_MAX_RANK - 1, "of the frames")                                        \
    A(T, INT, stride, 1, 1, INT32_MAX, "frames removed where there is no room")                    \
    A(T, INT, padding, 0, 0, INT32_MAX, "frames of zeros that are there after a reset")            \
    A(T, BOOL, right, 0, 0, 1, "frames stand at the right as long as none have been removed")
TW_ATTRIBUTE_STRUCT(buffer, TW_BUFFER_ATTRIBUTES);

enum { TW_BUFFER_X, TW_BUFFER_HELD, TW_BUFFER_COUNT, TW_BUFFER_RESET, TW_BUFFER_OPERANDS };

#endif
