/* Operators that work along one axis: for each index of the other axes, one lane of elements in and
 * one lane of the same length out. */
#ifndef TW_RUNTIME_LANES_H
#define TW_RUNTIME_LANES_H

#include "runtime/walk.h"

/* One lane: n elements to read, and of the results those from `first` on, `count` of them, to write
 * (all of them, unless the lane runs along the band axis). Steps in bytes. Where all are written,
 * the output may lie over the input. */
typedef struct tw_lane {
    char *to; /* result `first` */
    const char *from;
    ptrdiff_t to_step, from_step;
    int32_t n, first, count;
} tw_lane;

typedef void (*tw_lane_run)(const tw_call *call, const tw_lane *lane);

/* Every lane of the band of out[0] from in[0], along `axis`. */
tw_status tw_lanes(const tw_call *call, int32_t axis, tw_lane_run run);

/* One input and one output of the same shape and of these types, and the axis exists. */
tw_status tw_check_lanes(const tw_call *call, int32_t axis, uint32_t in_dtype, uint32_t out_dtype,
                         uint64_t *work);

#endif
