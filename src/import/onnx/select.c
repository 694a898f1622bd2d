/* Operators that search, count and mark: places of extremes, triangles, one-hot, running sums. */
#include <string.h>

#include "import/onnx/counted.h"
#include "import/onnx/tensor.h"

/* The one number that input i holds, which must be known now. */
static bool scalar_in(tw_onnx_node *n, int i, const char *what, int64_t *value)
{
    tw_value *in = tw_onnx_in(n, i);
    if (!in)
        return TW_ONNX_FAIL(n, "%s (input %d) is missing", what, i);
    if (tw_shape_elements(&in->shape) != 1)
        return TW_ONNX_FAIL(n, "%s (input %d) must be one number", what, i);
    if (!tw_build_constant(n->b, in))
        return TW_ONNX_UNSUPPORTED(n, "%s (input %d, '%s') must be constant: it fixes a shape",
                                   what, i, in->name);
    *value = tw_build_int_at(in, 0);
    return true;
}

static tw_value *as_scalar(tw_builder *b, tw_value *x)
{
    return x && x->shape.rank ? tw_build_reshape(b, x, 0, NULL) : x;
}

/* --- extremes ---------------------------------------------------------------------------------- */

static tw_value *top_indices(tw_onnx_node *n, int axis, int64_t k, bool largest, bool last)
{
    return tw_build1(n->b, "TopIndices", n->in[0],
                     TW_SETTINGS(tw_set_int("axis", axis), tw_set_int("k", k),
                                 tw_set_int("largest", largest), tw_set_int("last", last)));
}

bool tw_onnx_op_arg_extreme(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    bool last = n->opset >= 12 && tw_onnx_int(n, "select_last_index", 0) != 0;
    bool keep = tw_onnx_int(n, "keepdims", 1) != 0;
    int axis, rank = 0;
    int64_t dim[TW_MAX_RANK];
    if (!tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), x->rank, &axis))
        return false;
    tw_value *y = top_indices(n, axis, 1, strcmp(n->op, "ArgMax") == 0, last);
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            dim[rank++] = x->dim[i];
    return tw_onnx_bind(n, 0, keep ? y : tw_build_reshape(n->b, y, rank, dim));
}

/* k was an attribute before opset 10. The result is always in order, which `sorted` may ask for. */
bool tw_onnx_op_top_k(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    bool largest = n->opset < 11 || tw_onnx_int(n, "largest", 1) != 0;
    int64_t k = n->opset < 10 ? tw_onnx_int(n, "k", -1) : 0;
    int axis;
    if (n->opset >= 11)
        tw_onnx_ignore(n, "sorted");
    if (!tw_onnx_axis(n, tw_onnx_int(n, "axis", -1), x->rank, &axis) ||
        (n->opset >= 10 && !scalar_in(n, 1, "k", &k)))
        return false;
    if (k < 0 || k > x->dim[axis])
        return TW_ONNX_FAIL(n, "%lld of the %d elements of axis %d are asked for", (long long)k,
                            (int)x->dim[axis], axis);
    tw_value *where = top_indices(n, axis, k, largest, false);
    if (tw_onnx_wants(n, 0) && !tw_onnx_bind(n, 0,
                                             tw_build2(n->b, "GatherElements", n->in[0], where,
                                                       TW_SETTINGS(tw_set_int("axis", axis)))))
        return false;
    return tw_onnx_bind(n, 1, where);
}

/* --- running sums ------------------------------------------------------------------------------ */

bool tw_onnx_op_cumulate(tw_onnx_node *n)
{
    bool exclusive = tw_onnx_int(n, "exclusive", 0) != 0;
    bool reverse = tw_onnx_int(n, "reverse", 0) != 0;
    int64_t given;
    int axis;
    return scalar_in(n, 1, "the axis", &given) &&
           tw_onnx_axis(n, given, n->in[0]->shape.rank, &axis) &&
           tw_onnx_bind(
               n, 0,
               tw_build1(n->b, n->op, n->in[0],
                         TW_SETTINGS(tw_set_int("axis", axis), tw_set_int("exclusive", exclusive),
                                     tw_set_int("reverse", reverse))));
}

/* --- masks ------------------------------------------------------------------------------------- */

bool tw_onnx_op_trilu(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    bool upper = tw_onnx_int(n, "upper", 1) != 0;
    int rank = x->shape.rank;
    int64_t k = 0;
    if (rank < 2)
        return TW_ONNX_FAIL(n, "matrices are needed, the input has rank %d", rank);
    if (tw_onnx_in(n, 1) && !scalar_in(n, 1, "k", &k))
        return false;
    tw_value *keep = tw_build_band(n->b, x->shape.dim[rank - 2], x->shape.dim[rank - 1],
                                   upper ? k : INT64_MIN, upper ? INT64_MAX : k);
    tw_value *in[] = {keep, x, tw_build_scalar(n->b, x->shape.dtype, 0)};
    return keep && in[2] && tw_onnx_bind(n, 0, tw_build(n->b, "Where", in, 3, NULL));
}

bool tw_onnx_op_eye_like(tw_onnx_node *n)
{
    tw_shape shape = n->in[0]->shape;
    int64_t type = tw_onnx_int(n, "dtype", 0), k = tw_onnx_int(n, "k", 0);
    if (shape.rank != 2)
        return TW_ONNX_FAIL(n, "a matrix is needed, the input has rank %d", shape.rank);
    if (type != 0)
        shape.dtype = tw_onnx_dtype(type);
    if (shape.dtype == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(type, "the result", n->b->diag);
    tw_value *eye = tw_build_band(n->b, shape.dim[0], shape.dim[1], k, k);
    eye = tw_build_cast(n->b, eye, shape.dtype);
    return eye &&
           (tw_build_known(n->b, eye) ||
            TW_ONNX_UNSUPPORTED(n, "a result of type %s is not supported",
                                tw_dtype_name(shape.dtype))) &&
           tw_onnx_bind(n, 0, eye);
}

/* values[1] where the index along a new axis is the one given, values[0] elsewhere: so also where the
 * one given is out of range. Negative ones count from the end since opset 11. */
bool tw_onnx_op_one_hot(tw_onnx_node *n)
{
    tw_value *indices = n->in[0], *values = n->in[2];
    int rank = indices->shape.rank + 1, axis;
    int64_t depth;
    if (!scalar_in(n, 1, "depth", &depth) ||
        !tw_onnx_axis(n, tw_onnx_int(n, "axis", -1), rank, &axis))
        return false;
    if (depth < 1)
        return TW_ONNX_FAIL(n, "a depth of %lld", (long long)depth);
    if (values->shape.rank != 1 || values->shape.dim[0] != 2)
        return TW_ONNX_FAIL(n, "values must be a list of two");
    indices = tw_build_cast(n->b, indices, TW_S64);
    if (n->opset >= 11) {
        tw_value *zero = tw_build_scalar(n->b, TW_S64, 0);
        tw_value *end = tw_build_scalar(n->b, TW_S64, (double)depth);
        tw_value *in[] = {tw_build2(n->b, "Less", indices, zero, NULL),
                          tw_build2(n->b, "Add", indices, end, NULL), indices};
        indices = in[0] && in[1] ? tw_build(n->b, "Where", in, 3, NULL) : NULL;
    }
    tw_value *hot = tw_build_hot(n->b, n->op, indices, axis, depth);
    tw_value *in[] = {hot, as_scalar(n->b, tw_build_slice(n->b, values, 0, 1, 1, 1)),
                      as_scalar(n->b, tw_build_slice(n->b, values, 0, 0, 1, 1))};
    return in[0] && in[1] && in[2] && tw_onnx_bind(n, 0, tw_build(n->b, "Where", in, 3, NULL));
}

/* --- what fixes a shape ------------------------------------------------------------------------ */

/* The slices of an axis, or the elements of all, where the condition is true. */
bool tw_onnx_op_compress(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *condition = n->in[1];
    int64_t elements = tw_shape_elements(&x->shape);
    int axis = 0;
    if (condition->shape.rank != 1 || condition->shape.dtype != TW_BOOL)
        return TW_ONNX_FAIL(n, "the condition must be a list of booleans");
    const bool known = tw_build_constant(n->b, condition);
    if (!tw_onnx_has(n, "axis"))
        x = tw_build_reshape(n->b, x, 1, &elements);
    else if (!tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), x->shape.rank, &axis))
        return false;
    if (!x || condition->shape.dim[0] > x->shape.dim[axis])
        return TW_ONNX_FAIL(n, "the condition has %d elements, the axis has %d",
                            (int)condition->shape.dim[0], x ? (int)x->shape.dim[axis] : 0);
    if (!known)
        return tw_onnx_compress_counted(n, x, condition, axis);
    int32_t length = condition->shape.dim[0];
    int64_t *index = tw_alloc_array(n->b->arena, (size_t)length + 1, sizeof *index);
    int count = 0;
    for (int32_t i = 0; i < length; i++)
        if (((const uint8_t *)condition->data)[i])
            index[count++] = i;
    return tw_onnx_bind(n, 0, tw_build_gather(n->b, x, tw_build_list(n->b, count, index), axis, 0));
}

/* The places of elements that are not zero: one column each. */
bool tw_onnx_op_non_zero(tw_onnx_node *n)
{
    if (!tw_build_known(n->b, n->in[0]))
        return tw_onnx_non_zero_counted(n);
    return tw_onnx_bind(n, 0, tw_build_places(n->b, n->in[0], false));
}

/* --- cut or filled up -------------------------------------------------------------------------- */

/* To given extents around the middle; an odd element is cut off, or added, at the end. */
bool tw_onnx_op_center_crop_pad(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    tw_onnx_list size, axes = tw_onnx_ints(n, "axes");
    int rank = x->shape.rank;
    int64_t before[TW_MAX_RANK] = {0}, after[TW_MAX_RANK] = {0};
    bool seen[TW_MAX_RANK] = {false}, any = false;
    if (!tw_onnx_list_in(n, 1, "the extents", &size) || !tw_onnx_axes(n, &axes, rank, seen))
        return false;
    int count = axes.count < 0 ? rank : axes.count;
    if (size.count != count)
        return TW_ONNX_FAIL(n, "%d extents for %d axes", size.count, count);
    for (int i = 0; x && i < count; i++) {
        int axis = i;
        if (axes.count >= 0 && !tw_onnx_axis(n, axes.v[i], rank, &axis))
            return false;
        int64_t want = size.v[i], have = x->shape.dim[axis];
        if (want < 0 || want > INT32_MAX)
            return TW_ONNX_FAIL(n, "extent %lld of axis %d", (long long)want, axis);
        if (want < have)
            x = tw_build_slice(n->b, x, axis, (have - want) / 2, want, 1);
        before[axis] = want > have ? (want - have) / 2 : 0;
        after[axis] = want > have ? want - have - before[axis] : 0;
        any |= want > have;
    }
    if (any)
        x = tw_build1(
            n->b, "Pad", x,
            TW_SETTINGS(tw_set_ints("before", rank, before), tw_set_ints("after", rank, after)));
    return tw_onnx_bind(n, 0, x);
}

/* --- bits -------------------------------------------------------------------------------------- */

bool tw_onnx_op_bit_cast(tw_onnx_node *n)
{
    int64_t to = tw_onnx_int(n, "to", 0);
    tw_dtype dtype = tw_onnx_dtype(to);
    if (dtype == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(to, "the result", n->b->diag);
    if (tw_dtype_bytes(dtype) != tw_dtype_bytes(n->in[0]->shape.dtype))
        return TW_ONNX_FAIL(n, "the types have different sizes");
    return tw_onnx_bind(
        n, 0, tw_build1(n->b, "BitCast", n->in[0], TW_SETTINGS(tw_set_int("dtype", dtype))));
}
