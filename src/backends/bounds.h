/* Bounds as libraries take them. Device code. */
#ifndef TW_BACKENDS_BOUNDS_H
#define TW_BACKENDS_BOUNDS_H

#include "runtime/kernel.h"

/* Bounds within a type, TW_S8 or TW_S16? */
static inline int tw_native_bounded(const tw_call *call, uint32_t dtype)
{
    const int32_t least = dtype == TW_S16 ? INT16_MIN : INT8_MIN;
    return call->clamp_low.s32 >= least && call->clamp_low.s32 <= call->clamp_high.s32 &&
           call->clamp_high.s32 <= -1 - least;
}

#endif
