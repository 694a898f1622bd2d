/* Tensors made of numbers. They are constants of the graph. */
#include <math.h>
#include <string.h>

#include "import/pytorch/torch.h"

/* Extents from a list argument. */
static bool extents(tw_torch_call *c, int i, int *rank, int64_t *dim)
{
    *rank = tw_torch_length(c, i);
    return *rank <= TW_MAX_RANK && (*rank == 0 || tw_torch_ints(c, i, *rank, dim));
}

static bool filled(tw_torch_call *c, int rank, const int64_t *dim, tw_dtype dtype, double value)
{
    tw_shape shape;
    return tw_torch_shape(c->t, dtype, rank, dim, &shape) &&
           tw_torch_give(c, tw_build_full(c->b, shape, value));
}

/* (x, value, which a tensor may hold): the type stays */
bool tw_torch_op_full_like_only(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    if (!x || c->arg[1]->kind != TW_TORCH_TENSOR)
        return x && tw_torch_give(c, tw_build_full(c->b, x->shape, tw_torch_real(c, 1)));
    tw_value *value = tw_torch_in_as(c, 1, x->shape.dtype);
    if (value && value->shape.rank != 0)
        return TW_TORCH_FAIL(c, "the value has %d axes", value->shape.rank);
    return value && tw_torch_give(c, tw_build_expand(c->b, value, &x->shape));
}

bool tw_torch_op_zeros_like_only(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    return x && tw_torch_give(c, tw_build_full(c->b, x->shape, 0));
}

static double value_of(const tw_torch_call *c)
{
    return c->row->name[0] == 'o' || strncmp(c->row->name, "new_o", 5) == 0 ? 1 : 0;
}

/* (size, dtype, ...): zeros, ones, empty */
bool tw_torch_op_zeros(tw_torch_call *c)
{
    int64_t dim[TW_MAX_RANK];
    int rank;
    tw_dtype dtype;
    return extents(c, 0, &rank, dim) && tw_torch_type(c, 1, TW_F32, &dtype) &&
           filled(c, rank, dim, dtype, value_of(c));
}

/* (size, stride or order of the axes in memory, dtype, ...) */
bool tw_torch_op_zeros_strided(tw_torch_call *c)
{
    int64_t dim[TW_MAX_RANK];
    int rank;
    tw_dtype dtype;
    return extents(c, 0, &rank, dim) && tw_torch_type(c, 2, TW_F32, &dtype) &&
           filled(c, rank, dim, dtype, 0);
}

/* (x, dtype, ...) */
bool tw_torch_op_zeros_like(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    int64_t dim[TW_MAX_RANK] = {0};
    tw_dtype dtype;
    for (int i = 0; x && i < x->shape.rank; i++)
        dim[i] = x->shape.dim[i];
    return x && tw_torch_type(c, 1, x->shape.dtype, &dtype) &&
           filled(c, x->shape.rank, dim, dtype, value_of(c));
}

/* (x, size, dtype, ...) */
bool tw_torch_op_new_zeros(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    int64_t dim[TW_MAX_RANK];
    int rank;
    tw_dtype dtype;
    return x && extents(c, 1, &rank, dim) && tw_torch_type(c, 2, x->shape.dtype, &dtype) &&
           filled(c, rank, dim, dtype, value_of(c));
}

static tw_dtype type_of_number(const tw_torch_object *o)
{
    return o->kind == TW_TORCH_FLOAT ? TW_F32 : o->kind == TW_TORCH_BOOL ? TW_BOOL : TW_S64;
}

/* (size, value, dtype, ...) */
bool tw_torch_op_full(tw_torch_call *c)
{
    int64_t dim[TW_MAX_RANK];
    int rank;
    tw_dtype dtype;
    return extents(c, 0, &rank, dim) && tw_torch_type(c, 2, type_of_number(c->arg[1]), &dtype) &&
           filled(c, rank, dim, dtype, tw_torch_real(c, 1));
}

/* (x, value, dtype, ...) */
bool tw_torch_op_full_like(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    int64_t dim[TW_MAX_RANK] = {0};
    tw_dtype dtype;
    for (int i = 0; x && i < x->shape.rank; i++)
        dim[i] = x->shape.dim[i];
    return x && tw_torch_type(c, 2, x->shape.dtype, &dtype) &&
           filled(c, x->shape.rank, dim, dtype, tw_torch_real(c, 1));
}

/* (x, size, value, dtype, ...) */
bool tw_torch_op_new_full(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    int64_t dim[TW_MAX_RANK];
    int rank;
    tw_dtype dtype;
    return x && extents(c, 1, &rank, dim) && tw_torch_type(c, 3, x->shape.dtype, &dtype) &&
           filled(c, rank, dim, dtype, tw_torch_real(c, 2));
}

static bool series(tw_torch_call *c, double start, double step, int64_t count, tw_dtype dtype)
{
    const int64_t dim[] = {count};
    tw_shape shape;
    if (!tw_torch_shape(c->t, dtype, 1, dim, &shape))
        return false;
    if (dtype != TW_F32 && dtype != TW_S64 && dtype != TW_S32)
        return TW_TORCH_UNSUPPORTED(c, "elements other than int32, int64 and float32 are not "
                                       "supported");
    tw_value *y = tw_build_full(c->b, shape, 0);
    uint8_t *to = y ? (uint8_t *)(uintptr_t)y->data : NULL;
    const size_t size = tw_dtype_bytes(dtype);
    for (int64_t i = 0; to && i < count; i++) {
        const double value = start + step * (double)i;
        const float real = (float)value;
        const int64_t whole = dtype == TW_F32 ? 0 : (int64_t)value;
        memcpy(to + (size_t)i * size, dtype == TW_F32 ? (const void *)&real : &whole, size);
    }
    return tw_torch_give(c, y);
}

static bool arange(tw_torch_call *c, double start, double end, double step, bool whole, int type)
{
    tw_dtype dtype;
    const double count = step != 0 ? ceil((end - start) / step) : -1;
    if (!tw_torch_type(c, type, whole ? TW_S64 : TW_F32, &dtype))
        return false;
    if (!(count >= 0) || count > TW_BUILD_LIMIT || fabs(start) > 1e15)
        return TW_TORCH_FAIL(c, "from %g to %g by %g", start, end, step);
    return series(c, start, step, (int64_t)count, dtype);
}

static bool is_whole(const tw_torch_call *c, int i)
{
    return c->arg[i]->kind != TW_TORCH_FLOAT;
}

/* (end, dtype, ...) */
bool tw_torch_op_arange(tw_torch_call *c)
{
    return arange(c, 0, tw_torch_real(c, 0), 1, is_whole(c, 0), 1);
}

/* (start, end, step, dtype, ...) */
bool tw_torch_op_arange_by(tw_torch_call *c)
{
    return arange(c, tw_torch_real(c, 0), tw_torch_real(c, 1), tw_torch_real(c, 2),
                  is_whole(c, 0) && is_whole(c, 1) && is_whole(c, 2), 3);
}

/* (start, end, steps, dtype, ...) */
bool tw_torch_op_linspace(tw_torch_call *c)
{
    const double start = tw_torch_real(c, 0), end = tw_torch_real(c, 1);
    const int64_t steps = tw_torch_int(c, 2);
    tw_dtype dtype;
    return steps >= 0 && steps < TW_BUILD_LIMIT && tw_torch_type(c, 3, TW_F32, &dtype) &&
           series(c, start, steps > 1 ? (end - start) / (double)(steps - 1) : 0, steps, dtype);
}

static bool hann(tw_torch_call *c, bool periodic)
{
    const int64_t length = tw_torch_int(c, 0);
    tw_shape shape;
    if (length < 1 || length > TW_BUILD_LIMIT / 4)
        return TW_TORCH_FAIL(c, "a window of %lld elements", (long long)length);
    if (!tw_torch_shape(c->t, TW_F32, 1, &length, &shape))
        return false;
    tw_value *y = tw_build_full(c->b, shape, 1);
    float *to = y && length > 1 ? (float *)(uintptr_t)y->data : NULL; /* made just now */
    const double turn = 2 * acos(-1) / (double)(periodic ? length : length - 1);
    for (int64_t i = 0; to && i < length; i++)
        to[i] = (float)(0.5 - 0.5 * cos(turn * (double)i));
    return tw_torch_give(c, y);
}

/* (length, ...) */
bool tw_torch_op_hann_window(tw_torch_call *c)
{
    return hann(c, true);
}

/* (length, periodic, ...) */
bool tw_torch_op_hann_window_by(tw_torch_call *c)
{
    return hann(c, tw_torch_flag(c, 1));
}

/* (number, ...): a tensor of rank 0 */
bool tw_torch_op_scalar_tensor(tw_torch_call *c)
{
    tw_dtype dtype;
    return tw_torch_type(c, 1, type_of_number(c->arg[0]), &dtype) &&
           tw_torch_give(c, tw_torch_in_as(c, 0, dtype));
}
