/* Random networks as importers of channels-first models write them: every operator that is defined
 * channels last stands between two Transposes. Text IR, a few to a few dozen nodes.
 *
 * Constants and intended inputs are small integers (random data must be rounded to multiples of 1) and
 * every sum of them is exact in float, so that results can be compared for equality whatever the
 * order of additions. */
#ifndef TW_TESTS_RANDOM_GRAPH_H
#define TW_TESTS_RANDOM_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* quantized: with Quantize and Dequantize around many activations, s8 and u8, and weights in int8.
 * Every scale is a power of two that holds the data, so that int8 arithmetic is exact as well. */
char *tw_random_graph(tw_arena *arena, uint64_t seed, bool quantized);

#endif
