/* Small TensorFlow Lite models for tests, one subgraph, from lists: sound ones, and ones that are broken
 * on purpose, since every position stays known. */
#ifndef TW_TESTS_SUPPORT_TFLITE_MODEL_H
#define TW_TESTS_SUPPORT_TFLITE_MODEL_H

#include "support/flat_writer.h"

enum { TW_TFLT_MOST = 8 };

typedef struct tw_tflt_list {
    int count;
    int32_t v[TW_TFLT_MOST];
} tw_tflt_list;

typedef struct tw_tflt_tensor {
    const char *name;
    tw_tflt_list shape;
    int type;        /* of schema.h's TW_TFL_TYPES; 0: FLOAT32, 2: INT32, 9: INT8 */
    uint32_t buffer; /* 0: none */
    float scale;     /* 0: no quantisation */
    int64_t zero_point;
} tw_tflt_tensor;

typedef struct tw_tflt_operator {
    uint32_t code;
    tw_tflt_list in, out;
} tw_tflt_operator;

typedef struct tw_tflt_buffer {
    const void *data;
    uint32_t bytes;
    uint64_t offset; /* not 0: there in the file, behind what is made here; its caller writes it */
} tw_tflt_buffer;

typedef struct tw_tflt_model {
    int tensor_count, operator_count, buffer_count, code_count;
    tw_tflt_tensor tensors[TW_TFLT_MOST];
    tw_tflt_operator operators[TW_TFLT_MOST];
    tw_tflt_buffer buffers[TW_TFLT_MOST]; /* from buffer 1 on; 0 is empty */
    int32_t codes[TW_TFLT_MOST];          /* builtin codes */
    tw_tflt_list in, out;
} tw_tflt_model;

/* Where things stand in the file that was made. */
typedef struct tw_tflt_places {
    size_t root, subgraph;
    size_t tensors[TW_TFLT_MOST], operators[TW_TFLT_MOST]; /* tables */
    size_t shapes[TW_TFLT_MOST];                           /* first elements */
} tw_tflt_places;

/* places: null where they do not matter. Free with tw_flat_free. */
void tw_tflt_make(const tw_tflt_model *model, tw_flat *flat, tw_tflt_places *places);

/* Models by number: their names, null behind the last. Those up to the first whose name begins with "bad"
 * are sound. */
const char *tw_tflt_example(int index, tw_tflt_model *model);

#endif
