/* ONNX models written byte by byte, well formed or not, for tests of the importer. Everything lives
 * in the arena given. */
#ifndef TW_TESTS_ONNX_MODEL_H
#define TW_TESTS_ONNX_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Protobuf wire bytes under construction. */
typedef struct tw_wire_bytes {
    tw_arena *arena;
    uint8_t *data;
    size_t bytes, capacity;
} tw_wire_bytes;

void tw_wire_varint(tw_wire_bytes *w, uint64_t value);
void tw_wire_number(tw_wire_bytes *w, uint32_t field, uint64_t value);
void tw_wire_float(tw_wire_bytes *w, uint32_t field, float value);
void tw_wire_data(tw_wire_bytes *w, uint32_t field, const void *data, size_t bytes);
void tw_wire_text(tw_wire_bytes *w, uint32_t field, const char *text);
void tw_wire_message(tw_wire_bytes *w, uint32_t field, const tw_wire_bytes *message);

/* ONNX element types. */
enum {
    ONNX_FLOAT = 1,
    ONNX_UINT8 = 2,
    ONNX_INT8 = 3,
    ONNX_INT32 = 6,
    ONNX_INT64 = 7,
    ONNX_BOOL = 9
};

/* A model under construction: calls after tw_onnx_write_node add to that node. */
typedef struct tw_onnx_writer {
    tw_wire_bytes graph, node, functions;
    uint32_t node_field; /* of the message that holds the nodes */
    int opset;
} tw_onnx_writer;

tw_onnx_writer tw_onnx_write(tw_arena *arena, int opset);
/* The body of a function: takes nodes only. */
tw_onnx_writer tw_onnx_write_body(tw_arena *arena, int opset);
/* Extents below 0: an open axis with the symbol "n". */
void tw_onnx_write_input(tw_onnx_writer *w, const char *name, int type, int rank,
                         const int64_t *dim);
void tw_onnx_write_output(tw_onnx_writer *w, const char *name, int type);
/* An initializer in raw_data. */
void tw_onnx_write_tensor(tw_onnx_writer *w, const char *name, int type, int rank,
                          const int64_t *dim, const void *data, size_t bytes);
/* inputs and outputs: names between spaces; "-" is an empty name. */
void tw_onnx_write_node(tw_onnx_writer *w, const char *op, const char *inputs, const char *outputs);
void tw_onnx_write_domain(tw_onnx_writer *w, const char *domain);
void tw_onnx_write_name(tw_onnx_writer *w, const char *name);
void tw_onnx_write_int(tw_onnx_writer *w, const char *name, int64_t value);
void tw_onnx_write_ints(tw_onnx_writer *w, const char *name, int count, const int64_t *values);
void tw_onnx_write_real(tw_onnx_writer *w, const char *name, float value);
void tw_onnx_write_word(tw_onnx_writer *w, const char *name, const char *value);
void tw_onnx_write_reals(tw_onnx_writer *w, const char *name, int count, const float *values);
void tw_onnx_write_words(tw_onnx_writer *w, const char *name, int count, const char *const *values);
/* A tensor outside the model; null: that key is left out. */
void tw_onnx_write_external(tw_onnx_writer *w, const char *name, int type, int rank,
                            const int64_t *dim, const char *location, const char *offset,
                            const char *length);
/* An attribute of a function's body that is the call's attribute `of`. type: 1 float, 2 int, ... */
void tw_onnx_write_reference(tw_onnx_writer *w, const char *name, unsigned type, const char *of);
/* A tensor as an attribute. */
void tw_onnx_write_constant(tw_onnx_writer *w, const char *name, int type, int rank,
                            const int64_t *dim, const void *data, size_t bytes);
/* A branch as an attribute. */
void tw_onnx_write_branch(tw_onnx_writer *w, const char *name, tw_onnx_writer *branch);
/* Add a function to the model: local.NAME. inputs, outputs, attributes: names between spaces. */
void tw_onnx_write_function(tw_onnx_writer *w, tw_onnx_writer *body, const char *name,
                            const char *inputs, const char *outputs, const char *attributes);
/* ... with one more attribute, which has a default. */
void tw_onnx_write_function_default(tw_onnx_writer *w, tw_onnx_writer *body, const char *name,
                                    const char *inputs, const char *outputs, const char *attribute,
                                    float value);
/* A function of another domain than local. */
void tw_onnx_write_function_of(tw_onnx_writer *w, tw_onnx_writer *body, const char *domain,
                               const char *name, const char *inputs, const char *outputs);
/* The whole model, which imports the standard operators, com.microsoft, the published vocabularies and
 * local. */
tw_wire_bytes tw_onnx_write_end(tw_onnx_writer *w);

/* A TensorProto on its own. */
tw_wire_bytes tw_onnx_tensor_bytes(tw_arena *arena, const char *name, int type, int rank,
                                   const int64_t *dim, const void *data, size_t bytes);

#endif
