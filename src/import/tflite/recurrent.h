/* What the importers of recurrent layers share. */
#ifndef TW_IMPORT_TFLITE_RECURRENT_H
#define TW_IMPORT_TFLITE_RECURRENT_H

#include "import/tflite/tflite.h"

/* Which inputs of an operator a layer's parts are: the first of each group; -1: it has none. */
typedef struct tw_tfl_cell {
    int w,
        r; /* weights of the input and the hidden state, for the input, forget, cell and output gates */
    int peephole;   /* weights of the cell, for the input, forget and output gates */
    int bias;       /* of the four gates */
    int projection; /* weights, then bias */
    int hidden;     /* state, then the cell's */
    int norm;       /* weights of the four gates' normalisation */
} tw_tfl_cell;

/* The variable tensor of input i as a state of this shape, of the real value 0 before the first run; null
 * with a message. */
tw_value *tw_tfl_state(tw_tfl_node *n, int i, int rank, const int32_t *dim);

typedef struct tw_tfl_lstm_options {
    int activation;
    float cell_clip, projection_clip; /* 0: none */
    bool asymmetric; /* int8 weights of floats: what they multiply is quantised with a zero point */
} tw_tfl_lstm_options;

/* The layer of LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM over x of [N, T, I], in operators: for what the IR's
 * Lstm does not have. Floats only, with int8 weights too; sets its states. */
tw_value *tw_tfl_composed_lstm(tw_tfl_node *n, tw_value *x, const tw_tfl_lstm_options *options);

#endif
