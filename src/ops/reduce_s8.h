/* The int8 half of reduce.c: products, lengths and logarithms. */
#ifndef TW_OPS_REDUCE_S8_H
#define TW_OPS_REDUCE_S8_H

#include "ops/op.h"
#include "ops/reduce.h"

/* The node's table; its kernel, a row of TW_FOLD_S8, is set. */
bool tw_reduce_lower_s8(const tw_node *node, const tw_reduction *r, tw_arena *arena,
                        tw_lowering *lowering, tw_diag *diag);

#endif
