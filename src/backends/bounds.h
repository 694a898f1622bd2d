/* Bounds and zero points as libraries take them. Device code. */
#ifndef TW_BACKENDS_BOUNDS_H
#define TW_BACKENDS_BOUNDS_H

#include "runtime/kernel.h"

static inline int tw_native_within(int32_t low, int32_t high, int32_t least)
{
    return low >= least && low <= high && high <= -1 - least;
}

/* Bounds, and zero points of what is read first and of what is written, within a type, TW_S8 or TW_S16? */
static inline int tw_native_bounded(const tw_call *call, uint32_t dtype)
{
    const int32_t least = dtype == TW_S16 ? INT16_MIN : INT8_MIN;
    const int32_t x = call->in[0].tensor->zero_point, y = call->out[0].tensor->zero_point;
    return tw_native_within(call->clamp_low.s32, call->clamp_high.s32, least) &&
           tw_native_within(x, x, least) && tw_native_within(y, y, least);
}

#endif
