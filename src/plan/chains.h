/* What may be computed again instead of being held. A tensor is held until its last reader is done; where some of
 * its readers come late, the nodes that make it can run a second time for these, from what is there anyway:
 *
 *     x -> a -> v -> early ... late            x -> a  -> v  -> early ...
 *               v ------------> late    =>     x -> a' -> v' -----------> late
 *
 * The two copies share their constants; each rolls in its own segment, so that neither v is ever there whole. */
#ifndef TW_PLAN_CHAINS_H
#define TW_PLAN_CHAINS_H

#include "plan/schedule.h"

typedef struct tw_chain {
    int value;       /* v, by index in the graph */
    const int *node; /* that are computed again, by index, in an order in which they can run */
    int node_count;
    const int *late; /* nodes that read the copy of v */
    int late_count;
    int64_t hope;  /* bytes that it may save where the plan is fullest, roughly */
    uint64_t work; /* what the nodes take once more */
} tw_chain;

/* Chains that may lower a placed plan where it is fullest, the most promising first. Returns how many. */
int tw_find_chains(const tw_schedule *schedule, tw_chain *chains, int most, tw_arena *arena);

/* A copy of the schedule's graph in which the chain is computed again. */
tw_graph *tw_compute_again(const tw_schedule *schedule, const tw_chain *chain, tw_arena *arena);

/* Of steps that compute the same, the first in order is called by the name of the model, those behind it "again". */
void tw_name_again(const tw_schedule *schedule);

#endif
