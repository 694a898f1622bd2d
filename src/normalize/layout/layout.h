/* The layout pass's own structures: the graph as places with a free choice of layout and the tensors
 * that run between them. */
#ifndef TW_NORMALIZE_LAYOUT_LAYOUT_H
#define TW_NORMALIZE_LAYOUT_LAYOUT_H

#include "normalize/layout/axes.h"

/* Candidate layouts in one component. 0 is the model as it stands: every operator in its own order. */
#define TW_LAYOUTS 8

/* What it costs that the two ends of an edge want different bytes, a byte; and that they want the same
 * bytes under other extents (axes of extent 1 elsewhere): nothing is moved, but the Reshape between
 * them hides one operator from the other. */
#define TW_BYTE_COST 16
#define TW_RESHAPE_COST 1

typedef enum tw_place_kind {
    TW_PLACE_NODE,
    TW_PLACE_INPUT,  /* produces a graph input */
    TW_PLACE_OUTPUT, /* reads a graph output */
    TW_PLACE_STATE,  /* produces what a state holds and reads what it becomes */
    TW_PLACE_COPY    /* stands between a value and its several readers, so that one transpose that
                        serves them all is counted once */
} tw_place_kind;

typedef struct tw_place {
    tw_place_kind kind;
    tw_carry carry;   /* FIXED: no choice */
    tw_node *node;    /* of NODE */
    tw_value *value;  /* of the others: what passes through */
    int component;    /* -1: fixed */
    int chosen;       /* candidate */
    unsigned allowed; /* bit c: candidate c is known here and the operator can work in it */
    tw_order space[TW_LAYOUTS];
    tw_order result; /* of NODE, under the candidate chosen */
    int first_edge;  /* in tw_layout.incident */
    int edges;
    int variable; /* scratch of the expansion */
} tw_place;

/* A tensor from the place that produces it to one that reads it as operand `operand`. */
typedef struct tw_edge {
    int from, to, operand;
    tw_value *value;
    int64_t weight; /* cost of transposing it, at least TW_RESHAPE_COST */
} tw_edge;

typedef struct tw_layout {
    tw_graph *graph;
    tw_arena *arena;
    bool free_io;
    tw_place *places; /* first one a node, in order; then the others */
    int place_count, place_capacity;
    tw_edge *edges;
    int edge_count, edge_capacity;
    int *incident;                                 /* edge numbers by place */
    int *input_place, *output_place, *state_place; /* by position in the graph's lists */
    int component_count;
} tw_layout;

/* The order in which a place hands out a value, or wants it, under a candidate that it allows. */
tw_order tw_place_gives(const tw_place *place, const tw_value *value, int candidate);
tw_order tw_place_wants(const tw_place *place, int operand, int candidate);

/* Choose a candidate for every place: least total weight of edges whose ends differ. */
void tw_layout_choose(tw_layout *layout);

/* Rewrite the graph for the candidates chosen. */
bool tw_layout_apply(tw_layout *layout, tw_diag *diag);

#endif
