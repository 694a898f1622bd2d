/* A TensorFlow Lite file as plain structures: read once, with every reference between its parts
 * checked, before anything is made of it. Arrays and strings point into the file. */
#ifndef TW_IMPORT_TFLITE_MODEL_H
#define TW_IMPORT_TFLITE_MODEL_H

#include "graph/graph.h"
#include "import/tflite/schema.h"

typedef struct tw_tfl_scales {
    int count; /* scales; 0: none */
    const float *scale;
    int zero_count; /* count, or 0 or 1 for all of them */
    const int64_t *zero_point;
    int32_t axis;
} tw_tfl_scales;

typedef struct tw_tfl_tensor {
    const tw_fb_path *path;
    const char *name;
    int8_t type;
    bool is_variable, is_sparse;
    bool has_shape; /* false: nothing is said about its shape, not even a rank */
    uint32_t rank;  /* of the shape, which may be beyond what we support */
    const int32_t *shape;
    uint32_t signature_rank; /* of the shape signature, -1 where an extent is open; or 0 */
    const int32_t *signature;
    uint32_t buffer; /* index */
    tw_tfl_scales quant;
    tw_fb_table sparsity;
} tw_tfl_tensor;

typedef struct tw_tfl_operator {
    const tw_fb_path *path;
    uint32_t code; /* index */
    uint32_t in_count, out_count;
    const int32_t *in, *out; /* tensor indices, -1: absent */
    uint8_t options_type;
    tw_fb_table options;
    const uint8_t *custom;
    size_t custom_bytes;
    uint32_t intermediate_count;
    const int32_t *intermediates;
} tw_tfl_operator;

typedef struct tw_tfl_subgraph {
    const tw_fb_path *path;
    const char *name;
    uint32_t tensor_count, in_count, out_count, operator_count;
    tw_tfl_tensor *tensors;
    const int32_t *in, *out;
    tw_tfl_operator *operators;
} tw_tfl_subgraph;

typedef struct tw_tfl_code {
    int32_t builtin;
    const char *custom; /* of TW_TFL_BUILTIN_CUSTOM, else "" */
    int32_t version;
} tw_tfl_code;

typedef struct tw_tfl_buffer {
    const uint8_t *data; /* null: it holds nothing */
    size_t bytes;
} tw_tfl_buffer;

typedef struct tw_tfl_metadata {
    const char *name;
    uint32_t buffer;
} tw_tfl_metadata;

/* A name that a signature gives to an input or output of its subgraph. */
typedef struct tw_tfl_alias {
    const char *name;
    uint32_t tensor;
} tw_tfl_alias;

typedef struct tw_tfl_signature {
    const char *key;
    uint32_t subgraph;
    uint32_t in_count, out_count;
    tw_tfl_alias *in, *out;
} tw_tfl_signature;

typedef struct tw_tfl_model {
    tw_fb_file file;
    const char *description;
    uint32_t code_count, subgraph_count, buffer_count, metadata_count, signature_count;
    tw_tfl_code *codes;
    tw_tfl_subgraph *subgraphs;
    tw_tfl_buffer *buffers;
    tw_tfl_metadata *metadata;
    tw_tfl_signature *signatures;
} tw_tfl_model;

/* Read the file. What holds afterwards: every index is in range, every operator and every input of a
 * subgraph names tensors that exist, buffers lie inside the file, and no two objects overlap. */
bool tw_tfl_read(tw_tfl_model *model, tw_arena *arena, const void *data, size_t bytes,
                 tw_diag *diag);

#endif
