/* Shapes: views, and what is known of shapes at import. */
#include <string.h>

#include "import/tflite/tflite.h"

/* --- views ------------------------------------------------------------------------------------- */

static bool view(tw_tfl_node *n, tw_value *x, int rank, const int64_t *dim)
{
    if (rank > TW_MAX_RANK)
        return TW_TFL_UNSUPPORTED(n, "a result of %d axes; at most %d are supported", rank,
                                  TW_MAX_RANK);
    return tw_tfl_set(n, 0, tw_build_reshape(n->b, x, rank, dim));
}

/* At most one -1 among the extents stands for what is left. */
static bool resolve(tw_tfl_node *n, const tw_value *x, const tw_tfl_list *list, int64_t *dim)
{
    int64_t known = 1, elements = tw_shape_elements(&x->shape);
    int open = -1;
    for (int i = 0; i < list->count; i++) {
        dim[i] = list->v[i];
        if (dim[i] < -1 || (dim[i] == -1 && open >= 0))
            return TW_TFL_FAIL(n, "the shape has extent %lld at axis %d", (long long)dim[i], i);
        if (dim[i] == -1)
            open = i;
        else if (dim[i] == 0 || known <= INT32_MAX / dim[i])
            known *= dim[i];
        else
            return TW_TFL_FAIL(n, "the shape has more elements than the input");
    }
    if (open >= 0 && (known == 0 || elements % known != 0))
        return TW_TFL_FAIL(n, "the open extent does not divide the input's %lld elements",
                           (long long)elements);
    if (open >= 0)
        dim[open] = elements / known;
    return true;
}

bool tw_tfl_op_reshape(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list list;
    int64_t dim[TW_MAX_RANK] = {0};
    if (!x || !tw_tfl_list_in(n, 1, "the shape", &list))
        return false;
    if (list.count < 0 && !tw_tfl_ints(n, TW_FIELD(Reshape, new_shape), &list))
        return false;
    if (list.count < 0)
        return TW_TFL_FAIL(n, "it has no shape");
    if (list.count > TW_MAX_RANK)
        return TW_TFL_UNSUPPORTED(n, "a result of %d axes; at most %d are supported", list.count,
                                  TW_MAX_RANK);
    /* Old files write [0] for a scalar. */
    if (list.count == 1 && list.v[0] == 0 && tw_shape_elements(&x->shape) == 1)
        list.count = 0;
    return resolve(n, x, &list, dim) && view(n, x, list.count, dim);
}

bool tw_tfl_op_squeeze(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list list;
    bool drop[TW_MAX_RANK] = {false};
    int64_t dim[TW_MAX_RANK];
    int rank = 0;
    if (!x || !tw_tfl_ints(n, TW_FIELD(Squeeze, squeeze_dims), &list))
        return false;
    for (int i = 0; i < list.count; i++) {
        int axis;
        if (!tw_tfl_axis(n, list.v[i], x->shape.rank, &axis))
            return false;
        if (x->shape.dim[axis] != 1)
            return TW_TFL_FAIL(n, "axis %d has extent %d, only 1 can be dropped", axis,
                               (int)x->shape.dim[axis]);
        drop[axis] = true;
    }
    for (int i = 0; i < x->shape.rank; i++)
        if (!(drop[i] || (list.count <= 0 && x->shape.dim[i] == 1)))
            dim[rank++] = x->shape.dim[i];
    return view(n, x, rank, dim);
}

/* The extents of x with a 1 put in at `axis` of the result. */
static int with_axis(const tw_value *x, int axis, int64_t *dim)
{
    for (int i = 0, k = 0; i <= x->shape.rank; i++)
        dim[i] = i == axis ? 1 : x->shape.dim[k++];
    return x->shape.rank + 1;
}

bool tw_tfl_op_expand_dims(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list list;
    int64_t dim[TW_MAX_RANK + 1];
    int axis;
    if (!x || !tw_tfl_list_in(n, 1, "the axis", &list))
        return false;
    if (list.count != 1)
        return TW_TFL_FAIL(n, "one axis is needed");
    if (!tw_tfl_axis(n, list.v[0], x->shape.rank + 1, &axis))
        return false;
    int rank = with_axis(x, axis, dim);
    return view(n, x, rank, dim);
}

bool tw_tfl_op_pack(tw_tfl_node *n)
{
    int count = (int)n->operator->in_count, axis;
    tw_value *first = tw_tfl_in(n, 0);
    tw_value **parts = tw_alloc_array(n->import->scratch, (size_t)count, sizeof *parts);
    int64_t dim[TW_MAX_RANK + 1];
    if (!first ||
        !tw_tfl_axis(n, tw_tfl_int(n, TW_FIELD(Pack, axis), 0), first->shape.rank + 1, &axis))
        return false;
    if (first->shape.rank == TW_MAX_RANK)
        return TW_TFL_UNSUPPORTED(n, "a result of more than six axes");
    for (int i = 0; i < count; i++) {
        tw_value *part = tw_tfl_in(n, i);
        if (!part)
            return false;
        if (!tw_shape_equal(&part->shape, &first->shape))
            return TW_TFL_FAIL(n, "inputs 0 and %d have different shapes", i);
        parts[i] = tw_build_reshape(n->b, part, with_axis(part, axis, dim), dim);
    }
    return tw_tfl_set(n, 0, tw_build_concat(n->b, parts, count, axis));
}

bool tw_tfl_op_unpack(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    int64_t dim[TW_MAX_RANK];
    int axis, rank = 0;
    if (!x || !tw_tfl_axis(n, tw_tfl_int(n, TW_FIELD(Unpack, axis), 0), x->shape.rank, &axis))
        return false;
    if (n->operator->out_count !=(uint32_t) x->shape.dim[axis])
        return TW_TFL_FAIL(n, "%u results of an axis of extent %d", n->operator->out_count,
                           (int)x->shape.dim[axis]);
    for (int i = 0; i < x->shape.rank; i++)
        if (i != axis)
            dim[rank++] = x->shape.dim[i];
    for (int i = 0; i < x->shape.dim[axis]; i++) {
        if (!tw_tfl_wants(n, i))
            continue;
        tw_value *part = tw_build_slice(n->b, x, axis, i, 1, 1);
        if (!tw_tfl_set(n, i, tw_build_reshape(n->b, part, rank, dim)))
            return false;
    }
    return true;
}

/* --- shapes as data ---------------------------------------------------------------------------- */

/* A constant of the type that the file gives result 0. */
static bool set_list(tw_tfl_node *n, int rank, int count, const int64_t *v)
{
    const int32_t dim[1] = {count};
    tw_dtype type = tw_tfl_wants(n, 0) ? tw_tfl_dtype(tw_tfl_out_tensor(n, 0)) : TW_S32;
    if (type != TW_S64 && type != TW_S32)
        return TW_TFL_FAIL(n, "the result must be INT32 or INT64");
    size_t size = tw_dtype_bytes(type);
    uint8_t *data = tw_alloc(n->b->arena, size * (size_t)count + 1);
    for (int i = 0; i < count; i++)
        memcpy(data + (size_t)i * size, &v[i], size);
    return tw_tfl_set(n, 0, tw_build_data(n->b, tw_shape_of(type, rank, dim), data));
}

bool tw_tfl_op_shape(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    int64_t v[TW_MAX_RANK];
    for (int i = 0; x && i < x->shape.rank; i++)
        v[i] = x->shape.dim[i];
    return x && set_list(n, 1, x->shape.rank, v);
}

bool tw_tfl_op_rank(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    int64_t rank = x ? x->shape.rank : 0;
    return x && set_list(n, 0, 1, &rank);
}

/* Extents from a list, each from 0 up. */
bool tw_tfl_shape_in(tw_tfl_node *n, int i, tw_dtype dtype, tw_shape *shape)
{
    tw_tfl_list list;
    int64_t elements = 1;
    *shape = tw_shape_of(dtype, 0, NULL);
    if (!tw_tfl_list_in(n, i, "the shape", &list))
        return false;
    if (list.count < 0)
        return TW_TFL_FAIL(n, "it has no shape");
    while (list.count > TW_MAX_RANK && list.v[0] == 1) { /* as tensors of the file lose them */
        list.v++;
        list.count--;
    }
    if (list.count > TW_MAX_RANK)
        return TW_TFL_UNSUPPORTED(n, "a result of %d axes; at most %d are supported", list.count,
                                  TW_MAX_RANK);
    for (int k = 0; k < list.count; k++) {
        if (list.v[k] < 0 || list.v[k] > TW_BUILD_LIMIT || (elements *= list.v[k]) > TW_BUILD_LIMIT)
            return TW_TFL_FAIL(n, "extent %lld at axis %d of the shape is out of range",
                               (long long)list.v[k], k);
        shape->dim[k] = (int32_t)list.v[k];
    }
    shape->rank = list.count;
    return true;
}

/* A value everywhere: computed while the network runs, or a constant. */
bool tw_tfl_op_fill(tw_tfl_node *n)
{
    tw_value *value = tw_tfl_in(n, 1);
    tw_shape shape;
    if (!value || !tw_tfl_shape_in(n, 0, value->shape.dtype, &shape))
        return false;
    if (tw_shape_elements(&value->shape) != 1)
        return TW_TFL_FAIL(n, "the value must be a single element");
    if (!tw_build_known(n->b, value))
        return tw_tfl_set(n, 0,
                          tw_build_expand(n->b, tw_build_reshape(n->b, value, 0, NULL), &shape));
    tw_value *full = tw_build_full(n->b, shape, 0);
    if (!full)
        return false;
    size_t size = tw_dtype_bytes(shape.dtype);
    for (int64_t i = 0; i < tw_shape_elements(&shape); i++)
        memcpy((uint8_t *)(uintptr_t)full->data + (size_t)i * size, value->data, size);
    full->quant = value->quant;
    return tw_tfl_set(n, 0, full);
}

bool tw_tfl_op_zeros_like(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    return x && tw_tfl_set(n, 0, tw_build_full(n->b, x->shape, 0));
}

bool tw_tfl_op_range(tw_tfl_node *n)
{
    tw_value *bounds[] = {tw_tfl_in(n, 0), tw_tfl_in(n, 1), tw_tfl_in(n, 2)};
    return bounds[0] && bounds[1] && bounds[2] &&
           tw_tfl_set(n, 0, tw_build_range(n->b, n->op, bounds));
}

/* --- broadcasting ------------------------------------------------------------------------------ */

bool tw_tfl_op_tile(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list list;
    if (!x || !tw_tfl_list_in(n, 1, "the number of copies", &list))
        return false;
    if (list.count != x->shape.rank)
        return TW_TFL_FAIL(n, "%d numbers of copies for %d axes", list.count, x->shape.rank);
    for (int i = 0; i < list.count; i++)
        if (list.v[i] < 0)
            return TW_TFL_FAIL(n, "%lld copies along axis %d", (long long)list.v[i], i);
    return tw_tfl_set(
        n, 0, tw_build1(n->b, "Tile", x, TW_SETTINGS(tw_set_ints("repeats", list.count, list.v))));
}

bool tw_tfl_op_broadcast_to(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_shape shape;
    if (!x || !tw_tfl_shape_in(n, 1, x->shape.dtype, &shape))
        return false;
    int lead = shape.rank - x->shape.rank;
    if (lead < 0)
        return TW_TFL_FAIL(n, "the shape has fewer axes than the input");
    for (int i = lead; i < shape.rank; i++)
        if (x->shape.dim[i - lead] != 1 && x->shape.dim[i - lead] != shape.dim[i])
            return TW_TFL_FAIL(n, "extent %d of axis %d does not broadcast to %d",
                               (int)x->shape.dim[i - lead], i, (int)shape.dim[i]);
    return tw_tfl_set(n, 0, tw_build_expand(n->b, x, &shape));
}

/* The shape that two shapes broadcast to. */
bool tw_tfl_op_broadcast_args(tw_tfl_node *n)
{
    tw_tfl_list a, b;
    int64_t v[TW_MAX_RANK];
    if (!tw_tfl_list_in(n, 0, "a shape", &a) || !tw_tfl_list_in(n, 1, "a shape", &b))
        return false;
    int rank = a.count > b.count ? a.count : b.count;
    if (a.count < 0 || b.count < 0 || rank > TW_MAX_RANK)
        return TW_TFL_FAIL(n, "two shapes of at most six axes are needed");
    for (int i = 1; i <= rank; i++) { /* from the last axis on */
        int64_t x = i <= a.count ? a.v[a.count - i] : 1, y = i <= b.count ? b.v[b.count - i] : 1;
        if (x != y && x != 1 && y != 1)
            return TW_TFL_FAIL(n, "extents %lld and %lld do not broadcast", (long long)x,
                               (long long)y);
        v[rank - i] = x == 1 ? y : x;
    }
    return set_list(n, 1, rank, v);
}
