/* A recurrent layer in ONNX's form (RNN, GRU, LSTM) as IR nodes, whatever the container. A direction is
 * a node of its own, the backward one between reversals. */
#ifndef TW_IMPORT_RECURRENT_H
#define TW_IMPORT_RECURRENT_H

#include "import/build.h"
#include "ops/recurrent.h"

/* The inputs; all but the first three may be absent. */
enum {
    TW_LAYER_X,       /* [T, N, I]; batch first: [N, T, I] */
    TW_LAYER_W,       /* [D, G * O, I] */
    TW_LAYER_R,       /* [D, G * O, O] */
    TW_LAYER_B,       /* [D, 2 * G * O] */
    TW_LAYER_LENGTHS, /* s32 [N] */
    TW_LAYER_H0,      /* [D, N, O]; batch first: [N, D, O] */
    TW_LAYER_C0,
    TW_LAYER_P, /* [D, 3 * O] */
    TW_LAYER_INPUTS
};

/* The number of gates. */
enum { TW_LAYER_RNN = 1, TW_LAYER_GRU = 3, TW_LAYER_LSTM = 4 };

typedef struct tw_layer {
    tw_builder *b;
    tw_value *in[TW_LAYER_INPUTS];
    int gates, directions;
    bool reverse[2], batch_first;
    tw_recurrent_attributes attributes[2]; /* of each direction */
    int64_t batch, steps, inputs, outputs; /* set by tw_layer_check */
    tw_value *carried[2];                  /* states in place of h0 and c0: tw_layer_carry */
} tw_layer;

/* A forward layer with the usual activations; the caller fills in what differs, in[] above all. */
void tw_layer_begin(tw_layer *l, tw_builder *b, int gates);
/* forward, reverse or bidirectional. */
bool tw_layer_direct(tw_layer *l, const char *direction);
void tw_layer_clip(tw_layer *l, float clip);
/* Do the inputs fit each other? Weights and extents are known afterwards. hidden_size -1: not said. */
bool tw_layer_check(tw_layer *l, int64_t hidden_size);

/* Begin each run with what the last one ended with: H0 and C0, as they are wired, or zeros, serve the
 * first run and those for which `reset`, one BOOL or null, is true. names: of the states, h and c.
 * Between tw_layer_check and tw_layer_build. */
bool tw_layer_carry(tw_layer *l, tw_value *reset, const char *const names[2]);

/* The results: Y [T, D, N, O] (batch first: [N, T, D, O]), Y_h and, of an LSTM, Y_c [D, N, O] (batch
 * first: [N, D, O]), made where `wanted`. */
bool tw_layer_build(tw_layer *l, const bool wanted[3], tw_value *results[3]);

#endif
