/* The int8 half of recurrent.c. */
#ifndef TW_OPS_RECURRENT_S8_H
#define TW_OPS_RECURRENT_S8_H

#include "ops/op.h"

/* Of a cell that no model gives one: 16 bits from -16 to 16. */
#define TW_RECURRENT_CELL_SCALE 0x1p-11f

/* A power of two that the kernels take. */
bool tw_is_cell_scale(float scale);

/* The node's tables, step memory and scratch; its kernel is set. Operands fit each other. */
bool tw_recurrent_lower_s8(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag);

#endif
