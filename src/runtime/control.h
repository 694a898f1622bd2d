/* Branches and loops of a plan: verified when it is loaded, followed while it runs. plan.h says what
 * the entries mean. */
#ifndef TW_RUNTIME_CONTROL_H
#define TW_RUNTIME_CONTROL_H

#include "runtime/plan.h"

/* The entries verified so far. */
typedef struct tw_nesting {
    const tw_model *model;
    uint32_t next; /* entry */
    uint32_t depth;
    uint32_t open[TW_MAX_NESTING];   /* the latest entry of each branch and loop around */
    uint64_t before[TW_MAX_NESTING]; /* `rounds` outside of each */
    uint64_t rounds;                 /* how often a segment here may run */
} tw_nesting;

void tw_nesting_begin(tw_nesting *nesting, const tw_model *model);
/* Verify the entries that stand before a segment. */
tw_status tw_nesting_at(tw_nesting *nesting, uint32_t segment);
/* Is every entry verified and everything closed? */
int tw_nesting_ends(const tw_nesting *nesting);
/* Do these bytes of the fast arena lie beside the rounds of all loops around? */
int tw_nesting_spares(const tw_nesting *nesting, uint32_t offset, uint32_t bytes);

/* context->segment is where execution has come to: follow the entries that stand there, and set it to the
 * segment that runs next, or to the number of segments. */
tw_status tw_follow_controls(tw_context *context, const tw_model *model);

#endif
