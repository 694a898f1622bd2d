/* What the host halves of libraries of int8 kernels have in common. */
#ifndef TW_BACKENDS_WINDOWED_H
#define TW_BACKENDS_WINDOWED_H

#include "backends/backend.h"
#include "ops/window_shape.h"

/* Why bands of a windowed operator cannot be images; null where they can. The kernel's extents, outermost
 * first. */
const char *tw_native_bands(const tw_native_node *n, const tw_window_lists *lists,
                            const int32_t *kernel);

/* Why a function that counts on every window covering an element, without dilation, does not take a
 * node; null where it does. */
const char *tw_native_touch(const tw_native_node *n, const tw_window_lists *lists,
                            const int32_t *kernel);

/* The bias as the model has it, or zeros, in place of the portable kernel's. `channels` of them. */
void tw_native_plain_bias(const tw_native_node *n, int32_t channels, tw_arena *arena,
                          tw_lowering *lowering);

#endif
