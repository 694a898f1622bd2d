/* Extents and rows of matrix products: what MatMul and IntegerMatMul have in common. */
#ifndef TW_OPS_MATMUL_SHAPE_H
#define TW_OPS_MATMUL_SHAPE_H

#include "ops/op.h"

/* The result's extents, from those of inputs 0 and 1; its type is left to the caller. */
bool tw_matmul_extents(const tw_shape_call *call, bool transposed);

/* How rows of input 0 or 1 relate to the result's. */
tw_rowmap tw_matmul_rows(const tw_node *node, int input, int axis, bool transposed);

#endif
