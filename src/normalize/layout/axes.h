/* How operators carry an order of axes from operands to results.
 *
 * An order of a tensor says how its axes are stored: stored axis i is axis[i] of the tensor as the
 * model has it. An operator that works in any order does so in a *space* of axes: those of its
 * result (element-wise) or of its first operand (all others). Given the order of the space, the
 * orders of every operand and of the result follow. */
#ifndef TW_NORMALIZE_LAYOUT_AXES_H
#define TW_NORMALIZE_LAYOUT_AXES_H

#include "normalize/pass.h"

typedef struct tw_order {
    int8_t rank;
    int8_t axis[TW_MAX_RANK];
} tw_order;

typedef enum tw_carry {
    TW_CARRY_FIXED,       /* works in the model's order only */
    TW_CARRY_ELEMENTWISE, /* any order; operands broadcast */
    TW_CARRY_AXES,        /* any order; attributes name axes, operands behind the first broadcast */
    TW_CARRY_REDUCE,      /* likewise, and axes disappear */
    TW_CARRY_TRANSPOSE,   /* any order; the node itself disappears */
    TW_CARRY_RESHAPE,     /* orders that keep together, in order, what is merged or split */
    TW_CARRY_ROWS,        /* orders that keep the last axis last */
    TW_CARRY_FLATTEN      /* a Reshape into constant fully connected weights: any order of the axes
                             that are merged; the weights' columns are permuted */
} tw_carry;

/* May operands have fewer axes than the space, the last ones? */
static inline bool tw_carry_broadcasts(tw_carry carry)
{
    return carry == TW_CARRY_ELEMENTWISE || carry == TW_CARRY_AXES;
}

tw_order tw_order_identity(int rank);
tw_order tw_order_channels_last(int rank);
bool tw_order_equal(const tw_order *a, const tw_order *b);
/* Are two orders of a tensor the same sequence of bytes? (Axes of extent 1 do not count.) */
bool tw_order_same_bytes(const tw_shape *shape, const tw_order *a, const tw_order *b);
/* Position of an axis in the order. */
int tw_order_find(const tw_order *order, int axis);
/* The extents as stored. */
tw_shape tw_order_shape(const tw_shape *shape, const tw_order *order);

/* flatten: every reader of the result is a fully connected layer of constant weights. */
tw_carry tw_carry_of(const tw_node *node, bool flatten);

int tw_space_rank(const tw_node *node, tw_carry carry);

/* Result order of a space; false: the operator cannot work in it. */
bool tw_order_of_result(const tw_node *node, tw_carry carry, const tw_order *space,
                        tw_order *result);
/* Order that operand i must have, over the operand's own axes. */
tw_order tw_order_of_operand(const tw_node *node, tw_carry carry, int i, const tw_order *space);
/* A space that gives the result, or takes operand i, in an order; false: there is none. */
bool tw_space_of_result(const tw_node *node, tw_carry carry, const tw_order *result,
                        tw_order *space);
bool tw_space_of_operand(const tw_node *node, tw_carry carry, int i, const tw_order *order,
                         tw_order *space);

/* Leading axes that a Reshape keeps as they are. */
int tw_leading_axes(const tw_shape *from, const tw_shape *to);

/* Rewrite the node's attributes for a space (and a Reshape's for its result as stored). */
void tw_rename_axes(tw_node *node, tw_carry carry, const tw_order *space, const tw_order *result);

#endif
