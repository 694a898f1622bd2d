/* Operators that work along one axis: for each index of the other axes, one lane of elements in and
 * one lane of the same length out. */
#ifndef TW_RUNTIME_LANES_H
#define TW_RUNTIME_LANES_H

#include "runtime/walk.h"

/* One lane of n elements, steps in bytes. The output may lie over the input. */
typedef void (*tw_lane)(const tw_call *call, char *to, ptrdiff_t to_step, const char *from,
                        ptrdiff_t from_step, int32_t n);

/* Every lane of the band of out[0] from in[0], along `axis`. */
tw_status tw_lanes(const tw_call *call, int32_t axis, tw_lane lane);

/* One input and one output of the same shape and of these types, and the axis exists. */
tw_status tw_check_lanes(const tw_call *call, int32_t axis, uint32_t in_dtype, uint32_t out_dtype,
                         uint64_t *work);

#endif
