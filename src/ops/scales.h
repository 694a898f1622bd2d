/* What Quantize, Dequantize and Requantize share in the compiler. */
#ifndef TW_OPS_SCALES_H
#define TW_OPS_SCALES_H

#include "ops/op.h"

/* Is it s8, u8, s16, u16 or s32? */
bool tw_is_quantised_type(tw_dtype dtype);

/* The table of a node, as the lowering's only blob, from the scales of its first input and output
 * where those are integers; the kernel, and clamp bounds. A failure says which scale is missing. */
bool tw_lower_scales(const tw_node *node, int signature, tw_arena *arena, tw_lowering *lowering,
                     tw_diag *diag);

#endif
