/* float64 is computed in double, on the host alone: rows of double.def, kernels in double.c. Devices have
 * none of it, and codegen refuses a plan that needs them. */
#ifndef TW_OPS_DOUBLE_H
#define TW_OPS_DOUBLE_H

#include "runtime/kernel.h"

/* The operator's kernel for float64, or null. */
const tw_kernel *tw_double_kernel(uint32_t code);

extern const tw_kernel tw_double_matmul;

/* Bytes for each result that a reduction of doubles has under way, at most. */
enum { TW_DOUBLE_ACCUMULATOR = 16 };

#endif
