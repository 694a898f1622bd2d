/* Tensors of the file as constants of the graph. */
#include <string.h>

#include "import/tensor_file.h"
#include "import/tensorflow/tensorflow.h"

/* Numbers of 16 and of 64 bits are computed in 32. */
static const struct {
    int number;
    tw_dtype dtype;  /* that it is computed in; TW_NO_DTYPE: told apart, but not supported */
    tw_dtype stored; /* as the file has it */
    const char *name;
} types[] = {
    {1, TW_F32, TW_F32, "float32"},
    {2, TW_F32, TW_F64, "float64"},
    {3, TW_S32, TW_S32, "int32"},
    {4, TW_U8, TW_U8, "uint8"},
    {5, TW_S16, TW_S16, "int16"},
    {6, TW_S8, TW_S8, "int8"},
    {7, TW_NO_DTYPE, TW_NO_DTYPE, "string"},
    {8, TW_NO_DTYPE, TW_NO_DTYPE, "complex64"},
    {9, TW_S64, TW_S64, "int64"},
    {10, TW_BOOL, TW_BOOL, "bool"},
    {11, TW_NO_DTYPE, TW_NO_DTYPE, "qint8"},
    {12, TW_NO_DTYPE, TW_NO_DTYPE, "quint8"},
    {13, TW_NO_DTYPE, TW_NO_DTYPE, "qint32"},
    {14, TW_F32, TW_BF16, "bfloat16"},
    {17, TW_U16, TW_U16, "uint16"},
    {18, TW_NO_DTYPE, TW_NO_DTYPE, "complex128"},
    {19, TW_F32, TW_F16, "float16"},
    {20, TW_NO_DTYPE, TW_NO_DTYPE, "resource"},
    {21, TW_NO_DTYPE, TW_NO_DTYPE, "variant"},
    {22, TW_U32, TW_U32, "uint32"},
    {23, TW_U64, TW_U64, "uint64"},
};

static int find(int64_t type)
{
    if (type > TW_TF_REF)
        type -= TW_TF_REF;
    for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
        if (types[i].number == type)
            return i;
    return -1;
}

tw_dtype tw_tf_dtype(int64_t type)
{
    int i = find(type);
    return i < 0 ? TW_NO_DTYPE : types[i].dtype;
}

tw_dtype tw_tf_stored_dtype(int64_t type)
{
    int i = find(type);
    return i < 0 ? TW_NO_DTYPE : types[i].stored;
}

tw_value *tw_tf_from_stored(tw_tf_node *n, tw_shape shape, const void *data)
{
    const tw_dtype stored = shape.dtype;
    tw_value *x = tw_build_data(n->b, shape, data);
    if (!x || (stored != TW_F16 && stored != TW_BF16 && stored != TW_F64))
        return x;
    const int64_t count = tw_shape_elements(&shape);
    float *wide = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof *wide);
    for (int64_t i = 0; i < count; i++)
        wide[i] = (float)tw_constant_at(x, i);
    shape.dtype = TW_F32;
    return tw_build_data(n->b, shape, wide);
}

const char *tw_tf_type_name(int64_t type)
{
    int i = find(type);
    return i < 0 ? "of an unknown type" : types[i].name;
}

bool tw_tf_shape(const Tw__Tf__Shape *shape, const char *what, int *rank, int64_t *dim,
                 tw_diag *diag)
{
    *rank = -1;
    if (!shape || (shape->has_unknown_rank && shape->unknown_rank))
        return true;
    if (shape->n_dim > TW_MAX_RANK)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, what, NULL,
                       "a tensor of %zu axes; at most %d are supported", shape->n_dim, TW_MAX_RANK);
    *rank = (int)shape->n_dim;
    for (int i = 0; i < *rank; i++) {
        dim[i] = shape->dim[i]->has_size ? shape->dim[i]->size : 0;
        if (dim[i] < -1 || dim[i] > INT32_MAX)
            return tw_fail(diag, TW_CODE_FAILED, what, NULL, "axis %d has extent %lld", i,
                           (long long)dim[i]);
    }
    return true;
}

/* Elements of a list of the file, each `from` bytes there and `to` bytes in the tensor. */
typedef struct tw_elements {
    const void *data;
    size_t count, from;
} tw_elements;

static tw_elements listed(const Tw__Tf__Tensor *t, tw_dtype dtype)
{
    switch (dtype) {
    case TW_F32: return (tw_elements){t->float_val, t->n_float_val, sizeof *t->float_val};
    case TW_F64: return (tw_elements){t->double_val, t->n_double_val, sizeof *t->double_val};
    case TW_F16:
    case TW_BF16: return (tw_elements){t->half_val, t->n_half_val, sizeof *t->half_val};
    case TW_S64: return (tw_elements){t->int64_val, t->n_int64_val, sizeof *t->int64_val};
    case TW_BOOL: return (tw_elements){t->bool_val, t->n_bool_val, sizeof *t->bool_val};
    case TW_U32: return (tw_elements){t->uint32_val, t->n_uint32_val, sizeof *t->uint32_val};
    case TW_U64: return (tw_elements){t->uint64_val, t->n_uint64_val, sizeof *t->uint64_val};
    default: return (tw_elements){t->int_val, t->n_int_val, sizeof *t->int_val};
    }
}

/* The listed elements in a row; the last one stands for all that follow, none at all for zeros. Numbers
 * are little-endian, so that a narrow one is the beginning of a wide one. */
static void spread(tw_elements list, tw_dtype dtype, int64_t elements, uint8_t *to)
{
    size_t size = tw_dtype_bytes(dtype);
    for (int64_t i = 0; i < elements && list.count; i++) {
        size_t at = (size_t)i < list.count ? (size_t)i : list.count - 1;
        const uint8_t *from = (const uint8_t *)list.data + at * list.from;
        if (dtype == TW_BOOL)
            to[i] = *(const protobuf_c_boolean *)(const void *)from != 0;
        else
            memcpy(to + (size_t)i * size, from, size);
    }
}

tw_value *tw_tf_constant(tw_tf_node *n, const Tw__Tf__Tensor *t)
{
    tw_dtype dtype = tw_tf_stored_dtype(t->dtype);
    int64_t dim[TW_MAX_RANK];
    int rank;
    tw_shape shape;
    if (dtype == TW_NO_DTYPE) {
        TW_TF_UNSUPPORTED(n, "the constant is %s, which is not supported",
                          tw_tf_type_name(t->dtype));
        return NULL;
    }
    if (!tw_tf_shape(t->shape, n->b->node, &rank, dim, n->b->diag))
        return NULL;
    rank = rank < 0 ? 0 : rank;
    if (!tw_shape_from_file("the constant", dtype, (size_t)rank, dim, &shape, n->b->diag))
        return NULL;
    size_t bytes = tw_shape_bytes(&shape);
    if (t->has_content && t->content.len) {
        if (t->content.len != bytes) {
            TW_TF_FAIL(n, "the constant has %zu bytes, its shape needs %zu", t->content.len, bytes);
            return NULL;
        }
        return tw_tf_from_stored(n, shape, tw_copy(n->b->arena, t->content.data, bytes));
    }
    tw_elements list = listed(t, dtype);
    if (list.count > (size_t)tw_shape_elements(&shape) || bytes > TW_BUILD_LIMIT) {
        TW_TF_FAIL(n, "the constant lists %zu elements for %lld", list.count,
                   (long long)tw_shape_elements(&shape));
        return NULL;
    }
    uint8_t *data = tw_alloc(n->b->arena, bytes + 1);
    spread(list, dtype, tw_shape_elements(&shape), data);
    return tw_tf_from_stored(n, shape, data);
}
