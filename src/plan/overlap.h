/* Results over the input of the very call that makes them: how much it saves, and on which side. */
#ifndef TW_PLAN_OVERLAP_H
#define TW_PLAN_OVERLAP_H

#include "plan/schedule.h"

/* Bytes that an input and an output take together when the output begins `lead` bytes before the input
 * (negative: behind its beginning). */
int64_t tw_lead_bytes(int64_t lead, int64_t in, int64_t out);

/* Bytes that sharing saves, at most. */
int64_t tw_overlap_saves(const tw_overlap *overlap, int64_t in, int64_t out);

/* Bytes that a result and the input it lies over take together: on the side that was chosen, at the
 * nearest. */
int64_t tw_overlap_bytes(const tw_buffer *upper, const tw_buffer *bed);

/* Settle the beds of tw_plan_buffers: side and distance, or none. */
void tw_plan_overlaps(tw_schedule *schedule);

#endif
