/* Tables of the unary operators that TFLite's int8 reference computes in fixed point rather than
 * through the float function: the same integers, bit for bit. */
#ifndef TW_OPS_LUT_FIXED_H
#define TW_OPS_LUT_FIXED_H

#include "ops/op.h"

/* The result less its zero point, unclamped, for a stored value q less its zero point. */
typedef int32_t (*tw_fixed_unary)(int32_t q, const tw_node *node);

/* The node's fixed-point form; null where the float function counts. */
tw_fixed_unary tw_fixed_unary_of(const tw_node *node);

#endif
