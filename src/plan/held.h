/* Inputs by rows that are held anyway. Where a late reader makes the window of an input that comes by rows as tall as the
 * input, what reads it must roll with all in between; then it is better copied, row by row, into memory that the
 * rest is planned with as if the input had been there: it takes a row more than that. */
#ifndef TW_PLAN_HELD_H
#define TW_PLAN_HELD_H

#include "plan/schedule.h"

/* tw_plan_summed; where the window of an input by rows holds half of it or more, or that of the graph with the copy, if it
 * takes less. schedule->graph may be another graph than the one given. */
bool tw_plan_held(tw_graph *graph, const tw_compile_options *options, tw_schedule *schedule,
                  tw_diag *diag);

#endif
