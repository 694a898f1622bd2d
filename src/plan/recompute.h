/* Below what rows and columns reach: parts of the network are computed twice, so that tensors need not be held
 * (plan/chains.h). Only where the budget asks for it, and never more than finding it out may cost. */
#ifndef TW_PLAN_RECOMPUTE_H
#define TW_PLAN_RECOMPUTE_H

#include "plan/schedule.h"

/* tw_plan_held; and where the plan does not fit without slow memory, of the plans with more work that fit the one that
 * takes the least more. schedule->graph may be another graph than the one given. */
bool tw_plan_recomputing(tw_graph *graph, const tw_compile_options *options, tw_schedule *schedule,
                         tw_diag *diag);

#endif
