/* Bounds as libraries take them. Device code. */
#ifndef TW_BACKENDS_BOUNDS_H
#define TW_BACKENDS_BOUNDS_H

#include "runtime/kernel.h"

/* Bounds within int8? */
static inline int tw_native_bounded(const tw_call *call)
{
    return call->clamp_low.s32 >= INT8_MIN && call->clamp_low.s32 <= call->clamp_high.s32 &&
           call->clamp_high.s32 <= INT8_MAX;
}

#endif
