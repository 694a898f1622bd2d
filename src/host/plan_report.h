/* The report of a plan file: what the plan says of memory, and what a run of it moves. */
#ifndef TW_HOST_PLAN_REPORT_H
#define TW_HOST_PLAN_REPORT_H

#include "host/session.h"
#include "tilewright/compiler.h"

/* From the plan, and from one run on inputs of zero. What only the compiler knows stays zero: layerwise,
 * bound, smallest_budget, transposes. Lives in the session's arena. False: the run failed. */
bool tw_report_of_plan(tw_session *session, tw_report *report, tw_diag *diag);

#endif
