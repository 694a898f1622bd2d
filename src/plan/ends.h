/* How a run ends: outputs and states that no step would otherwise write. */
#ifndef TW_PLAN_ENDS_H
#define TW_PLAN_ENDS_H

#include "graph/graph.h"

/* What owns the bytes of a value: itself, or what it is a view of. */
const tw_value *tw_view_root(const tw_value *value);

/* An output that is a constant, a state as a run found it, or a view of one is copied, so that every output lies in memory
 * that the caller may read and keep. An output that is an input is left: it is in place already. */
bool tw_own_outputs(tw_graph *graph, tw_diag *diag);

/* Afterwards each state either never changes (next is null) or has its next value computed, straight
 * into the state's memory, by a node after which nobody reads the old value: where that was not so
 * already, by a copy at the end of the run. */
bool tw_own_states(tw_graph *graph, tw_diag *diag);

/* The state whose next value this is, or -1. */
int tw_state_written(const tw_graph *graph, const tw_value *value);

#endif
