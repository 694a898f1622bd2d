/* Normalisations. They are imported in the model's order of axes: Normalize and its relatives work
 * in any order, and the layout pass chooses. */
#include <string.h>

#include "import/onnx/onnx.h"

/* --- parts ------------------------------------------------------------------------------------- */

/* Axes first to last, in `axes`; how many. */
static int axes_between(int first, int last, int64_t *axes)
{
    int count = 0;
    for (int i = first; i <= last; i++)
        axes[count++] = i;
    return count;
}

/* scale and bias may be null. */
static tw_value *normalise(tw_onnx_node *n, const char *op, tw_value *x, tw_value *scale,
                           tw_value *bias, int count, const int64_t *axes, float epsilon)
{
    tw_value *in[] = {x, scale, bias};
    const tw_setting *settings =
        TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_float("epsilon", epsilon));
    return x ? tw_build(n->b, op, in, bias ? 3 : scale ? 2 : 1, settings) : NULL;
}

/* A list of one number a channel, with `behind` axes of extent 1 after it. */
static tw_value *by_channel(tw_onnx_node *n, tw_value *list, int behind)
{
    int64_t dim[TW_MAX_RANK] = {list->shape.dim[0]};
    for (int i = 1; i <= behind; i++)
        dim[i] = 1;
    return tw_build_reshape(n->b, list, behind + 1, dim);
}

static bool is_list(tw_onnx_node *n, int i, int64_t elements, const char *each)
{
    tw_value *list = tw_onnx_need(n, i);
    if (list && (list->shape.rank != 1 || list->shape.dim[0] != elements))
        return TW_ONNX_FAIL(n, "input %d must be a list of %lld elements, one a %s", i,
                            (long long)elements, each);
    return list != NULL;
}

static bool has_space(tw_onnx_node *n, const tw_value *x)
{
    return x->shape.rank >= 3 ||
           TW_ONNX_FAIL(n,
                        "the input has rank %d; batch, channels and at least one more axis are "
                        "needed",
                        x->shape.rank);
}

/* The type in which the first half is computed. */
static bool stashes_float(tw_onnx_node *n)
{
    int64_t type = tw_onnx_int(n, "stash_type", 1);
    return type == 1 || TW_ONNX_UNSUPPORTED(n, "stash_type %lld is not supported; use 1 (float)",
                                            (long long)type);
}

/* --- over channels and space ------------------------------------------------------------------- */

bool tw_onnx_op_instance_normalization(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    int64_t axes[TW_MAX_RANK];
    int rank = x->shape.rank;
    float epsilon = tw_onnx_float(n, "epsilon", 1e-5f);
    if (n->opset < 6)
        tw_onnx_ignore(n, "consumed_inputs");
    if (!has_space(n, x) || !is_list(n, 1, x->shape.dim[1], "channel") ||
        !is_list(n, 2, x->shape.dim[1], "channel"))
        return false;
    int count = axes_between(2, rank - 1, axes);
    return tw_onnx_bind(n, 0,
                        normalise(n, "Normalize", x, by_channel(n, n->in[1], rank - 2),
                                  by_channel(n, n->in[2], rank - 2), count, axes, epsilon));
}

/* Channels [C] as groups: [G, C / G, 1, ..]; `lists` of one number a channel, or a group, likewise. */
bool tw_onnx_op_group_normalization(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *list[2];
    int64_t axes[TW_MAX_RANK], dim[TW_MAX_RANK + 1];
    int rank = x->shape.rank;
    int64_t groups = tw_onnx_int(n, "num_groups", 0);
    float epsilon = tw_onnx_float(n, "epsilon", 1e-5f);
    bool by_group = n->opset < 21; /* what scale and bias count */
    if (!has_space(n, x) || (!by_group && !stashes_float(n)))
        return false;
    int64_t channels = x->shape.dim[1];
    if (groups < 1 || channels % groups != 0)
        return TW_ONNX_FAIL(n, "%lld groups do not divide %lld channels", (long long)groups,
                            (long long)channels);
    if (rank == TW_MAX_RANK)
        return TW_ONNX_UNSUPPORTED(n, "rank %d; at most %d with groups as an axis", rank,
                                   TW_MAX_RANK - 1);
    for (int i = 0; i < 2; i++) {
        if (!is_list(n, i + 1, by_group ? groups : channels, by_group ? "group" : "channel"))
            return false;
        dim[0] = groups;
        dim[1] = by_group ? 1 : channels / groups;
        for (int k = 2; k < rank; k++)
            dim[k] = 1;
        list[i] = tw_build_reshape(n->b, n->in[i + 1], rank, dim);
    }
    dim[0] = x->shape.dim[0];
    dim[1] = groups;
    dim[2] = channels / groups;
    for (int k = 2; k < rank; k++)
        dim[k + 1] = x->shape.dim[k];
    int count = axes_between(2, rank, axes);
    tw_value *y = normalise(n, "Normalize", tw_build_reshape(n->b, x, rank + 1, dim), list[0],
                            list[1], count, axes, epsilon);
    for (int k = 0; k < rank; k++)
        dim[k] = x->shape.dim[k];
    return tw_onnx_bind(n, 0, tw_build_reshape(n->b, y, rank, dim));
}

/* x / (bias + alpha / size * sum)^beta over neighbouring channels. */
bool tw_onnx_op_lrn(tw_onnx_node *n)
{
    int64_t size = tw_onnx_int(n, "size", 0);
    float alpha = tw_onnx_float(n, "alpha", 1e-4f), beta = tw_onnx_float(n, "beta", 0.75f);
    float bias = tw_onnx_float(n, "bias", 1.0f);
    if (size < 1)
        return TW_ONNX_FAIL(n, "size is %lld; it must be given and positive", (long long)size);
    if (n->in[0]->shape.rank < 2)
        return TW_ONNX_FAIL(n, "the input has rank %d; batch and channels are needed",
                            n->in[0]->shape.rank);
    return tw_onnx_bind(
        n, 0,
        tw_build1(n->b, "Lrn", n->in[0],
                  TW_SETTINGS(tw_set_int("axis", 1), tw_set_int("size", size),
                              tw_set_float("alpha", alpha / (float)size),
                              tw_set_float("beta", beta), tw_set_float("bias", bias))));
}

/* --- over the last axes ------------------------------------------------------------------------ */

/* The axes from `axis` on. */
static int last_axes(tw_onnx_node *n, int64_t *axes)
{
    int first, rank = n->in[0]->shape.rank;
    return tw_onnx_axis(n, tw_onnx_int(n, "axis", -1), rank, &first)
               ? axes_between(first, rank - 1, axes)
               : 0;
}

/* Outputs 1 and 2 of LayerNormalization, which only training reads. */
static bool bind_statistics(tw_onnx_node *n, int count, const int64_t *axes, float epsilon)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0];
    const tw_setting over[] = {tw_set_ints("axes", count, axes), {.name = NULL}};
    if (!tw_onnx_wants(n, 1) && !tw_onnx_wants(n, 2))
        return true;
    tw_value *mean = tw_build1(b, "ReduceMean", x, over);
    if (!tw_onnx_bind(n, 1, mean) || !tw_onnx_wants(n, 2))
        return mean != NULL;
    tw_value *d = tw_build2(b, "Sub", x, mean, NULL);
    tw_value *variance = tw_build1(b, "ReduceMean", tw_build2(b, "Mul", d, d, NULL), over);
    tw_value *epsilon_value = tw_build_scalar(b, TW_F32, (double)epsilon);
    tw_value *root = tw_build1(b, "Sqrt", tw_build2(b, "Add", variance, epsilon_value, NULL), NULL);
    return tw_onnx_bind(n, 2, tw_build1(b, "Reciprocal", root, NULL));
}

bool tw_onnx_op_layer_normalization(tw_onnx_node *n)
{
    int64_t axes[TW_MAX_RANK];
    float epsilon = tw_onnx_float(n, "epsilon", 1e-5f);
    int count = last_axes(n, axes);
    return count > 0 && stashes_float(n) && bind_statistics(n, count, axes, epsilon) &&
           tw_onnx_bind(n, 0,
                        normalise(n, "Normalize", n->in[0], n->in[1], tw_onnx_in(n, 2), count, axes,
                                  epsilon));
}

bool tw_onnx_op_rms_normalization(tw_onnx_node *n)
{
    int64_t axes[TW_MAX_RANK];
    float epsilon = tw_onnx_float(n, "epsilon", 1e-5f);
    int count = last_axes(n, axes);
    return count > 0 && stashes_float(n) &&
           tw_onnx_bind(
               n, 0, normalise(n, "RmsNormalize", n->in[0], n->in[1], NULL, count, axes, epsilon));
}

/* --- without scale ----------------------------------------------------------------------------- */

bool tw_onnx_op_lp_normalization(tw_onnx_node *n)
{
    int64_t p = tw_onnx_int(n, "p", 2), axis = tw_onnx_int(n, "axis", -1);
    int at;
    if (!tw_onnx_axis(n, axis, n->in[0]->shape.rank, &at))
        return false;
    if (p != 1 && p != 2)
        return TW_ONNX_FAIL(n, "p is %lld; it must be 1 or 2", (long long)p);
    axis = at;
    return tw_onnx_bind(
        n, 0,
        normalise(n, p == 1 ? "L1Normalize" : "L2Normalize", n->in[0], NULL, NULL, 1, &axis, 0));
}

bool tw_onnx_op_mean_variance_normalization(tw_onnx_node *n)
{
    static const int64_t usual[] = {0, 2, 3};
    tw_onnx_list list = tw_onnx_ints(n, "axes");
    bool flag[TW_MAX_RANK] = {false};
    int64_t axes[TW_MAX_RANK];
    int count = 0, rank = n->in[0]->shape.rank;
    if (list.count < 0)
        list = (tw_onnx_list){3, usual};
    if (!tw_onnx_axes(n, &list, rank, flag))
        return false;
    for (int i = 0; i < rank; i++)
        if (flag[i])
            axes[count++] = i;
    if (count == 0)
        return TW_ONNX_FAIL(n, "axes must name at least one axis");
    return tw_onnx_bind(n, 0,
                        normalise(n, "Standardize", n->in[0], NULL, NULL, count, axes, 1e-9f));
}

/* --- batch normalisation ----------------------------------------------------------------------- */

static bool is_training(tw_onnx_node *n)
{
    bool training = n->opset >= 14 ? tw_onnx_int(n, "training_mode", 0) != 0
                    : n->opset < 7 ? tw_onnx_int(n, "is_test", 0) == 0
                                   : false;
    for (int i = 1; i < n->out_count; i++)
        training |= tw_onnx_wants(n, i);
    return training;
}

/* What was, moved towards what is now. */
static tw_value *running(tw_onnx_node *n, tw_value *was, tw_value *now, float momentum)
{
    tw_value *kept =
        tw_build2(n->b, "Mul", was, tw_build_scalar(n->b, TW_F32, (double)momentum), NULL);
    tw_value *new =
        tw_build2(n->b, "Mul", now, tw_build_scalar(n->b, TW_F32, (double)(1 - momentum)), NULL);
    return tw_build2(n->b, "Add", kept, new, NULL);
}

/* By the statistics of the batch, which the results 1 and 2 follow. */
static bool in_training(tw_onnx_node *n, float epsilon, float momentum)
{
    tw_value *x = n->in[0];
    int64_t axes[TW_MAX_RANK], channels = x->shape.dim[1];
    int count = 0;
    if (n->opset < 14)
        return TW_ONNX_UNSUPPORTED(n,
                                   "the node is in training mode; export the model for inference");
    tw_warn(
        n->b->diag, n->b->node, n->op,
        "the node is in training mode and takes the batch's own statistics; export the model for "
        "inference (model.eval()) unless that is meant");
    for (int i = 0; i < x->shape.rank; i++)
        if (i != 1)
            axes[count++] = i;
    const tw_setting over[] = {tw_set_ints("axes", count, axes), {.name = NULL}};
    tw_value *mean = tw_build1(n->b, "ReduceMean", x, over);
    tw_value *apart = tw_build2(n->b, "Sub", x, mean, NULL);
    tw_value *variance =
        tw_build1(n->b, "ReduceMean", tw_build2(n->b, "Mul", apart, apart, NULL), over);
    tw_value *y = normalise(n, "Normalize", x, by_channel(n, n->in[1], x->shape.rank - 2),
                            by_channel(n, n->in[2], x->shape.rank - 2), count, axes, epsilon);
    mean = tw_build_reshape(n->b, mean, 1, &channels);
    variance = tw_build_reshape(n->b, variance, 1, &channels);
    return tw_onnx_bind(n, 0, y) &&
           (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, running(n, n->in[3], mean, momentum))) &&
           (!tw_onnx_wants(n, 2) || tw_onnx_bind(n, 2, running(n, n->in[4], variance, momentum)));
}

bool tw_onnx_op_batch_normalization(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    float epsilon = tw_onnx_float(n, "epsilon", 1e-5f);
    float momentum = tw_onnx_float(n, "momentum", 0.9f); /* of training */
    if (n->opset < 6)
        tw_onnx_ignore(n, "consumed_inputs");
    if (n->opset < 9 && tw_onnx_int(n, "spatial", 1) == 0)
        return TW_ONNX_UNSUPPORTED(n, "statistics for each element (spatial 0) are not supported");
    if (x->shape.rank < 2)
        return TW_ONNX_FAIL(n, "the input has rank %d; batch and channels are needed",
                            x->shape.rank);
    for (int i = 1; i < 5; i++)
        if (n->in[i]->shape.rank != 1 || n->in[i]->shape.dim[0] != x->shape.dim[1])
            return TW_ONNX_FAIL(n, "input %d must be a list of %d elements, one a channel", i,
                                (int)x->shape.dim[1]);
    if (is_training(n))
        return in_training(n, epsilon, momentum);
    tw_value *in[] = {tw_build_channels_last(n->b, x), n->in[1], n->in[2], n->in[3], n->in[4]};
    tw_value *y = tw_build(n->b, "BatchNorm", in, 5, TW_SETTINGS(tw_set_float("epsilon", epsilon)));
    return tw_onnx_bind(n, 0, tw_build_channels_first(n->b, y));
}
