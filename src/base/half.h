/* The two 16-bit float formats, to and from float. Round to nearest, ties to even. A NaN stays one
 * and keeps the bits of its payload that fit. */
#ifndef TW_BASE_HALF_H
#define TW_BASE_HALF_H

#include "tilewright/runtime.h"

float tw_float_from_half(uint16_t half);
uint16_t tw_half_from_double(double value); /* beyond the range: infinity */
float tw_float_from_bfloat(uint16_t bfloat);
uint16_t tw_bfloat_from_double(double value);

/* An element, wherever it lies, of float16, bfloat16 or (rounded to nearest) float64. */
float tw_float_widened(tw_dtype stored, const void *element);

#endif
