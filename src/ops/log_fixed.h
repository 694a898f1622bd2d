/* The logarithm of TFLite's integer LogSoftmax. Device code. */
#ifndef TW_OPS_LOG_FIXED_H
#define TW_OPS_LOG_FIXED_H

#include "runtime/fixed.h"

/* log(x) with 26 fraction bits, of x >= 1 with 19. x is z * 2^n in two ways, with z around sqrt(1/2) or
 * sqrt(1/2) times that; a rational function of the z nearer to 2^-1/4 gives the rest of the logarithm,
 * which has 25 fraction bits until the end. */
static inline int32_t tw_log_fixed(int32_t x)
{
    const int32_t log_2 = 1488522236, root_half = 1518500250, middle = 1805811301;
    const int32_t num_2 = 117049297, den_2 = 127690142, den_0 = 1057819769, den_1 = 638450708;
    const int32_t quarter = 1 << 23;
    const int32_t a = __builtin_clz((unsigned)x);
    const int32_t b = __builtin_clz((unsigned)tw_high_mul(x, root_half)) - 1;
    const int32_t za = tw_saturating_left(tw_high_mul(tw_saturating_left(x, a - 1), root_half), 1);
    const int32_t zb = tw_saturating_left(x, b);
    const int32_t na = (12 - a) * (1 << 25) + quarter, nb = (12 - b) * (1 << 25) - quarter;
    const int32_t z = za < zb ? za : zb, n = na > nb ? na : nb;
    const int32_t p = (int32_t)(((int64_t)z + middle + 1) / 2), q = 2 * (z - middle);
    const int32_t q2 = tw_high_mul(q, q);
    const int32_t num = tw_high_mul(q, z) + tw_high_mul(tw_high_mul(q, q2), num_2);
    const int32_t den = tw_high_mul(p, den_0 + q + tw_high_mul(den_2, q2)) + tw_high_mul(den_1, q);
    return tw_saturating_left(
        tw_high_mul(n, log_2) + tw_high_mul(tw_shift_right(num, 6), tw_reciprocal(den)), 1);
}
#endif
