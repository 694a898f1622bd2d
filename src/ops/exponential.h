/* The exponential in gemmlowp's fixed point, which TFLite's int8 reference kernels are made of. On the
 * host only: devices get tables of it. */
#ifndef TW_OPS_EXPONENTIAL_H
#define TW_OPS_EXPONENTIAL_H

#include <stdint.h>

/* e^x for x <= 0 with `bits` integer bits (2 to 5), 31 - bits fraction bits; the result has 31. */
int32_t tw_exp_of_negative(int32_t x, int bits);

#endif
