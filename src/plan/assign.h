/* Address assignment as a problem of its own: intervals of time that need bytes, disjoint where they
 * overlap in time. */
#ifndef TW_PLAN_ASSIGN_H
#define TW_PLAN_ASSIGN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tw_interval {
    int first, last; /* live at every time first..last */
    uint32_t bytes;
    uint32_t offset; /* the answer */
    /* Intervals of one tie (not 0) are disjoint in time and move together: each lies `above` bytes
     * above the tie's offset. */
    int tie;
    uint32_t above;
} tw_interval;

typedef enum tw_assigned {
    TW_ASSIGN_FOUND,
    TW_ASSIGN_IMPOSSIBLE, /* proven: no placement fits the capacity */
    TW_ASSIGN_UNKNOWN     /* the node limit was reached first */
} tw_assigned;

/* Place all intervals in [0, capacity), by branch and bound over at most `node_limit` placements
 * tried. Offsets are multiples of the greatest common divisor of the sizes. Deterministic. On any
 * result but TW_ASSIGN_FOUND the offsets are unchanged. */
tw_assigned tw_assign(tw_interval *intervals, int count, uint64_t capacity, uint64_t node_limit);

/* The largest sum of bytes live at one time: no placement can take less. */
uint64_t tw_assign_bound(const tw_interval *intervals, int count);

/* Greedy, then branch and bound of `node_limit` placements a try towards the bound. Sizes must be
 * multiples of 16. Returns the bytes taken. */
uint64_t tw_assign_best(tw_interval *intervals, int count, uint64_t node_limit);

/* The best of several greedy orders, each interval in the lowest gap that is free for its whole
 * life. Returns the bytes taken. */
uint64_t tw_assign_greedy(tw_interval *intervals, int count);

#endif
