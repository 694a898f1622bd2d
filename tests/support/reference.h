/* A whole graph evaluated node by node with the portable kernels, every tensor resident: what the
 * passes, the planner and the runtime are compared with. */
#ifndef TW_TESTS_REFERENCE_H
#define TW_TESTS_REFERENCE_H

#include "graph/graph.h"

/* In: a checked graph; inputs[i], dense data of graph input i. Out: outputs[i], dense data of graph
 * output i (in `arena`; it may be an input or a constant). band: rows a kernel call, 0 for whole.
 * States hold what they hold after a reset.
 * The graph itself is unchanged afterwards. Batch normalisation, which has no kernel, is computed
 * here, in double. False leaves a message. */
bool tw_reference_run(tw_graph *graph, tw_arena *arena, const void *const *inputs,
                      const void **outputs, int band, tw_diag *diag);

/* Deterministic data for a value: integers in [low, high], or for f32 multiples of `step` in the
 * same range (step 0: any float of the range). */
void *tw_reference_random(tw_arena *arena, const tw_shape *shape, uint64_t *seed, double low,
                          double high, double step);

/* The next number of a SplitMix64 sequence. */
uint64_t tw_reference_next(uint64_t *seed);

/* The largest |a - b| of two dense tensors as numbers (NaN equals NaN; INFINITY when only one is).
 */
double tw_reference_difference(const tw_shape *shape, const void *a, const void *b);

#endif
