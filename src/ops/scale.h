/* Real scales to fixed-point multipliers: the compile-time half of runtime/fixed.h. */
#ifndef TW_OPS_SCALE_H
#define TW_OPS_SCALE_H

#include <stdint.h>

/* real = multiplier * 2^(shift - 31), multiplier in [2^30, 2^31), as TFLite's QuantizeMultiplier
 * (rounding, and 0 for a real below 2^-32). real must be finite and not negative. */
void tw_quantize_multiplier(double real, int32_t *multiplier, int32_t *shift);

#endif
