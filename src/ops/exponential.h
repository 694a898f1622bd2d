/* What TFLite's integer reference kernels have in place of the exponential and its kin. On the host
 * only: devices get tables. */
#ifndef TW_OPS_EXPONENTIAL_H
#define TW_OPS_EXPONENTIAL_H

#include <stdint.h>

/* In gemmlowp's fixed point: e^x for x <= 0 with `bits` integer bits (2 to 5), 31 - bits fraction bits; the result has 31. */
int32_t tw_exp_of_negative(int32_t x, int bits);

/* 65536 * sigmoid(i / 24), to be interpolated: int16 sigmoid and tanh, and recurrent layers. */
void tw_sigmoid_table(uint16_t table[256]);

#endif
