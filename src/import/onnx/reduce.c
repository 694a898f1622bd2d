/* Reductions, softmax and batch normalisation. */
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
static tw_value *reduce_nothing(tw_onnx_node *n)
{
    static const char *const steps[][2] = {
        {"ReduceL1", "Abs"}, {"ReduceL2", "Abs"}, {"ReduceLogSum", "Log"}};
    tw_value *x = n->in[0];
    if (strcmp(n->op, "ReduceSumSquare") == 0)
        return tw_build2(n->b, "Mul", x, x, NULL);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strcmp(n->op, steps[i][0]) == 0)
            return tw_build1(n->b, steps[i][1], x, NULL);
    return x;
}

bool tw_onnx_op_reduce(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    tw_onnx_list list;
    bool keep = tw_onnx_int(n, "keepdims", 1) != 0, flag[TW_MAX_RANK] = {false};
    bool noop = tw_onnx_int(n, "noop_with_empty_axes", 0) != 0;
    if (!read_axes(n, &list) || !tw_onnx_axes(n, &list, x->shape.rank, flag))
        return false;
    if (list.count <= 0 && noop)
        return tw_onnx_bind(n, 0, reduce_nothing(n));
    int64_t axes[TW_MAX_RANK];
    int count = 0;
    for (int i = 0; i < x->shape.rank; i++)
        if (flag[i] || list.count <= 0)
            axes[count++] = i;
    return tw_onnx_bind(
        n, 0,
        tw_build1(n->b, n->op, x,
                  TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_int("keepdims", keep))));
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

tw_value *tw_onnx_softmax(tw_onnx_node *n, tw_value *x)
{
    int axis;
    bool flat;
    tw_value *rows = x ? softmax_operand(n, x, &axis, &flat) : NULL;
    if (!rows)
        return NULL;
    tw_value *y = tw_build1(n->b, "Softmax", rows, TW_SETTINGS(tw_set_int("axis", axis)));
    return unflatten(n, y, &x->shape, flat);
}

bool tw_onnx_op_softmax(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, tw_onnx_softmax(n, n->in[0]));
}

/* (x - max) - log(sum(exp(x - max))) */
bool tw_onnx_op_log_softmax(tw_onnx_node *n)
{
    int axis;
    bool flat;
    tw_value *rows = softmax_operand(n, n->in[0], &axis, &flat);
    if (!rows)
        return false;
    int64_t axes[] = {axis};
    const tw_setting *over = TW_SETTINGS(tw_set_ints("axes", 1, axes), tw_set_int("keepdims", 1));
    tw_value *largest = tw_build1(n->b, "ReduceMax", rows, over);
    tw_value *below = tw_build2(n->b, "Sub", rows, largest, NULL);
    tw_value *sum = tw_build1(n->b, "ReduceSum", tw_build1(n->b, "Exp", below, NULL), over);
    tw_value *y = tw_build2(n->b, "Sub", below, tw_build1(n->b, "Log", sum, NULL), NULL);
    return tw_onnx_bind(n, 0, unflatten(n, y, &n->in[0]->shape, flat));
}

/* --- batch normalisation ----------------------------------------------------------------------- */

static bool refuse_training(tw_onnx_node *n)
{
    bool training = n->opset >= 14 ? tw_onnx_int(n, "training_mode", 0) != 0
                    : n->opset < 7 ? tw_onnx_int(n, "is_test", 0) == 0
                                   : false;
    for (int i = 1; i < n->out_count; i++)
        training |= tw_onnx_wants(n, i);
    if (training)
        return TW_ONNX_UNSUPPORTED(n, "the node is in training mode; export the model for "
                                      "inference");
    return true;
}

bool tw_onnx_op_batch_normalization(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    float epsilon = tw_onnx_float(n, "epsilon", 1e-5f);
    tw_onnx_ignore(n, "momentum"); /* of training */
    if (n->opset < 6)
        tw_onnx_ignore(n, "consumed_inputs");
    if (n->opset < 9 && tw_onnx_int(n, "spatial", 1) == 0)
        return TW_ONNX_UNSUPPORTED(n, "statistics for each element (spatial 0) are not supported");
    if (!refuse_training(n))
        return false;
    if (x->shape.rank < 2)
        return TW_ONNX_FAIL(n, "the input has rank %d; batch and channels are needed",
                            x->shape.rank);
    for (int i = 1; i < 5; i++)
        if (n->in[i]->shape.rank != 1 || n->in[i]->shape.dim[0] != x->shape.dim[1])
            return TW_ONNX_FAIL(n, "input %d must be a list of %d elements, one a channel", i,
                                (int)x->shape.dim[1]);
    tw_value *in[] = {tw_build_channels_last(n->b, x), n->in[1], n->in[2], n->in[3], n->in[4]};
    tw_value *y = tw_build(n->b, "BatchNorm", in, 5, TW_SETTINGS(tw_set_float("epsilon", epsilon)));
    return tw_onnx_bind(n, 0, tw_build_channels_first(n->b, y));
}
