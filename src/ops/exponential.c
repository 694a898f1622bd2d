/* Exponentials in fixed point and as a table. */
#include "ops/exponential.h"

#include <math.h>

#include "runtime/fixed.h"

/* A polynomial about -1/8 for what is above -1/4, times e^-2^k for each bit k of the rest. */
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

static double sigmoid(double steps)
{
    return 1.0 / (1.0 + exp(-steps / 24.0));
}

/* How far the chord over the step behind i runs below the curve, in its middle. */
static double sag(int i)
{
    return sigmoid(i + 0.5) - (sigmoid(i) + sigmoid(i + 1)) / 2;
}

/* Interpolation errs to one side only where the values lie on the curve: they are raised by half the
 * mean sag of the two chords that meet in them. The last entry is the end of the range. */
void tw_sigmoid_table(uint16_t table[256])
{
    for (int i = 0; i < 255; i++) {
        double value = sigmoid(i) + (sag(i) + sag(i - 1)) / 4;
        table[i] = (uint16_t)floor(65536.0 * value + 0.5);
    }
    table[255] = UINT16_MAX;
}
