/* e^x: a polynomial about -1/8 for what is above -1/4, times e^-2^k for each bit k of the rest. */
#include "ops/exponential.h"

#include "runtime/fixed.h"

int32_t tw_exp_of_negative(int32_t x, int bits)
{
    static const int32_t power[] = {1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242}; /* k = -2, -1, .. */
    const int32_t minus_eighth = 1895147668, third = 715827883, quarter = 1 << (29 - bits);
    if (x == 0)
        return INT32_MAX;
    int32_t fraction = (x & (quarter - 1)) - quarter, rest = fraction - x;
    int32_t y = fraction * (1 << bits) + (1 << 28);
    int32_t y2 = tw_high_mul(y, y), y3 = tw_high_mul(y2, y), y4 = tw_high_mul(y2, y2);
    int32_t cubic = tw_high_mul(tw_shift_right(y4, 2) + y3, third);
    int32_t result = minus_eighth + tw_high_mul(minus_eighth, y + tw_shift_right(cubic + y2, 1));
    for (int k = 0; k < bits + 2; k++)
        if (rest & quarter << k)
            result = tw_high_mul(result, power[k]);
    return result;
}
