/* Real scales to fixed-point multipliers. */
#include "ops/scale.h"

#include <math.h>

void tw_quantize_multiplier(double real, int32_t *multiplier, int32_t *shift)
{
    int exponent = 0;
    int64_t fixed = llround(frexp(real, &exponent) * 2147483648.0);
    if (fixed == INT64_C(1) << 31) {
        fixed /= 2;
        exponent++;
    }
    if (exponent < -31) {
        exponent = 0;
        fixed = 0;
    }
    if (exponent > 30) {
        exponent = 30;
        fixed = INT32_MAX;
    }
    *multiplier = (int32_t)fixed;
    *shift = exponent;
}
