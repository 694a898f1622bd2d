/* TFLite's tables of 513 values for functions of int16. On the host only: devices get tables. */
#ifndef TW_OPS_LUT_POINTS_H
#define TW_OPS_LUT_POINTS_H

#include "ops/lut.h"

/* real = in_scale * (stored - in_zero); the result has zero point 0. */
typedef struct tw_lut_curve {
    float in_scale;
    int32_t in_zero;
    float out_scale;
    float (*function)(float x, const void *attributes);
    const void *attributes;
} tw_lut_curve;

/* Values at every 128th step, each moved by half of what the straight lines err in the middle. In
 * float, as TFLite fills its tables. */
void tw_lut_points(const tw_lut_curve *curve, int16_t table[TW_LUT_POINTS]);

#endif
