/* The segment search: where to cut the steps into segments and in bands of how many rows each rolls.
 * Dynamic programming over cut points; exact for the costs and windows it is given. */
#ifndef TW_PLAN_SEARCH_H
#define TW_PLAN_SEARCH_H

#include "plan/scene.h"

typedef struct tw_search tw_search;

/* Price every run of steps in every band height; low: only in the lowest, which take the least memory. Lives
 * in the arena. */
tw_search *tw_search_open(tw_scene *scene, bool low, tw_arena *arena);

/* Replace estimates by simulated windows for the `most` runs that may matter to the least peak. */
void tw_search_settle(tw_search *search, int most);

/* From now on results may take the place of the rows that their segment consumes (plan/roll.h). */
void tw_search_use_beds(tw_search *search);

/* From now on segments may be cut by columns, too: a row in parts. Windows lose up to a row, for more
 * and smaller calls. */
void tw_search_use_columns(tw_search *search);

/* Count on what joining whole tensors may save, as at first, or do not: a tensor lies inside one other only. */
void tw_search_count_joins(tw_search *search, bool count);

/* The least peak that any segmentation reaches, in bytes of activations and scratch. */
int64_t tw_search_least(const tw_search *search);

/* The segmentation of least cost whose peak is at most `budget`; prefer balanced: the least peak
 * whose cost is within 10% of that. Writes the schedule's segments, bands and windows. False: none. */
bool tw_search_apply(tw_search *search, int64_t budget, tw_prefer prefer, tw_schedule *schedule);

/* Peaks at which the best segmentation changes, ascending, with the cost of each; at most `most`, and of
 * very many sizes only some are looked at. */
typedef struct tw_pareto {
    int64_t peak;
    double cost;
} tw_pareto;
int tw_search_pareto(const tw_search *search, tw_pareto *points, int most);

#endif
