/* Constants in fewer bytes where the chosen plan has room to unpack them. */
#ifndef TW_PLAN_PACK_H
#define TW_PLAN_PACK_H

#include "plan/schedule.h"

/* Some steps of the chosen, placed plan get kernels that read packed constants: all of them where that stays
 * within the memories, else those that save most flash; with `--prefer memory` only those that cost no
 * memory, with `--prefer speed` none. */
void tw_plan_packed(tw_schedule *schedule, const tw_compile_options *options);

#endif
