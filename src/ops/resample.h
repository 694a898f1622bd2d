/* Where resampling reads, decided at compile time: taps and weights of every output along one axis. */
#ifndef TW_OPS_RESAMPLE_H
#define TW_OPS_RESAMPLE_H

#include "ops/op.h"
#include "ops/resize.h"

/* Output o reads inputs first[o] to first[o] + count[o] - 1, with weights weight[o * taps] and on. */
typedef struct tw_resample {
    int32_t in, out, taps;
    int32_t *first, *count;
    double *weight;
    bool identity; /* every output is its own input */
} tw_resample;

/* Along axis k, from `in` elements to `out`. Attributes and extents have been checked. */
void tw_resample_axis(const tw_resize_attributes *a, int k, int32_t in, int32_t out,
                      tw_arena *arena, tw_resample *r);

/* The taps of an output's window, those outside counted; TW_RESIZE_ENTRIES + 1 where there are more. */
int64_t tw_resample_taps(const tw_resize_attributes *a, int k, int32_t in, int32_t out);

/* The tightest row map with the slope of the extents. */
tw_rowmap tw_resample_rows(const tw_resample *r);

#endif
