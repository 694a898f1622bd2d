/* What the recurrent layers share: a layer in the making, and what it gives. */
#ifndef TW_IMPORT_KERAS_RECURRENT_H
#define TW_IMPORT_KERAS_RECURRENT_H

#include "import/keras/keras.h"

enum { TW_KR_MOST_STATES = TW_KR_MOST_OUT - 1 };

/* What a layer gives: all steps, the last one, and what it ends with, cell by cell. */
typedef struct tw_kr_outcome {
    tw_value *steps, *last;
    tw_value *state[TW_KR_MOST_STATES];
    int state_count;
} tw_kr_outcome;

/* A layer in the making. */
typedef struct tw_kr_layer {
    tw_kr_node *n;    /* for messages, with the layer's or cell's configuration */
    tw_value **begin; /* the states it begins with, or null */
    tw_value *mask;   /* bool [batch, steps]: those that count; or null */
    bool zeros;       /* at others the result is 0, not what it was before */
    bool stateful;
    const char *label; /* of its states */
} tw_kr_layer;

/* A state of the network in begin i's place; what it becomes is set when the layer is there. */
tw_value *tw_kr_make_state(tw_kr_layer *l, int i, tw_shape shape);

/* conv_lstm.c: a ConvLSTM over so many spatial axes, x [batch, steps, ..]. */
bool tw_kr_conv_lstm(tw_kr_layer *l, tw_kr_store *store, int spatial, tw_value *x,
                     tw_kr_outcome *out);

#endif
