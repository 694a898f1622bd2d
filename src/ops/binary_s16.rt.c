/* The binary family on int16 with scales: no zero points, so that products fit 31 bits. */
#define TW_SCALED int16_t
#define TW_SCALED_DTYPE TW_S16
#define TW_SCALED_SIGNATURE s16
#define TW_SCALED_LEAST INT16_MIN
#define TW_SCALED_MOST INT16_MAX
#define TW_SCALED_ZERO_LEAST 0
#define TW_SCALED_ZERO_MOST 0
#define TW_SCALED_LEFT 15
#include "ops/binary_scaled.h"
