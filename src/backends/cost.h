/* Estimated time: work by the cost table, calls, and bytes by the memory they lie in. */
#ifndef TW_BACKENDS_COST_H
#define TW_BACKENDS_COST_H

#include "ops/op.h"
#include "tilewright/compiler.h"

enum { TW_COST_CALL = 400 }; /* cycles of a call of a kernel: views, bounds, set-up */
#define TW_COST_BYTE 0.25    /* cycles of a byte moved in fast memory, a word at a time */

/* Cycles of so much work. */
double tw_cost_of_work(const tw_opdef *op, tw_dtype dtype, uint64_t work);

/* Cycles of a run of a step: its work and calls, and what its bytes cost more than those of fast memory
 * (memories null: nothing more). */
double tw_cost_of_step(const tw_opdef *op, const tw_report_step *step, const tw_memories *memories);

#endif
