/* The inverse square root of TFLite's fixed point. Device code. */
#ifndef TW_OPS_INVERSE_ROOT_H
#define TW_OPS_INVERSE_ROOT_H

#include "runtime/fixed.h"

/* 1 / sqrt(x) = multiplier * 2^(shift - 31): Newton's iteration from 1 on, with 28 fraction bits, for x
 * brought within 1/4 and 1 by pairs of bits. */
static inline void tw_inverse_root(int32_t x, int32_t *multiplier, int32_t *shift)
{
    int32_t right = 11, pairs, whole, half, y = 1 << 28, i;
    if (x <= 1) {
        *multiplier = INT32_MAX;
        *shift = 0;
        return;
    }
    for (; x >= 1 << 29; x /= 4)
        right++;
    pairs = (__builtin_clz((unsigned)x) - 1) / 2 - 1;
    right -= pairs;
    whole = (x << 2 * pairs) >> 1;
    half = tw_shift_right(whole, 1);
    for (i = 0; i < 5; i++) {
        const int32_t cube = tw_saturating_left(tw_high_mul(tw_high_mul(y, y), y), 6);
        y = tw_saturating_left(tw_high_mul(3 << 27, y) - tw_high_mul(half, cube), 3);
    }
    y = tw_high_mul(y, 1518500250); /* sqrt(1/2) */
    *multiplier = right < 0 ? y << -right : y;
    *shift = right < 0 ? 0 : -right;
}

#endif
