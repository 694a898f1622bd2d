/* Branches and loops of a plan: what the loader knows of them while it verifies segment after segment.
 * control.c verifies them when a plan is loaded, and follows them while it runs; plan.h says what the entries
 * mean. */
#ifndef TW_RUNTIME_CONTROL_H
#define TW_RUNTIME_CONTROL_H

#include "runtime/plan.h"

/* The entries verified so far. At the end every entry is, and depth is 0. */
typedef struct tw_nesting {
    const tw_model *model;
    uint32_t next; /* entry */
    uint32_t depth;
    uint32_t open[TW_MAX_NESTING];   /* the latest entry of each branch and loop around */
    uint64_t before[TW_MAX_NESTING]; /* `rounds` outside of each */
    uint64_t rounds;                 /* how often a segment here may run */
} tw_nesting;

static inline void tw_nesting_begin(tw_nesting *n, const tw_model *model)
{
    memset(n, 0, sizeof *n);
    n->model = model;
    n->rounds = 1;
}

#endif
