/* One operator with random data, ready to be run alone: the kernel that the compiler chooses, on
 * tables and weights that the compiler prepares, whole. */
#ifndef TW_BENCH_OPERATOR_H
#define TW_BENCH_OPERATOR_H

#include "ops/op.h"
#include "plain.h"

/* A layer on one image; padding as TensorFlow's SAME unless `valid`. */
typedef struct tw_layer {
    const char *name;
    bool is_depthwise, is_connected, valid;
    int rows, columns, channels, outputs, kernel_rows, kernel_columns, stride;
} tw_layer;

typedef struct tw_operator {
    tw_arena *arena; /* everything below */
    tw_node *node;
    tw_lowering lowering;
    tw_tensor tensors[4];
    tw_view in[3], out;
    tw_blob blobs[TW_MAX_BLOBS];
    tw_call call;
    tw_plain plain; /* the same work, with an output of its own */
    uint32_t bytes; /* of the output */
    uint64_t macs;
} tw_operator;

/* dtype: TW_S8 or TW_F32. Ends the program with a message where the compiler refuses. */
void tw_operator_open(tw_operator *o, const tw_layer *layer, tw_dtype dtype);
void tw_operator_close(tw_operator *o);

/* Where the operator's output and the plain one differ: element index, or -1. */
int tw_operator_compare(const tw_operator *o);

#endif
