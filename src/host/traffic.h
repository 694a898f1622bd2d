/* What a run reads and writes, by memory: measured on the views that the runtime gives to kernels. The
 * planner's prediction (src/plan/traffic.c) is held against it. */
#ifndef TW_HOST_TRAFFIC_H
#define TW_HOST_TRAFFIC_H

#include "runtime/kernel.h"
#include "tilewright/compiler.h"

/* Add what one firing moved; for a hook (tw_set_hook). */
void tw_traffic_add(const tw_model *model, const tw_firing *firing, tw_traffic *traffic);

void tw_traffic_sum(const tw_traffic *more, tw_traffic *sum);
bool tw_traffic_equal(const tw_traffic *a, const tw_traffic *b);

#endif
