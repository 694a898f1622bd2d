/* Nodes with bodies, If and While, as every format puts them together: two graphs of their own, whose
 * inputs stand for the operands. How a format finds what a body reads is its own.
 */
#ifndef TW_IMPORT_BODIES_H
#define TW_IMPORT_BODIES_H

#include "import/build.h"

/* What the builder was at when it went into a body. */
typedef struct tw_outside {
    tw_graph *graph;
    tw_map offered;
} tw_outside;

/* Build in the body; offered inputs are those of the network, none of them is the body's. */
tw_outside tw_body_enter(tw_builder *b, tw_graph *body);
void tw_body_leave(tw_builder *b, const tw_outside *outside);
/* What stands in the body for a value around it: a constant of the same data, unless it is carried from
 * round to round, or an input, which *input then is. */
tw_value *tw_body_value(tw_graph *body, const tw_value *outer, bool carried, tw_value **input);

/* A node of two bodies while it is put together. */
typedef struct tw_pair {
    tw_builder *b;
    const char *op;     /* as the file spells it, for messages */
    tw_graph *graph[2]; /* the bodies */
    tw_value *operand[TW_MAX_NODE_OPERANDS];
    tw_value *input[2][TW_MAX_NODE_OPERANDS]; /* of the bodies, for operands from `first` on */
    int operands, first;
} tw_pair;

/* An operand, and the inputs that stand for it (null: the condition of an If, which no body has). */
bool tw_pair_add(tw_pair *pair, tw_value *outer, tw_value *first, tw_value *second);
/* The node of IR operator `op`; null with a message. */
tw_node *tw_pair_finish(tw_pair *pair, const char *op, const void *attributes);

#endif
