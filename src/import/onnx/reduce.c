/* Reductions and softmax. */
#include <string.h>

#include "import/onnx/onnx.h"

/* The axes stand in an input from opset 18 on, for ReduceSum from 13. */
static bool read_axes(tw_onnx_node *n, tw_onnx_list *axes)
{
    bool is_sum = strcmp(n->op, "ReduceSum") == 0;
    if (n->opset >= (is_sum ? 13 : 18))
        return tw_onnx_list_in(n, 1, "axes", axes);
    *axes = tw_onnx_ints(n, "axes");
    if (tw_onnx_in(n, 1))
        return TW_ONNX_FAIL(n, "the axes are an attribute in opset %lld", (long long)n->opset);
    return true;
}

/* What a reduction over no axis leaves: its steps before and after the sum. */
static tw_value *reduce_nothing(tw_onnx_node *n, tw_value *x)
{
    static const char *const steps[][2] = {
        {"ReduceL1", "Abs"}, {"ReduceL2", "Abs"}, {"ReduceLogSum", "Log"}};
    if (strcmp(n->op, "ReduceSumSquare") == 0)
        return tw_build2(n->b, "Mul", x, x, NULL);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strcmp(n->op, steps[i][0]) == 0)
            return tw_build1(n->b, steps[i][1], x, NULL);
    return x;
}

/* Logarithms are computed in float, also of integers. */
static tw_value *operand(tw_onnx_node *n)
{
    tw_dtype dtype = n->in[0]->shape.dtype;
    bool integer = dtype == TW_S32 || dtype == TW_U32 || dtype == TW_S64 || dtype == TW_U64;
    return integer && strncmp(n->op, "ReduceLog", 9) == 0 ? tw_build_cast(n->b, n->in[0], TW_F32)
                                                          : n->in[0];
}

bool tw_onnx_op_reduce(tw_onnx_node *n)
{
    tw_value *x = operand(n);
    tw_onnx_list list;
    bool keep = tw_onnx_int(n, "keepdims", 1) != 0, flag[TW_MAX_RANK] = {false};
    bool noop = tw_onnx_int(n, "noop_with_empty_axes", 0) != 0;
    if (!x || !read_axes(n, &list) || !tw_onnx_axes(n, &list, x->shape.rank, flag))
        return false;
    if (list.count <= 0 && noop)
        return tw_onnx_bind(n, 0, tw_build_cast(n->b, reduce_nothing(n, x), n->in[0]->shape.dtype));
    int64_t axes[TW_MAX_RANK];
    int count = 0;
    for (int i = 0; i < x->shape.rank; i++)
        if (flag[i] || list.count <= 0)
            axes[count++] = i;
    const char *op = n->op; /* of booleans, the greatest and the least are "any" and "all" */
    if (x->shape.dtype == TW_BOOL && strcmp(op, "ReduceMax") == 0)
        op = "ReduceAny";
    else if (x->shape.dtype == TW_BOOL && strcmp(op, "ReduceMin") == 0)
        op = "ReduceAll";
    tw_value *y = tw_build1(
        n->b, op, x, TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_int("keepdims", keep)));
    return tw_onnx_bind(n, 0, tw_build_cast(n->b, y, n->in[0]->shape.dtype));
}

/* --- softmax ----------------------------------------------------------------------------------- */

/* Before opset 13 the axes from `axis` on count as one. Where that matters, x is reshaped to a
 * matrix; *flat says so. */
static tw_value *softmax_operand(tw_onnx_node *n, tw_value *x, int *axis, bool *flat)
{
    bool old = n->opset < 13;
    int64_t given = tw_onnx_int(n, "axis", old ? 1 : -1);
    int rank = x->shape.rank, wide = 0;
    *flat = false;
    if (old && given == rank) { /* nothing behind the axis: each element is its own row */
        *axis = rank;
        *flat = true;
    } else if (!tw_onnx_axis(n, given, rank, axis)) {
        return NULL;
    }
    for (int i = *axis; i < rank && old; i++)
        wide += x->shape.dim[i] != 1;
    for (int i = *axis; i < rank && old && wide == 1; i++)
        if (x->shape.dim[i] != 1)
            *axis = i;
    *flat |= wide > 1;
    if (!*flat)
        return x;
    int64_t dim[2] = {1, 1};
    for (int i = 0; i < rank; i++)
        dim[i >= *axis] *= x->shape.dim[i];
    *axis = 1;
    return tw_build_reshape(n->b, x, 2, dim);
}

static tw_value *unflatten(tw_onnx_node *n, tw_value *y, const tw_shape *shape, bool flat)
{
    int64_t dim[TW_MAX_RANK];
    for (int i = 0; i < shape->rank; i++)
        dim[i] = shape->dim[i];
    return flat ? tw_build_reshape(n->b, y, shape->rank, dim) : y;
}

/* An operator of the softmax kind: one attribute, `axis`. */
static tw_value *along_axis(tw_onnx_node *n, const char *op, tw_value *x)
{
    int axis;
    bool flat;
    tw_value *rows = x ? softmax_operand(n, x, &axis, &flat) : NULL;
    if (!rows)
        return NULL;
    tw_value *y = tw_build1(n->b, op, rows, TW_SETTINGS(tw_set_int("axis", axis)));
    return unflatten(n, y, &x->shape, flat);
}

tw_value *tw_onnx_softmax(tw_onnx_node *n, tw_value *x)
{
    return along_axis(n, "Softmax", x);
}

bool tw_onnx_op_softmax(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, along_axis(n, n->op, n->in[0]));
}

/* 1 where the first greatest element of the axis stands, 0 elsewhere. */
bool tw_onnx_op_hardmax(tw_onnx_node *n)
{
    int axis;
    bool flat;
    tw_value *x = softmax_operand(n, n->in[0], &axis, &flat);
    if (!x)
        return false;
    tw_value *where = tw_build1(n->b, "TopIndices", x, TW_SETTINGS(tw_set_int("axis", axis)));
    tw_value *place = tw_build_iota(n->b, TW_S64, x->shape.rank, axis, x->shape.dim[axis]);
    tw_value *y = tw_build_cast(n->b, tw_build2(n->b, "Equal", where, place, NULL), x->shape.dtype);
    return tw_onnx_bind(n, 0, unflatten(n, y, &n->in[0]->shape, flat));
}
