/* Fully connected layers that sum up the rows of what they read as it comes, instead of taking it whole: what they keep
 * is a sum for each output. In: a graph that is ready for planning. Out: the schedule of the graph as it is, or of one
 * with some FullyConnected nodes as FullyConnectedMap, which is then what `graph` holds.
 *
 *     conv [1,25,20,8] -> Reshape [1,4000] -> FullyConnected     the map is never whole
 *     FullyConnected [1,1024] -> FullyConnected [1,64]           nor is a wide middle: the first makes some of its
 *                                                                outputs, the second takes them as its next inputs
 *
 * The results are the same bytes and nothing is computed twice. The portable kernels alone do it, so it is for plans
 * that prefer memory, where it takes less, and for budgets that rows of whole layers exceed. */
#ifndef TW_PLAN_SUMMED_H
#define TW_PLAN_SUMMED_H

#include "plan/schedule.h"

/* As tw_plan. */
bool tw_plan_summed(tw_graph *graph, const tw_compile_options *options, tw_schedule *schedule,
                    tw_diag *diag);

#endif
