/* ToSmallFloat: floats as the codes of a format of 8 bits or less, one code in each u8. Codes become numbers
 * again by a table of all of them.
 *
 *     e4m3fn     sign, 4 bits of exponent, 3 of fraction; no infinity, one NaN of each sign
 *     e4m3fnuz   the same with a larger bias; no infinity, no negative zero, whose code is the NaN
 *     e5m2       sign, 5 bits of exponent, 2 of fraction; infinities and NaN as IEEE 754 has them
 *     e5m2fnuz   the same with a larger bias, as e4m3fnuz
 *     e2m1       sign, 2 bits of exponent, 1 of fraction; neither infinity nor NaN, which is the code 8
 *     e8m0       an exponent: the power of two at (up), under (down) or next to (nearest) the magnitude
 *
 * Rounded to the nearest, halves to even. Beyond the greatest number comes that number where `saturate`
 * is set, infinity or NaN where not; e2m1 always saturates.
 */
#ifndef TW_OPS_SMALL_FLOAT_H
#define TW_OPS_SMALL_FLOAT_H

#include "ops/attributes.h"

enum { TW_E4M3FN, TW_E4M3FNUZ, TW_E5M2, TW_E5M2FNUZ, TW_E2M1, TW_E8M0 };
enum { TW_POWER_UP, TW_POWER_DOWN, TW_POWER_NEAREST };

#define TW_SMALL_FLOAT_ATTRIBUTES(A, T)                                                            \
    A(T, ENUM, format, TW_E4M3FN, 0, TW_E8M0,                                                      \
      "e4m3fn|e4m3fnuz|e5m2|e5m2fnuz|e2m1|e8m0: format of the result")                             \
    A(T, BOOL, saturate, 1, 0, 1, "the greatest number stands for what is beyond it")              \
    A(T, ENUM, power, TW_POWER_UP, 0, TW_POWER_NEAREST,                                            \
      "up|down|nearest: power of two that e8m0 takes")
TW_ATTRIBUTE_STRUCT(small_float, TW_SMALL_FLOAT_ATTRIBUTES);

#endif
