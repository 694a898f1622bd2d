/* Reductions, softmax and normalisation. */
#include <math.h>

#include "import/tflite/tflite.h"

/* The axes of input 1; none given: all. */
static bool read_axes(tw_tfl_node *n, int rank, int64_t *axes, int *count)
{
    tw_tfl_list list;
    bool seen[TW_MAX_RANK] = {false};
    if (!tw_tfl_list_in(n, 1, "the axes", &list))
        return false;
    for (int i = 0; i < list.count; i++) {
        int axis;
        if (!tw_tfl_axis(n, list.v[i], rank, &axis))
            return false;
        seen[axis] = true;
    }
    *count = 0;
    for (int i = 0; i < rank; i++)
        if (seen[i])
            axes[(*count)++] = i;
    return true;
}

/* The row names the one IR operator that it is. */
bool tw_tfl_op_reduce(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    int64_t axes[TW_MAX_RANK];
    int count;
    if (!x || !read_axes(n, x->shape.rank, axes, &count))
        return false;
    if (count == 0 && tw_tfl_has(n, 1)) /* an empty list of axes changes nothing */
        return tw_tfl_set(n, 0, tw_build1(n->b, "Identity", x, NULL));
    int keep = tw_tfl_flag(n, TW_FIELD(Reducer, keep_dims));
    return tw_tfl_set(
        n, 0,
        tw_tfl_compute(n, 0, n->row->becomes, &x, 1,
                       TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_int("keepdims", keep)),
                       tw_tfl_no_clamp()));
}

bool tw_tfl_op_softmax(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    float beta = tw_tfl_float(n, TW_FIELD(Softmax, beta), 0);
    if (!x || !tw_tfl_wants(n, 0))
        return x != NULL;
    const tw_setting settings[] = {tw_set_int("axis", -1),
                                   tw_set_float("beta", beta),
                                   tw_set_int("dtype", tw_tfl_dtype(tw_tfl_out_tensor(n, 0))),
                                   {.name = NULL}};
    return tw_tfl_set(n, 0, tw_tfl_compute(n, 0, "Softmax", &x, 1, settings, tw_tfl_no_clamp()));
}

bool tw_tfl_op_log_softmax(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    return x && tw_tfl_set(n, 0,
                           tw_tfl_compute(n, 0, "LogSoftmax", &x, 1,
                                          TW_SETTINGS(tw_set_int("axis", -1)), tw_tfl_no_clamp()));
}

/* x / max(sqrt(sum of squares), 1e-6) over the last axis; int8 has no least sum. */
bool tw_tfl_op_l2_normalization(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_clamp clamp;
    if (!x || !tw_tfl_activation(n, tw_tfl_byte(n, TW_FIELD(L2Norm, fused_activation_function), 0),
                                 &clamp))
        return false;
    if (x->shape.rank < 1)
        return TW_TFL_FAIL(n, "the input must have at least one axis");
    const int64_t last[1] = {x->shape.rank - 1};
    if (x->shape.dtype == TW_S8)
        return tw_tfl_set(n, 0,
                          tw_tfl_compute(n, 0, "UnitNormalize", &x, 1,
                                         TW_SETTINGS(tw_set_int("axis", last[0])), clamp));
    return tw_tfl_set(
        n, 0,
        tw_tfl_compute(n, 0, "L2Normalize", &x, 1,
                       TW_SETTINGS(tw_set_ints("axes", 1, last), tw_set_float("epsilon", 1e-6f)),
                       clamp));
}

/* x / (bias + alpha * sum)^beta, the sum of squares from `radius` before to `radius` behind on the
 * last axis. */
bool tw_tfl_op_local_response_normalization(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    const int32_t radius = tw_tfl_int(n, TW_FIELD(LocalResponseNorm, radius), 0);
    const float bias = tw_tfl_float(n, TW_FIELD(LocalResponseNorm, bias), 0);
    const float alpha = tw_tfl_float(n, TW_FIELD(LocalResponseNorm, alpha), 0);
    const float beta = tw_tfl_float(n, TW_FIELD(LocalResponseNorm, beta), 0);
    if (!x)
        return false;
    if (radius < 0 || radius >= 1 << 30)
        return TW_TFL_FAIL(n, "a radius of %d", (int)radius);
    return tw_tfl_set(
        n, 0,
        tw_tfl_compute(n, 0, "Lrn", &x, 1,
                       TW_SETTINGS(tw_set_int("size", 2 * (int64_t)radius + 1),
                                   tw_set_float("alpha", alpha), tw_set_float("beta", beta),
                                   tw_set_float("bias", bias)),
                       tw_tfl_no_clamp()));
}
