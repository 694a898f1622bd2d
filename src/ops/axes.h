/* Axes as attributes name them: negative ones count from the back. */
#ifndef TW_OPS_AXES_H
#define TW_OPS_AXES_H

#include "ops/attributes.h"

/* 0..rank-1; -1 when out of range. */
static inline int32_t tw_axis(int32_t axis, int32_t rank)
{
    const int32_t a = axis < 0 ? axis + rank : axis;
    return a < 0 || a >= rank ? -1 : a;
}

/* One bit an axis, all axes when the list is empty; -1 when one is out of range or named twice. */
static inline int32_t tw_axis_mask(const tw_ints *axes, int32_t rank)
{
    int32_t mask = 0, i;
    if (axes->count == 0)
        return (1 << rank) - 1;
    if (axes->count < 0 || axes->count > TW_MAX_RANK)
        return -1;
    for (i = 0; i < axes->count; i++) {
        const int32_t a = tw_axis(axes->v[i], rank);
        if (a < 0 || (mask >> a & 1) != 0)
            return -1;
        mask |= 1 << a;
    }
    return mask;
}

#endif
