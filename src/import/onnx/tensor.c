/* TensorProto to dense little-endian elements. The elements stand either in raw_data, in their own
 * form, or in one of the typed lists, several types to a list. */
#include "import/onnx/tensor.h"

#include <stdio.h>
#include <string.h>

#include "import/wire.h"
#include "onnx.pb-c.h"

/* ONNX's element types by number; ours, where there is one. */
static const struct {
    const char *name;
    tw_dtype dtype;
} types[] = {
    {"UNDEFINED", TW_NO_DTYPE},
    {"FLOAT", TW_F32},
    {"UINT8", TW_U8},
    {"INT8", TW_S8},
    {"UINT16", TW_U16},
    {"INT16", TW_S16},
    {"INT32", TW_S32},
    {"INT64", TW_S64},
    {"STRING", TW_NO_DTYPE},
    {"BOOL", TW_BOOL},
    {"FLOAT16", TW_F16},
    {"DOUBLE", TW_F64},
    {"UINT32", TW_U32},
    {"UINT64", TW_U64},
    {"COMPLEX64", TW_NO_DTYPE},
    {"COMPLEX128", TW_NO_DTYPE},
    {"BFLOAT16", TW_BF16},
    {"FLOAT8E4M3FN", TW_NO_DTYPE},
    {"FLOAT8E4M3FNUZ", TW_NO_DTYPE},
    {"FLOAT8E5M2", TW_NO_DTYPE},
    {"FLOAT8E5M2FNUZ", TW_NO_DTYPE},
    {"UINT4", TW_NO_DTYPE},
    {"INT4", TW_NO_DTYPE},
    {"FLOAT4E2M1", TW_NO_DTYPE},
    {"FLOAT8E8M0", TW_NO_DTYPE},
    {"UINT2", TW_NO_DTYPE},
    {"INT2", TW_NO_DTYPE},
    {"FLOAT6E2M3", TW_NO_DTYPE},
    {"FLOAT6E3M2", TW_NO_DTYPE},
};
enum { TYPES = sizeof types / sizeof *types };

tw_dtype tw_onnx_dtype(int64_t number)
{
    return number > 0 && number < TYPES ? types[number].dtype : TW_NO_DTYPE;
}

int64_t tw_onnx_dtype_number(tw_dtype dtype)
{
    for (int i = 1; i < TYPES && dtype != TW_NO_DTYPE; i++)
        if (types[i].dtype == dtype)
            return i;
    return 0;
}

const char *tw_onnx_dtype_name(int64_t number)
{
    return number > 0 && number < TYPES ? types[number].name : NULL;
}

int64_t tw_onnx_dtype_by_name(const char *name, size_t length)
{
    for (int i = 1; i < TYPES; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return i;
    return 0;
}

static const tw_onnx_narrow narrow[] = {
    {"UINT4", TW_U8, 4, NULL},
    {"INT4", TW_S8, 4, NULL},
    {"UINT2", TW_U8, 2, NULL},
    {"INT2", TW_S8, 2, NULL},
    {"FLOAT8E4M3FN", TW_U8, 8, "e4m3fn"},
    {"FLOAT8E4M3FNUZ", TW_U8, 8, "e4m3fnuz"},
    {"FLOAT8E5M2", TW_U8, 8, "e5m2"},
    {"FLOAT8E5M2FNUZ", TW_U8, 8, "e5m2fnuz"},
    {"FLOAT4E2M1", TW_U8, 4, "e2m1"},
    {"FLOAT8E8M0", TW_U8, 8, "e8m0"},
};

const tw_onnx_narrow *tw_onnx_narrow_type(int64_t number)
{
    const char *name = tw_onnx_dtype_name(number);
    for (size_t i = 0; name && i < sizeof narrow / sizeof *narrow; i++)
        if (strcmp(name, narrow[i].name) == 0)
            return &narrow[i];
    return NULL;
}

tw_dtype tw_onnx_held_as(int64_t number)
{
    const tw_onnx_narrow *few = tw_onnx_narrow_type(number);
    return few ? few->unpacked : tw_onnx_dtype(number);
}

bool tw_onnx_refuse_dtype(int64_t number, const char *what, tw_diag *diag)
{
    const char *name = tw_onnx_dtype_name(number);
    if (number == 0)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s has no element type", what);
    if (!name)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "%s has the unknown element type %lld", what, (long long)number);
    return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                   "%s has element type %s, which is not supported here; FLOAT, BOOL and integers "
                   "are",
                   what, name);
}

typedef struct tw_reading {
    tw_arena *arena;
    const Tw__Onnx__Tensor *proto;
    const char *name;
    size_t count; /* elements by the dims */
    size_t bytes;
    tw_tensor_data *out;
    tw_diag *diag;
} tw_reading;

static bool wrong_count(const tw_reading *r, const char *field, size_t found, size_t expected)
{
    return tw_fail(r->diag, TW_CODE_FAILED, NULL, NULL,
                   "tensor '%s' holds %zu %s, its shape needs %zu", r->name, found, field,
                   expected);
}

/* Bytes in their own form. A bool may be any byte in a file; here it is 0 or 1. */
static bool take_raw(tw_reading *r, const void *data)
{
    r->out->data = r->bytes ? data : tw_alloc(r->arena, 1);
    if (r->out->shape.dtype == TW_BOOL && r->bytes) {
        uint8_t *own = tw_copy(r->arena, data, r->bytes);
        for (size_t i = 0; i < r->bytes; i++)
            own[i] = own[i] != 0;
        r->out->data = own;
    }
    return true;
}

/* A list whose elements are stored as the tensor's are. */
static bool take_list(tw_reading *r, const char *field, const void *list, size_t found)
{
    if (found != r->count)
        return wrong_count(r, field, found, r->count);
    r->out->data = found ? list : tw_alloc(r->arena, 1);
    return true;
}

/* int32_data carries every integer of up to 32 bits, and the bits of the 16-bit floats. */
static bool take_int32(tw_reading *r, int64_t least, int64_t greatest)
{
    if (r->proto->n_int32_data != r->count)
        return wrong_count(r, "elements of int32_data", r->proto->n_int32_data, r->count);
    uint8_t *to = tw_alloc(r->arena, r->bytes + 1);
    size_t size = tw_dtype_bytes(r->out->shape.dtype);
    for (size_t i = 0; i < r->count; i++) {
        int32_t v = r->proto->int32_data[i];
        if (v < least || v > greatest)
            return tw_fail(r->diag, TW_CODE_FAILED, NULL, NULL,
                           "tensor '%s': element %zu is %d, outside its type %s", r->name, i,
                           (int)v, tw_dtype_name(r->out->shape.dtype));
        memcpy(to + i * size, &v, size);
    }
    r->out->data = to;
    return true;
}

static bool take_uint32(tw_reading *r)
{
    if (r->proto->n_uint64_data != r->count)
        return wrong_count(r, "elements of uint64_data", r->proto->n_uint64_data, r->count);
    uint32_t *to = tw_alloc(r->arena, r->bytes + 1);
    for (size_t i = 0; i < r->count; i++) {
        if (r->proto->uint64_data[i] > UINT32_MAX)
            return tw_fail(r->diag, TW_CODE_FAILED, NULL, NULL,
                           "tensor '%s': element %zu is outside its type u32", r->name, i);
        to[i] = (uint32_t)r->proto->uint64_data[i];
    }
    r->out->data = to;
    return true;
}

static bool take_elements(tw_reading *r)
{
    const Tw__Onnx__Tensor *p = r->proto;
    if (p->has_raw_data)
        return p->raw_data.len == r->bytes
                   ? take_raw(r, p->raw_data.data)
                   : wrong_count(r, "bytes of raw_data", p->raw_data.len, r->bytes);
    switch (r->out->shape.dtype) {
    case TW_F32: return take_list(r, "elements of float_data", p->float_data, p->n_float_data);
    case TW_F64: return take_list(r, "elements of double_data", p->double_data, p->n_double_data);
    case TW_S64: return take_list(r, "elements of int64_data", p->int64_data, p->n_int64_data);
    case TW_U64: return take_list(r, "elements of uint64_data", p->uint64_data, p->n_uint64_data);
    case TW_S32: return take_list(r, "elements of int32_data", p->int32_data, p->n_int32_data);
    case TW_U32: return take_uint32(r);
    case TW_S8: return take_int32(r, INT8_MIN, INT8_MAX);
    case TW_U8: return take_int32(r, 0, UINT8_MAX);
    case TW_BOOL: return take_int32(r, 0, 1);
    case TW_S16: return take_int32(r, INT16_MIN, INT16_MAX);
    case TW_U16:
    case TW_F16:
    case TW_BF16: return take_int32(r, 0, UINT16_MAX);
    case TW_NO_DTYPE: break;
    }
    return false;
}

/* Numbers of a few bits, from the low end of each byte up, to bytes. */
static const void *unpack(tw_reading *r, const uint8_t *packed, int bits, bool is_signed)
{
    uint8_t *to = tw_alloc(r->arena, r->count + 1);
    int mask = (1 << bits) - 1, sign = is_signed ? 1 << (bits - 1) : 0;
    for (size_t i = 0; i < r->count; i++) {
        int v = packed[i * (size_t)bits / 8] >> (i * (size_t)bits % 8) & mask;
        to[i] = (uint8_t)((v ^ sign) - sign);
    }
    return to;
}

/* int32_data has a byte of packed numbers in each element. */
static const uint8_t *packed_bytes(tw_reading *r, size_t bytes)
{
    const Tw__Onnx__Tensor *p = r->proto;
    size_t found = p->has_raw_data ? p->raw_data.len : p->n_int32_data;
    if (found != bytes) {
        wrong_count(r, "bytes of packed numbers", found, bytes);
        return NULL;
    }
    if (p->has_raw_data)
        return bytes ? p->raw_data.data : tw_alloc(r->arena, 1);
    uint8_t *packed = tw_alloc(r->arena, bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        packed[i] = (uint8_t)p->int32_data[i];
    return packed;
}

static bool take_narrow(tw_reading *r, tw_onnx_files *files, const tw_onnx_narrow *type)
{
    size_t bytes = (r->count * (size_t)type->bits + 7) / 8;
    const void *packed = NULL;
    if (r->proto->data_location == 0)
        packed = packed_bytes(r, bytes);
    else if (!tw_onnx_external(files, r->proto, bytes, &packed, r->diag))
        return false;
    r->out->data = packed ? unpack(r, packed, type->bits, type->unpacked == TW_S8) : NULL;
    return packed != NULL;
}

bool tw_onnx_tensor(tw_onnx_files *files, const Tw__Onnx__Tensor *proto, tw_tensor_data *tensor,
                    tw_diag *diag)
{
    const char *name = proto->name ? proto->name : "";
    char what[300];
    snprintf(what, sizeof what, "tensor '%.256s'", name);
    const tw_onnx_narrow *few_bits = tw_onnx_narrow_type(proto->data_type);
    tw_dtype dtype = tw_onnx_held_as(proto->data_type);
    if (dtype == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(proto->data_type, what, diag);
    if (proto->segment)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "%s is stored in segments; save the model with whole tensors", what);
    *tensor = (tw_tensor_data){.name = name};
    if (!tw_shape_from_file(what, dtype, proto->n_dims, proto->dims, &tensor->shape, diag))
        return false;
    size_t count = (size_t)tw_shape_elements(&tensor->shape);
    tensor->bytes = tw_shape_bytes(&tensor->shape);
    tw_reading reading = {files->arena, proto, name, count, tensor->bytes, tensor, diag};
    const void *data;
    if (few_bits)
        return take_narrow(&reading, files, few_bits);
    if (proto->data_location != 0)
        return tw_onnx_external(files, proto, tensor->bytes, &data, diag) &&
               take_raw(&reading, data);
    return take_elements(&reading);
}

bool tw_onnx_tensor_parse(tw_arena *arena, const uint8_t *data, size_t bytes,
                          tw_tensor_data *tensor, tw_diag *diag)
{
    ProtobufCMessage *message =
        tw_wire_unpack(&tw__onnx__tensor__descriptor, "tensor", data, bytes, arena, diag);
    tw_onnx_files files = {.arena = arena};
    return message && tw_onnx_tensor(&files, (const Tw__Onnx__Tensor *)message, tensor, diag);
}
