/* ONNX tensors: element types and TensorProto. */
#ifndef TW_IMPORT_ONNX_TENSOR_H
#define TW_IMPORT_ONNX_TENSOR_H

#include "base/map.h"
#include "import/tensor_file.h"

struct Tw__Onnx__Tensor;

/* The element type with this number, or TW_NO_DTYPE where we have none like it. */
tw_dtype tw_onnx_dtype(int64_t number);
/* Its number; 0 for TW_NO_DTYPE. */
int64_t tw_onnx_dtype_number(tw_dtype dtype);
/* How ONNX spells it ("FLOAT16"); "type 99" for an unknown one is the caller's to say: null. */
const char *tw_onnx_dtype_name(int64_t number);
/* Its number by name, for models that name types in words; 0 when unknown. */
int64_t tw_onnx_dtype_by_name(const char *name, size_t length);

/* A type of few bits, which tw_onnx_dtype has none like: tensors hold one element in a byte. */
typedef struct tw_onnx_narrow {
    const char *name; /* ONNX's */
    tw_dtype unpacked;
    int bits;           /* of an element in a file */
    const char *format; /* of a float, as ToSmallFloat calls it; null: an integer */
} tw_onnx_narrow;
/* Null for other types. */
const tw_onnx_narrow *tw_onnx_narrow_type(int64_t number);
/* What a tensor of this type has here: its own type, or the one it is unpacked to. */
tw_dtype tw_onnx_held_as(int64_t number);
/* Fail, naming the type. what: what has it. */
bool tw_onnx_refuse_dtype(int64_t number, const char *what, tw_diag *diag);

/* Files beside the model that hold tensors. external.c */
typedef struct tw_onnx_files {
    tw_arena *arena;
    const char *folder; /* the model's; null: there are none */
    tw_map open;        /* name -> how much of it has been read */
    tw_map ranges;      /* "OFFSET+BYTES NAME" -> those bytes */
} tw_onnx_files;

/* `bytes` bytes of the file that the tensor's external_data names, and nothing outside the model's
 * folder. Aligned to 16. */
bool tw_onnx_external(tw_onnx_files *files, const struct Tw__Onnx__Tensor *proto, size_t bytes,
                      const void **data, tw_diag *diag);

/* The elements of an unpacked tensor, whose size is verified against its dims. `data` may lie inside
 * the message, so both must live in the same arena. Fields of the result as tw_tensor_data says. */
bool tw_onnx_tensor(tw_onnx_files *files, const struct Tw__Onnx__Tensor *proto,
                    tw_tensor_data *tensor, tw_diag *diag);

/* A serialised TensorProto: the .pb files of test folders. */
bool tw_onnx_tensor_parse(tw_arena *arena, const uint8_t *data, size_t bytes,
                          tw_tensor_data *tensor, tw_diag *diag);

#endif
