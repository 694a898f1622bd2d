/* Normalisation and reductions. */
#include <string.h>

#include "import/foreign/mobilint/mobilint.h"

/* --- by channel --------------------------------------------------------------------------------- */

/* A list of one number a channel (or a block of them). */
static tw_value *list_of(tw_foreign_node *n, const char *name, int64_t elements)
{
    tw_value *w = tw_foreign_weight(n, name);
    if (w && tw_shape_elements(&w->shape) != elements) {
        TW_FOREIGN_FAIL(n, "the attribute %s has %lld elements, not %lld", name,
                        (long long)tw_shape_elements(&w->shape), (long long)elements);
        return NULL;
    }
    return w && w->shape.rank != 1 ? tw_build_reshape(n->b, w, 1, &elements) : w;
}

static bool read_epsilon(const tw_foreign_node *n, float *epsilon)
{
    return tw_foreign_number(n, "epsilon", epsilon) &&
           (*epsilon >= 0 || TW_FOREIGN_FAIL(n, "the attribute epsilon is negative"));
}

bool tw_mobilint_batchnorm(tw_foreign_node *n)
{
    static const char *const names[] = {"gamma", "beta", "moving_mean", "moving_var"};
    tw_value *in[5] = {tw_mobilint_image(n)};
    float epsilon;
    if (!in[0] || !read_epsilon(n, &epsilon))
        return false;
    for (int i = 0; i < 4; i++)
        if (!(in[i + 1] = list_of(n, names[i], in[0]->shape.dim[3])))
            return false;
    return tw_mobilint_image_result(
        n, tw_build(n->b, "BatchNorm", in, 5, TW_SETTINGS(tw_set_float("epsilon", epsilon))));
}

/* --- over axes ---------------------------------------------------------------------------------- */

/* x over `axes`, then times scale and plus bias, which are given the extents `dim` of `rank` axes
 * (rank 0: as they are). */
typedef struct tw_norming {
    const char *op;
    int count;
    int64_t axes[TW_MAX_RANK];
    int rank;
    int64_t dim[TW_MAX_RANK];
    int64_t elements; /* of scale and bias */
} tw_norming;

static tw_value *shaped_list(tw_foreign_node *n, const char *name, const tw_norming *of)
{
    tw_value *w = list_of(n, name, of->elements);
    return w && of->rank > 1 ? tw_build_reshape(n->b, w, of->rank, of->dim) : w;
}

static tw_value *normalised(tw_foreign_node *n, tw_value *x, const tw_norming *of)
{
    float epsilon;
    if (!x || !read_epsilon(n, &epsilon))
        return NULL;
    tw_value *in[] = {x, shaped_list(n, "scale", of), NULL};
    if (in[1] && tw_foreign_has(n, "bias"))
        in[2] = shaped_list(n, "bias", of);
    if (!in[1] || n->b->diag->code != TW_CODE_OK)
        return NULL;
    return tw_build(
        n->b, of->op, in, in[2] ? 3 : 2,
        TW_SETTINGS(tw_set_ints("axes", of->count, of->axes), tw_set_float("epsilon", epsilon)));
}

/* Over the last axes, those that normalized_shape names. */
static bool normalise_last(tw_foreign_node *n, const char *op)
{
    const tw_shape *x = &n->in[0]->shape;
    tw_foreign_list shape = tw_foreign_ints(n, "normalized_shape");
    tw_norming of = {.op = op, .elements = 1};
    of.count = of.rank = shape.count ? shape.count : 1;
    if (of.count > x->rank || x->rank == 0)
        return TW_FOREIGN_FAIL(n,
                               "the attribute normalized_shape has %d entries, the input %d "
                               "axes",
                               of.count, x->rank);
    for (int i = 0; i < of.count; i++) {
        const int axis = x->rank - of.count + i;
        of.axes[i] = axis;
        of.dim[i] = x->dim[axis];
        of.elements *= x->dim[axis];
        if (shape.count && shape.v[i] != x->dim[axis])
            return TW_FOREIGN_FAIL(n,
                                   "the attribute normalized_shape has %lld where the input has "
                                   "%d",
                                   (long long)shape.v[i], (int)x->dim[axis]);
    }
    return tw_foreign_result(n, normalised(n, n->in[0], &of));
}

bool tw_mobilint_layer_normalization(tw_foreign_node *n)
{
    return normalise_last(n, "Normalize");
}

bool tw_mobilint_rms_normalization(tw_foreign_node *n)
{
    return normalise_last(n, "RmsNormalize");
}

/* The channels of an image as two axes of extents outer and inner, normalised over `axes` of the five,
 * and back. */
static bool normalise_blocks(tw_foreign_node *n, tw_value *x, int64_t outer, int64_t inner,
                             const tw_norming *of)
{
    const int32_t *d = x->shape.dim;
    const int64_t blocks[] = {d[0], d[1], d[2], outer, inner}, image[] = {d[0], d[1], d[2], d[3]};
    tw_value *y = normalised(n, tw_build_reshape(n->b, x, 5, blocks), of);
    return tw_mobilint_image_result(n, tw_build_reshape(n->b, y, 4, image));
}

static bool divides(tw_foreign_node *n, int64_t groups, int64_t channels)
{
    return (groups >= 1 && channels % groups == 0) ||
           TW_FOREIGN_FAIL(n, "the attribute num_groups %lld does not divide %lld channels",
                           (long long)groups, (long long)channels);
}

bool tw_mobilint_group_normalization(tw_foreign_node *n)
{
    tw_value *x = tw_mobilint_image(n);
    const int64_t groups = tw_foreign_int(n, "num_groups");
    if (!x || !divides(n, groups, x->shape.dim[3]))
        return false;
    const int64_t channels = x->shape.dim[3], each = channels / groups;
    tw_norming of = {"Normalize", 3, {1, 2, 4}, 2, {groups, each}, channels};
    return normalise_blocks(n, x, groups, each, &of);
}

/* In groups: a feature's statistics are taken over the image and all groups, which stand inside the
 * features (group_order 1) or outside (0). */
bool tw_mobilint_instance_normalization(tw_foreign_node *n)
{
    tw_value *x = tw_mobilint_image(n);
    const int64_t groups = tw_foreign_int(n, "num_groups"),
                  order = tw_foreign_int(n, "group_order");
    if (!x)
        return false;
    const int64_t channels = x->shape.dim[3];
    if (groups == -1 && order == -1) {
        tw_norming of = {"Normalize", 2, {1, 2}, 1, {channels}, channels};
        return tw_mobilint_image_result(n, normalised(n, x, &of));
    }
    if (!divides(n, groups, channels))
        return false;
    if (order != 0 && order != 1)
        return TW_FOREIGN_FAIL(n, "the attribute group_order is %lld; 0 and 1 are possible",
                               (long long)order);
    const int64_t features = channels / groups;
    tw_norming outside = {"Normalize", 3, {1, 2, 3}, 1, {features}, features};
    tw_norming inside = {"Normalize", 3, {1, 2, 4}, 2, {features, 1}, features};
    return order == 0 ? normalise_blocks(n, x, groups, features, &outside)
                      : normalise_blocks(n, x, features, groups, &inside);
}

/* --- lengths ------------------------------------------------------------------------------------ */

static bool normalise_length(tw_foreign_node *n, const char *op)
{
    int64_t axes[TW_MAX_RANK];
    float epsilon = 0;
    const int count = tw_foreign_axes(n, "norm_axis", n->in[0]->shape.rank, axes);
    if (count == 0)
        return TW_FOREIGN_FAIL(n, "the attribute norm_axis is empty");
    if (count < 0 || !read_epsilon(n, &epsilon))
        return false;
    return tw_foreign_result(n, tw_build1(n->b, op, n->in[0],
                                          TW_SETTINGS(tw_set_ints("axes", count, axes),
                                                      tw_set_float("epsilon", epsilon))));
}

bool tw_mobilint_l1_normalization(tw_foreign_node *n)
{
    return normalise_length(n, "L1Normalize");
}

bool tw_mobilint_l2_normalization(tw_foreign_node *n)
{
    return normalise_length(n, "L2Normalize");
}

/* --- reductions --------------------------------------------------------------------------------- */

bool tw_mobilint_reduce(tw_foreign_node *n)
{
    int64_t axes[TW_MAX_RANK];
    const int count = tw_foreign_axes(n, "reduce_axes", n->in[0]->shape.rank, axes);
    if (count < 0)
        return false;
    if (count == 0 && tw_foreign_int(n, "noop_with_empty_axes") != 0)
        return tw_foreign_result(n, tw_build1(n->b, "Identity", n->in[0], NULL));
    return tw_foreign_result(
        n, tw_build1(n->b, tw_foreign_main(n), n->in[0],
                     TW_SETTINGS(tw_set_ints("axes", count, axes),
                                 tw_set_int("keepdims", tw_foreign_flag(n, "keep_dims")))));
}

/* 1 / sqrt(variance + epsilon) over the axes, with extent 1; of channels in groups, one a group. */
bool tw_mobilint_rstd(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0];
    int rank = x->shape.rank;
    int64_t axes[TW_MAX_RANK], dim[TW_MAX_RANK];
    const int64_t groups = tw_foreign_int(n, "num_groups");
    const int count = tw_foreign_axes(n, "reduce_axes", rank, axes);
    float epsilon;
    if (count < 0 || !read_epsilon(n, &epsilon))
        return false;
    if (count == 0)
        return TW_FOREIGN_FAIL(n, "the attribute reduce_axes is empty");
    for (int k = 0; k < rank; k++)
        dim[k] = x->shape.dim[k];
    if (groups > 1) {
        if (axes[count - 1] != rank - 1 || rank == TW_MAX_RANK)
            return TW_FOREIGN_UNSUPPORTED(n, "the attribute num_groups is of use only where "
                                             "reduce_axes names the channels");
        if (!divides(n, groups, dim[rank - 1]))
            return false;
        dim[rank] = dim[rank - 1] / groups;
        dim[rank - 1] = groups;
        axes[count - 1] = rank;
        x = tw_build_reshape(b, x, rank + 1, dim);
    }
    const tw_setting *over = TW_SETTINGS(tw_set_ints("axes", count, axes));
    tw_value *mean = tw_build1(b, "ReduceMean", x, over);
    tw_value *variance =
        tw_build1(b, "ReduceMean", tw_build2(b, "SquaredDifference", x, mean, NULL), over);
    tw_value *sum = tw_build2(b, "Add", variance, tw_build_scalar(b, TW_F32, epsilon), NULL);
    tw_value *y = tw_build1(b, "Rsqrt", sum, NULL);
    for (int k = 0; y && k < rank; k++)
        dim[k] = y->shape.dim[k];
    return tw_foreign_result(n, groups > 1 ? tw_build_reshape(b, y, rank, dim) : y);
}
