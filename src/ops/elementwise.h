/* What the compiler knows alike of every element-wise operator: broadcasting, rows, places. */
#ifndef TW_OPS_ELEMENTWISE_H
#define TW_OPS_ELEMENTWISE_H

#include "ops/op.h"

/* numpy's broadcasting of all inputs; the result has type `dtype`. */
bool tw_shape_broadcast(const tw_shape_call *call, tw_dtype dtype);

/* The same of two inputs, which must have one type; TW_NO_DTYPE: the result has it too. */
bool tw_shape_broadcast_pair(const tw_shape_call *call, tw_dtype dtype);

/* Identity where the operand runs along the axis with the output, whole where it is broadcast or
 * of lower rank. */
tw_rowmap tw_rows_broadcast(const tw_node *node, int input, int axis);

/* The output may lie over an input of its own shape and element size. */
bool tw_in_place_elementwise(const tw_node *node, int input);

/* For plain integers and booleans: no scales anywhere, no fused clamp, and a kernel for the first
 * input's type. Sets the lowering's kernel. */
bool tw_lower_plain(const tw_node *node, tw_lowering *lowering, tw_diag *diag);

/* The tables of unary operators on int16 with scales. */
bool tw_lower_table_s16(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag);

/* The lowering of unary operators: float32 and plain types by their own kernels, 8-bit types with
 * scales by a table of the operator's scalar function with the clamp folded in. */
bool tw_lower_table(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag);

#endif
