/* Graph outputs that no step computes. */
#ifndef TW_PLAN_OUTPUTS_H
#define TW_PLAN_OUTPUTS_H

#include "graph/graph.h"

/* An output that is a constant (or a view of one) is copied, so that every output lies in memory
 * that the caller may read and keep. An output that is an input is left: it is in place already. */
bool tw_own_outputs(tw_graph *graph, tw_diag *diag);

#endif
