/* What the compiler knows alike of operators that move elements to or from where indices say. */
#ifndef TW_OPS_MOVED_H
#define TW_OPS_MOVED_H

#include "ops/op.h"

#define TW_MOVED_LIMITS                                                                            \
    "every type; quantised operands share one scale and zero point; an index outside its axis "    \
    "ends "                                                                                        \
    "the run with TW_E_DATA"

/* Is input i, which holds indices, s32 or s64? A message where it is not. */
bool tw_shape_is_index(const tw_shape_call *call, int i);

/* Has result i at most INT32_MAX elements? A message where it has more. */
bool tw_shape_is_storable(const tw_shape_call *call, int i);

/* The kernel for bytes of any type: operands of the result's type are stored as the result is, one scale
 * and zero point a tensor, and there is no clamp. */
bool tw_lower_moved(const tw_node *node, tw_arena *unused, tw_lowering *lowering, tw_diag *diag);

/* --- scattering --------------------------------------------------------------------------------- */

#define TW_SCATTERED_LIMITS                                                                        \
    TW_MOVED_LIMITS "; reductions on f32 and plain integers, max and min on quantised ones too"

/* Inputs 0 and 2 have one type, which can be combined so (TW_COMBINE_*). A message otherwise. */
bool tw_shape_is_combined(const tw_shape_call *call, int32_t how);

/* tw_lower_moved; sums and products of quantised elements are refused. */
bool tw_lower_scattered(const tw_node *node, int32_t how, tw_lowering *lowering, tw_diag *diag);

/* The output may lie over input 0. */
bool tw_in_place_first(const tw_node *node, int input);

#endif
