/* The binary family on int8 with scales. */
#define TW_SCALED int8_t
#define TW_SCALED_DTYPE TW_S8
#define TW_SCALED_SIGNATURE s8
#define TW_SCALED_LEAST INT8_MIN
#define TW_SCALED_MOST INT8_MAX
#define TW_SCALED_ZERO_LEAST INT8_MIN
#define TW_SCALED_ZERO_MOST INT8_MAX
#define TW_SCALED_LEFT 20
#define TW_SCALED_LANES 1
#include "ops/binary_scaled.h"
