/* One step of a recurrent layer, as exporters write it out in operators, and finding it in a graph. */
#ifndef TW_NORMALIZE_FUSE_RECURRENT_CELL_H
#define TW_NORMALIZE_FUSE_RECURRENT_CELL_H

#include "normalize/pass.h"

enum { TW_CELL_GATES = 5, TW_CELL_LEAVES = 2 };

typedef enum tw_cell_kind { TW_CELL_RNN = 1, TW_CELL_GRU = 3, TW_CELL_LSTM = 4 } tw_cell_kind;

/* Gates in the order of the layer's operator (ops/lstm.h, ops/recurrent.h). Of a Gru that resets behind
 * the product, the candidate's part of h has a place of its own: it is multiplied by the reset gate. Of one that
 * resets in front of it, h is multiplied, and the candidate has one place. */
enum { TW_CELL_UPDATE = 0, TW_CELL_RESET = 1, TW_CELL_CANDIDATE = 2, TW_CELL_CANDIDATE_H = 3 };

/* A step along an axis of a sequence: element `at`, the axis taken away. */
typedef struct tw_pick {
    tw_value *from; /* null: it is none */
    int axis;
    int32_t at;
} tw_pick;

/* Rows of a constant matrix [V, I]. */
typedef struct tw_rows {
    const tw_value *w; /* null: none */
    int32_t at;
} tw_rows;

/* What a cell multiplies by weights, for all gates at once. */
typedef struct tw_leaf {
    tw_value *x; /* as it stands in front of the weights; null: none */
    tw_pick
        projected; /* from.from not null: the products of a whole sequence x, a step of which is taken */
    tw_rows rows[TW_CELL_GATES];
} tw_leaf;

typedef struct tw_cell {
    tw_cell_kind kind;
    int32_t units, batch;
    tw_value *h, *c;   /* what it makes; c of an Lstm */
    tw_value *h0, *c0; /* what it reads; null: not known yet */
    tw_leaf leaf[TW_CELL_LEAVES];
    int leaves, gates; /* gates: places that are used */
    bool resets_first; /* a Gru: in front of the product */
    double *bias[TW_CELL_GATES];
} tw_cell;

/* The value in front of reshapes that leave its last axis alone. */
tw_value *tw_cell_root(tw_value *value);
/* What step a value is, `from` null where it is none; and element `at` of a value's axis in what the value is
 * slices of, along that axis alone. */
tw_pick tw_cell_pick(tw_value *value);
tw_pick tw_pick_through(tw_value *value, int axis, int32_t at);
/* Is `value` the hidden state that a cell makes? */
bool tw_cell_find(tw_arena *arena, tw_value *value, tw_cell *cell);

#endif
