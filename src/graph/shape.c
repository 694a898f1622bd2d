/* Shapes, element types and quantisation of values. */
#include "graph/graph.h"

#include "base/half.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    tw_dtype dtype;
} dtypes[] = {
#define ROW(name, symbol, value, bytes) {#name, symbol},
    TW_DTYPE_LIST(ROW)
#undef ROW
};

const char *tw_dtype_name(tw_dtype dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].name;
    return "none";
}

tw_dtype tw_dtype_from_name(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return dtypes[i].dtype;
    return TW_NO_DTYPE;
}

int64_t tw_shape_elements(const tw_shape *shape)
{
    int64_t n = 1;
    for (int i = 0; i < shape->rank; i++)
        n *= shape->dim[i];
    return n;
}

uint32_t tw_shape_bytes(const tw_shape *shape)
{
    return (uint32_t)tw_shape_elements(shape) * tw_dtype_bytes(shape->dtype);
}

bool tw_shape_equal(const tw_shape *a, const tw_shape *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->dim, b->dim, sizeof *a->dim * (size_t)a->rank) == 0;
}

tw_shape tw_shape_of(tw_dtype dtype, int rank, const int32_t *dim)
{
    tw_shape shape = {dtype, rank, {1, 1, 1, 1, 1, 1}};
    for (int i = 0; i < rank; i++)
        shape.dim[i] = dim[i];
    return shape;
}

void tw_shape_text(const tw_shape *shape, char *text, unsigned bytes)
{
    int at = snprintf(text, bytes, "%s[", tw_dtype_name(shape->dtype));
    for (int i = 0; i < shape->rank && at < (int)bytes; i++)
        at += snprintf(text + at, bytes - (unsigned)at, "%s%d", i ? "," : "", (int)shape->dim[i]);
    if (at < (int)bytes)
        snprintf(text + at, bytes - (unsigned)at, "]");
}

bool tw_quant_equal(const tw_quant *a, const tw_quant *b)
{
    if (a->count != b->count || (a->count > 1 && a->axis != b->axis))
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->scale[i] != b->scale[i] || a->zero_point[i] != b->zero_point[i])
            return false;
    return true;
}

tw_quant tw_quant_per_tensor(tw_arena *arena, float scale, int32_t zero_point)
{
    float *s = tw_copy(arena, &scale, sizeof scale);
    int32_t *z = tw_copy(arena, &zero_point, sizeof zero_point);
    return (tw_quant){1, 0, s, z};
}

double tw_constant_at(const tw_value *value, int64_t i)
{
    const void *d = value->data;
    switch (value->shape.dtype) {
    case TW_F32: return (double)((const float *)d)[i];
    case TW_S8: return ((const int8_t *)d)[i];
    case TW_U8:
    case TW_BOOL: return ((const uint8_t *)d)[i];
    case TW_S16: return ((const int16_t *)d)[i];
    case TW_U16: return ((const uint16_t *)d)[i];
    case TW_S32: return ((const int32_t *)d)[i];
    case TW_U32: return ((const uint32_t *)d)[i];
    case TW_S64: return (double)((const int64_t *)d)[i];
    case TW_U64: return (double)((const uint64_t *)d)[i];
    case TW_F16: return (double)tw_float_from_half(((const uint16_t *)d)[i]);
    case TW_BF16: return (double)tw_float_from_bfloat(((const uint16_t *)d)[i]);
    case TW_F64: return ((const double *)d)[i];
    case TW_NO_DTYPE: break;
    }
    return 0;
}

tw_tensor tw_tensor_of(const tw_value *value)
{
    const tw_shape *s = &value->shape;
    tw_tensor t = {0};
    t.dtype = (uint8_t)s->dtype;
    t.rank = (uint8_t)s->rank;
    int32_t stride = 1;
    for (int i = TW_MAX_RANK - 1; i >= 0; i--) {
        t.dim[i] = i < s->rank ? s->dim[i] : 1;
        t.stride[i] = i < s->rank ? stride : 0;
        if (i < s->rank)
            stride *= s->dim[i] > 0 ? s->dim[i] : 1;
    }
    if (value->quant.count == 1) {
        t.scale = value->quant.scale[0];
        t.zero_point = value->quant.zero_point[0];
    }
    return t;
}
