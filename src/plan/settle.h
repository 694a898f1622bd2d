/* Addresses for a segmentation, with more or less search. */
#ifndef TW_PLAN_SETTLE_H
#define TW_PLAN_SETTLE_H

#include "plan/schedule.h"

/* Placements tried for the plan that was chosen. */
enum { TW_LAST_NODES = 40000 };

/* Buffers and addresses for the segments as they stand; with care where that could bring them below
 * `worth` bytes of fast memory in all. */
void tw_place_segments(tw_schedule *s, uint32_t worth);

/* Addresses in every region, all that `-m` is held against, for the buffers as they stand; tw_place_last:
 * those of the plan that was chosen, where more search could still lower the fast memory. */
void tw_place_again(tw_schedule *s);
void tw_place_last(tw_schedule *s);

/* Move what does not fit into slow memory, where there is one, the largest first. */
void tw_spill_rest(tw_schedule *s);
/* Is the plan, placed, within the memories given? */
bool tw_is_within(const tw_schedule *s);

/* The addresses that the plan would be given if it stayed so, and the bytes of its memories together. */
void tw_place_chosen(tw_schedule *s);
uint64_t tw_placed_bytes(const tw_schedule *s);

/* Ties between addresses may cost more than beds save: leave out those without which the plan takes less
 * room, or all of them. */
void tw_drop_beds(tw_schedule *s);

#endif
