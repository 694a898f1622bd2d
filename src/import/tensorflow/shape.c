/* What only names, reshapes or says how large something is; constants and placeholders. */
#include <string.h>

#include "import/tensorflow/tensorflow.h"

/* --- passed on --------------------------------------------------------------------------------- */

/* Everything that goes through, one by one: tensors, handles, lists. */
bool tw_tf_op_identity(tw_tf_node *n)
{
    if (!tw_tf_results(n, n->in_count))
        return false;
    for (int i = 0; i < n->in_count; i++)
        n->out[i] = n->in[i];
    return true;
}

/* Nothing comes out: what only orders, checks or prints. */
bool tw_tf_op_nothing(tw_tf_node *n)
{
    (void)n;
    return true;
}

bool tw_tf_op_const(tw_tf_node *n)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, "value");
    if (!a || !a->tensor)
        return TW_TF_FAIL(n, "the constant has no value");
    if (a->tensor->dtype == TW_TF_STRING)
        return tw_tf_set_item(n, 0, (tw_tf_item){.kind = TW_TF_TEXT, .text = a->tensor});
    /* Constants of other types do no harm where nothing reads them. */
    if (tw_tf_dtype(a->tensor->dtype) == TW_NO_DTYPE && a->tensor->dtype == TW_TF_VARIANT)
        return true;
    return tw_tf_set(n, 0, tw_tf_constant(n, a->tensor));
}

bool tw_tf_op_placeholder(tw_tf_node *n)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, "dtype");
    if (n->import->restoring || (a && a->type == TW_TF_STRING))
        return true; /* where the checkpoint lies, which is known */
    return TW_TF_UNSUPPORTED(n, "it is no input of the signature, but what the signature computes "
                                "needs it");
}

/* --- views ------------------------------------------------------------------------------------- */

bool tw_tf_op_reshape(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t dim[TW_MAX_RANK], known = 1;
    tw_tf_ints extents;
    int open = -1;
    if (!x || !tw_tf_extents_in(n, 1, true, &extents))
        return false;
    const int64_t elements = tw_shape_elements(&x->shape);
    for (int i = 0; i < extents.count; i++) {
        dim[i] = extents.v[i];
        if (dim[i] == -1 && open >= 0)
            return TW_TF_FAIL(n, "the shape is open at axes %d and %d", open, i);
        if (dim[i] == -1)
            open = i;
        else if (dim[i] == 0 || known <= INT32_MAX / dim[i])
            known *= dim[i];
        else
            return TW_TF_FAIL(n, "the shape has more elements than the input");
    }
    if (open >= 0 && (known == 0 || elements % known != 0))
        return TW_TF_FAIL(n, "the open extent does not divide the input's %lld elements",
                          (long long)elements);
    if (open >= 0)
        dim[open] = elements / known;
    return tw_tf_set(n, 0, tw_build_reshape(n->b, x, extents.count, dim));
}

bool tw_tf_op_squeeze(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints list = tw_tf_ints_of(n, "squeeze_dims");
    bool drop[TW_MAX_RANK] = {false};
    int64_t dim[TW_MAX_RANK];
    int rank = 0;
    if (!x)
        return false;
    for (int i = 0; i < list.count; i++) {
        int axis;
        if (!tw_tf_axis(n, list.v[i], x->shape.rank, &axis))
            return false;
        if (x->shape.dim[axis] != 1)
            return TW_TF_FAIL(n, "axis %d has extent %d, only 1 can be dropped", axis,
                              (int)x->shape.dim[axis]);
        drop[axis] = true;
    }
    for (int i = 0; i < x->shape.rank; i++)
        if (!(drop[i] || (list.count <= 0 && x->shape.dim[i] == 1)))
            dim[rank++] = x->shape.dim[i];
    return tw_tf_set(n, 0, tw_build_reshape(n->b, x, rank, dim));
}

bool tw_tf_op_expand_dims(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t given, dim[TW_MAX_RANK + 1];
    int axis;
    if (!x || !tw_tf_int_in(n, 1, "the axis", &given) ||
        !tw_tf_axis(n, given, x->shape.rank + 1, &axis))
        return false;
    if (x->shape.rank == TW_MAX_RANK)
        return TW_TF_UNSUPPORTED(n, "a result of more than %d axes", TW_MAX_RANK);
    for (int i = 0, k = 0; i <= x->shape.rank; i++)
        dim[i] = i == axis ? 1 : x->shape.dim[k++];
    return tw_tf_set(n, 0, tw_build_reshape(n->b, x, x->shape.rank + 1, dim));
}

bool tw_tf_op_broadcast_to(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints extents;
    if (!x || !tw_tf_extents_in(n, 1, false, &extents))
        return false;
    tw_shape shape = {.dtype = x->shape.dtype, .rank = extents.count};
    const int lead = shape.rank - x->shape.rank;
    if (lead < 0)
        return TW_TF_FAIL(n, "the shape has fewer axes than the input");
    for (int i = 0; i < shape.rank; i++) {
        shape.dim[i] = (int32_t)extents.v[i];
        if (i >= lead && x->shape.dim[i - lead] != 1 && x->shape.dim[i - lead] != shape.dim[i])
            return TW_TF_FAIL(n, "extent %d of axis %d does not broadcast to %d",
                              (int)x->shape.dim[i - lead], i, (int)shape.dim[i]);
    }
    return tw_tf_set(n, 0, tw_build_expand(n->b, x, &shape));
}

/* --- shapes as data ---------------------------------------------------------------------------- */

/* Only the shape is read, which random numbers have too. */
static const tw_shape *shape_in(tw_tf_node *n)
{
    if (n->in[0].kind == TW_TF_RANDOM)
        return &n->in[0].shape;
    const tw_value *x = tw_tf_in(n, 0);
    return x ? &x->shape : NULL;
}

bool tw_tf_op_shape(tw_tf_node *n)
{
    const tw_shape *shape = shape_in(n);
    int64_t v[TW_MAX_RANK];
    for (int i = 0; shape && i < shape->rank; i++)
        v[i] = shape->dim[i];
    return shape && tw_tf_set_list(n, 0, "out_type", 1, shape->rank, v);
}

bool tw_tf_op_rank(tw_tf_node *n)
{
    const tw_shape *shape = shape_in(n);
    int64_t rank = shape ? shape->rank : 0;
    return shape && tw_tf_set_list(n, 0, NULL, 0, 1, &rank);
}

bool tw_tf_op_size(tw_tf_node *n)
{
    const tw_shape *shape = shape_in(n);
    int64_t size = shape ? tw_shape_elements(shape) : 0;
    return shape && tw_tf_set_list(n, 0, "out_type", 0, 1, &size);
}

bool tw_tf_op_fill(tw_tf_node *n)
{
    tw_tf_ints extents;
    tw_value *value = tw_tf_in(n, 1);
    if (!value || !tw_tf_extents_in(n, 0, false, &extents))
        return false;
    if (value->shape.rank != 0)
        return TW_TF_FAIL(n, "the value must be a scalar");
    tw_shape shape = {.dtype = value->shape.dtype, .rank = extents.count};
    int64_t elements = 1;
    for (int i = 0; i < extents.count; i++) {
        shape.dim[i] = (int32_t)extents.v[i];
        elements *= extents.v[i];
        if (elements > TW_BUILD_LIMIT)
            return TW_TF_UNSUPPORTED(n, "more than %d elements", TW_BUILD_LIMIT);
    }
    if (tw_build_known(n->b, value))
        return tw_tf_set(n, 0, tw_build_full(n->b, shape, tw_constant_at(value, 0)));
    return tw_tf_set(n, 0, tw_build_expand(n->b, value, &shape));
}

static bool alike(tw_tf_node *n, double value)
{
    tw_value *x = tw_tf_in(n, 0);
    return x && tw_tf_set(n, 0, tw_build_full(n->b, x->shape, value));
}

bool tw_tf_op_zeros_like(tw_tf_node *n)
{
    return alike(n, 0);
}

bool tw_tf_op_ones_like(tw_tf_node *n)
{
    return alike(n, 1);
}

bool tw_tf_op_range(tw_tf_node *n)
{
    tw_value *bounds[] = {tw_tf_in(n, 0), tw_tf_in(n, 1), tw_tf_in(n, 2)};
    return bounds[0] && bounds[1] && bounds[2] &&
           tw_tf_set(n, 0, tw_build_range(n->b, n->op, bounds));
}

bool tw_tf_op_lin_space(tw_tf_node *n)
{
    tw_value *ends[] = {tw_tf_in(n, 0), tw_tf_in(n, 1)};
    int64_t count;
    if (!ends[0] || !ends[1] || !tw_tf_int_in(n, 2, "the number of elements", &count))
        return false;
    if (count < 1 || count > TW_BUILD_LIMIT / 8)
        return TW_TF_FAIL(n, "%lld elements", (long long)count);
    for (int i = 0; i < 2; i++)
        if (!tw_build_constant(n->b, ends[i]) || tw_shape_elements(&ends[i]->shape) != 1)
            return TW_TF_UNSUPPORTED(n, "input %d must be one constant", i);
    const float from = (float)tw_constant_at(ends[0], 0), to = (float)tw_constant_at(ends[1], 0);
    const float step = count > 1 ? (to - from) / (float)(count - 1) : 0;
    float *data = tw_alloc_array(n->b->arena, (size_t)count, sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = i == count - 1 && i > 0 ? to : from + step * (float)i;
    const int32_t dim[1] = {(int32_t)count};
    return tw_tf_set(n, 0, tw_build_data(n->b, tw_shape_of(TW_F32, 1, dim), data));
}

/* The shape that two shapes broadcast to. */
bool tw_tf_op_broadcast_args(tw_tf_node *n)
{
    tw_tf_ints a, b;
    int64_t v[TW_MAX_RANK];
    if (!tw_tf_extents_in(n, 0, false, &a) || !tw_tf_extents_in(n, 1, false, &b))
        return false;
    const int rank = a.count > b.count ? a.count : b.count;
    for (int i = 0; i < rank; i++) { /* from the last axis on */
        const int64_t x = i < a.count ? a.v[a.count - 1 - i] : 1;
        const int64_t y = i < b.count ? b.v[b.count - 1 - i] : 1;
        if (x != y && x != 1 && y != 1)
            return TW_TF_FAIL(n, "extents %lld and %lld do not broadcast", (long long)x,
                              (long long)y);
        v[rank - 1 - i] = x == 1 ? y : x;
    }
    return tw_tf_set_list(n, 0, "T", 1, rank, v);
}
