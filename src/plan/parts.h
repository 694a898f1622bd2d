/* Scratch for kernels that can work in parts, as the chosen plan has room. */
#ifndef TW_PLAN_PARTS_H
#define TW_PLAN_PARTS_H

#include "plan/schedule.h"

/* Kernels of back ends that are planned with the scratch of the most parts that they can work in get that of
 * fewer parts, or of the whole, where the placed plan stays within the memories; with `--prefer memory` only
 * what costs no memory. */
void tw_plan_parts(tw_schedule *schedule, const tw_compile_options *options);

#endif
