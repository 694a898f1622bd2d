/* Minimum cut of a network between two terminals. */
#ifndef TW_NORMALIZE_LAYOUT_CUT_H
#define TW_NORMALIZE_LAYOUT_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct tw_cut tw_cut;

/* A network of `nodes` nodes without arcs, in the arena. */
tw_cut *tw_cut_new(tw_arena *arena, int nodes);

/* Cost of node i lying on the sink's side; a negative one is a cost of the source's side. */
void tw_cut_unary(tw_cut *cut, int i, int64_t cost);

/* Cost, not negative, of i on the source's side and j on the sink's. */
void tw_cut_pair(tw_cut *cut, int i, int j, int64_t cost);

/* Solve. Of the cuts of least cost, the one with the most nodes on the sink's side. */
void tw_cut_solve(tw_cut *cut);
bool tw_cut_on_sink_side(const tw_cut *cut, int i);

#endif
