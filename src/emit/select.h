/* Plans as sections: putting them together, and taking one target's plan out of one for several. */
#ifndef TW_EMIT_SELECT_H
#define TW_EMIT_SELECT_H

#include <stdbool.h>

#include "base/diag.h"
#include "emit/bytes.h"
#include "runtime/plan.h"

/* A plan's bytes from its sections, by kind, and a header that is complete but for sizes and checksums. */
bool tw_assemble_plan(tw_arena *arena, tw_plan_header *header, const tw_bytes *section,
                      const void **plan, uint32_t *bytes, tw_diag *diag);

/* The plan of one target alone: its kernels and tables in place of the portable ones, and nothing that
 * it does not read. In: a plan that has been loaded, and a target of its list; null: the portable
 * kernels. */
bool tw_select_plan(tw_arena *arena, const tw_model *model, const tw_plan_target *target,
                    const void **plan, uint32_t *bytes, tw_diag *diag);

/* The items of a section of a loaded plan. */
const void *tw_plan_items(const tw_model *model, uint32_t kind, uint32_t item, uint32_t *count);
/* What target t's kernel for a step is: null beyond what the plan holds. */
const tw_plan_variant *tw_plan_variant_of(const tw_model *model, const tw_plan_target *target,
                                          uint32_t step);
/* Why a variant falls back; "" where the plan does not say. */
const char *tw_plan_reason(const tw_model *model, const tw_plan_variant *variant);

#endif
