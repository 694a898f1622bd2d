/* Tensors that lie inside others: what a Concat joins is made where it will lie, what a Slice cuts out is
 * read where it is. */
#ifndef TW_PLAN_JOINS_H
#define TW_PLAN_JOINS_H

#include "plan/schedule.h"

/* A value that may lie inside another. */
struct tw_join {
    const tw_value *whole; /* null: none */
    int step;              /* the one that joins or cuts: it counts while steps[step].joined */
    int64_t offset;        /* bytes from the whole's beginning */
    const int32_t *stride; /* elements, the whole's; null: without gaps */
};

/* What lies inside what, for the segments as they stand: where that makes no step fuller than the fullest
 * would be without. */
void tw_plan_joins(tw_schedule *schedule);

/* The join of a value that counts, or null. */
const tw_join *tw_join_of(const tw_schedule *schedule, const tw_value *value);

#endif
