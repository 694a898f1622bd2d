/* One operator at a time, as the runtime would call it: whole, or in random bands of which each sees
 * exactly the rows that `rows` declares, in memory that ends where those rows end, with gaps between
 * the rows that nobody may touch. Needs no plan and no other operator. */
#ifndef TW_TESTS_SUPPORT_OPERATE_H
#define TW_TESTS_SUPPORT_OPERATE_H

#include "backends/backend.h"
#include "graph/graph.h"

/* SplitMix64, and a number in [low, high]. */
uint64_t tw_operate_random(uint64_t *state);
int32_t tw_operate_range(uint64_t *state, int32_t low, int32_t high);

/* A value with random elements: floats in [-3, 3), integers over their type's range, bool 0 or 1. */
tw_value *tw_operate_value(tw_graph *graph, tw_dtype dtype, int rank, const int32_t *dim,
                           uint64_t *state);

/* Append a node of one output to the graph; a failure stops the test. attributes: null for the
 * defaults. */
tw_node *tw_operate_node(tw_graph *graph, const char *op, tw_value *const *in, int in_count,
                         const void *attributes);

/* By the portable kernels, with constants packed where the operator can read them so. */
void tw_operate_lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering);

/* Run it whole on dense tensors; the output gets data (in the arena), which is returned. */
const void *tw_operate_whole(tw_node *node, tw_arena *arena);

/* Run it with random strides (weights and the like as the lowering wants them), whole, in place where the operator allows it, over the input's memory where
 * the lowering allows it, and in random bands on
 * every axis that can be a band axis, and compare with the data that the output has. Any difference, any touch of a gap, any status but
 * TW_OK stops the test. The number of banded runs. */
int tw_operate_bands(const tw_node *node, uint64_t *state);

/* Scratch of a lowering for the work at once, or in parts where the kernel can, at random. */
void tw_operate_part(tw_lowering *lowering, uint64_t *state);

/* By the portable kernel, as back ends share its constants: whole, or packed; false where there is no such. */
bool tw_operate_shared(const tw_node *node, bool packs, tw_arena *arena, tw_lowering *lowering);

/* The same by a back end's kernel, dense as plans have tensors, constants packed or not. -1: the back end declines, and says why. */
int tw_operate_native(const tw_node *node, const tw_target *target, bool packs, uint64_t *state,
                      const char **why);

#endif
