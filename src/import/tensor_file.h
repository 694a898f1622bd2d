/* One tensor in a file: `.npy` (NumPy, versions 1 to 3), `.pb` (an ONNX TensorProto), and `.bin` (raw
 * little-endian elements, whose type and shape the caller knows). */
#ifndef TW_IMPORT_TENSOR_FILE_H
#define TW_IMPORT_TENSOR_FILE_H

#include "graph/graph.h"

typedef struct tw_tensor_data {
    tw_shape shape;
    const void *data; /* dense, C order, little-endian, aligned to 16; in the arena */
    size_t bytes;     /* of a .bin file: a multiple of the shape's bytes, one or more of them */
    const char *name; /* as the file has it (.pb), or "" */
} tw_tensor_data;

/* Read the tensor in `path`. The kind is told by the suffix; any other suffix is raw.
 * expected: type and shape of a raw file, which is refused where this is null. Other kinds say
 * themselves what they hold: comparing it with what is expected is the caller's business. */
bool tw_tensor_read(tw_arena *arena, const char *path, const tw_shape *expected,
                    tw_tensor_data *tensor, tw_diag *diag);

/* Parse a .npy file in memory. `bytes` must be the whole file. */
bool tw_npy_parse(tw_arena *arena, const uint8_t *data, size_t bytes, tw_tensor_data *tensor,
                  tw_diag *diag);

/* Write a .npy file, version 1. bf16 is written as NumPy's two-byte void, which reads back. */
bool tw_npy_write(const char *path, const tw_shape *shape, const void *data, tw_diag *diag);

/* Check extents that come from a file: rank and every extent in range, and elements and bytes, with
 * empty axes counted as one, below 2 GB. what: what has the shape, for the message. */
bool tw_shape_from_file(const char *what, tw_dtype dtype, size_t rank, const int64_t *dim,
                        tw_shape *shape, tw_diag *diag);

#endif
