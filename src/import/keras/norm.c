/* Normalisations. */
#include <string.h>

#include "import/keras/keras.h"

static tw_value *full(tw_kr_node *n, int64_t count, double value)
{
    const int32_t dim[1] = {(int32_t)count};
    return tw_build_full(n->b, tw_shape_of(TW_F32, 1, dim), value);
}

/* A channel's scale, bias, mean and variance, of which the first two may be left out. */
bool tw_kr_op_batch_norm(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK));
    const int axis = x ? tw_kr_axis(n, "axis", x->shape.rank, -1) : -1;
    if (axis < 0)
        return false;
    const int rank = x->shape.rank;
    const int64_t count = x->shape.dim[axis];
    const bool scale = tw_kr_flag(n, "scale", true), centre = tw_kr_flag(n, "center", true);
    tw_value *in[5] = {x};
    int i = 0;
    in[1] = scale ? tw_kr_variable(n, n->store, i++, "gamma", 1, &count) : full(n, count, 1);
    in[2] = centre ? tw_kr_variable(n, n->store, i++, "beta", 1, &count) : full(n, count, 0);
    in[3] = tw_kr_variable(n, n->store, i, "moving_mean", 1, &count);
    in[4] = tw_kr_variable(n, n->store, i + 1, "moving_variance", 1, &count);
    int64_t to[TW_MAX_RANK], back[TW_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        to[k] = k < axis ? k : k + 1 < rank ? k + 1 : axis;
        back[to[k]] = k;
    }
    if (axis != rank - 1)
        in[0] = tw_build_transpose(n->b, x, rank, to);
    tw_value *y =
        in[0] && in[1] && in[2] && in[3] && in[4]
            ? tw_build(n->b, "BatchNorm", in, 5,
                       TW_SETTINGS(tw_set_float("epsilon", (float)tw_kr_real(n, "epsilon", 1e-3))))
            : NULL;
    return tw_kr_set(n, axis != rank - 1 && y ? tw_build_transpose(n->b, y, rank, back) : y);
}

/* A variable over some axes, to be broadcast over x. Keras 2 keeps axes that are named in another order in
 * that order, and takes the elements as if they stood in the input's. */
static tw_value *over_axes(tw_kr_node *n, tw_value *x, const int64_t *axes, int count, int i,
                           const char *what)
{
    int64_t own[TW_MAX_RANK], dim[TW_MAX_RANK];
    const int first = count ? (int)axes[0] : 0;
    for (int k = 0; k < count; k++)
        own[k] = count > 1 ? -1 : x->shape.dim[axes[k]];
    for (int k = first; k < x->shape.rank; k++)
        dim[k - first] = 1;
    for (int k = 0; k < count; k++)
        dim[axes[k] - first] = x->shape.dim[axes[k]];
    tw_value *v = tw_kr_variable(n, n->store, i, what, count, own);
    return v ? tw_build_reshape(n->b, v, x->shape.rank - first, dim) : NULL;
}

static tw_value *normalize(tw_kr_node *n, const char *op, tw_value *x, const int64_t *axes,
                           int count, double epsilon, tw_value *scale, tw_value *bias)
{
    tw_value *in[] = {x, scale, bias};
    return x ? tw_build(n->b, op, in,
                        bias    ? 3
                        : scale ? 2
                                : 1,
                        TW_SETTINGS(tw_set_ints("axes", count, axes),
                                    tw_set_float("epsilon", (float)epsilon)))
             : NULL;
}

/* Keras's rms_scaling: x over its standard deviation, without taking off the mean, and no bias. */
static tw_value *rms_scaled(tw_kr_node *n, tw_value *x, const int64_t *axes, int count,
                            tw_value *scale)
{
    const tw_setting *over =
        TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_int("keepdims", 1));
    tw_value *mean = tw_build1(n->b, "ReduceMean", x, over);
    tw_value *apart = mean ? tw_build2(n->b, "Sub", x, mean, NULL) : NULL;
    tw_value *square = apart ? tw_build1(n->b, "Square", apart, NULL) : NULL;
    tw_value *v = square ? tw_build1(n->b, "ReduceMean", square, over) : NULL;
    v = v ? tw_build2(n->b, "Add", v, tw_kr_scalar(n, tw_kr_real(n, "epsilon", 1e-3)), NULL) : NULL;
    v = v ? tw_build1(n->b, "Rsqrt", v, NULL) : NULL;
    v = v ? tw_build2(n->b, "Mul", x, v, NULL) : NULL;
    return v && scale ? tw_build2(n->b, "Mul", v, scale, NULL) : NULL;
}

bool tw_kr_op_layer_norm(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK)), *scale = NULL, *bias = NULL;
    int64_t axes[TW_MAX_RANK];
    const int count = tw_kr_axes(n, "axis", x, -1, axes);
    int i = 0;
    if (count < 1)
        return false;
    if (tw_kr_flag(n, "rms_scaling", false))
        return tw_kr_set(n,
                         rms_scaled(n, x, axes, count, over_axes(n, x, axes, count, 0, "gamma")));
    if (tw_kr_flag(n, "scale", true) && !(scale = over_axes(n, x, axes, count, i++, "gamma")))
        return false;
    if (tw_kr_flag(n, "center", true) && !(bias = over_axes(n, x, axes, count, i, "beta")))
        return false;
    return tw_kr_set(
        n, normalize(n, "Normalize", x, axes, count, tw_kr_real(n, "epsilon", 1e-3), scale, bias));
}

bool tw_kr_op_rms_norm(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK));
    int64_t axes[TW_MAX_RANK];
    const int count = tw_kr_axes(n, "axis", x, -1, axes);
    tw_value *scale = count > 0 ? over_axes(n, x, axes, count, 0, "scale") : NULL;
    return scale && tw_kr_set(n, normalize(n, "RmsNormalize", x, axes, count,
                                           tw_kr_real(n, "epsilon", 1e-6), scale, NULL));
}

bool tw_kr_op_unit_norm(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK));
    int64_t axes[TW_MAX_RANK];
    const int count = tw_kr_axes(n, "axis", x, -1, axes);
    /* The squares are held above 1e-12. */
    return count > 0 && tw_kr_set(n, normalize(n, "L2Normalize", x, axes, count, 1e-6, NULL, NULL));
}

/* The channels in groups, each group normalised over all that is not batch; then channel by channel. */
bool tw_kr_op_group_norm(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 2, TW_MAX_RANK - 1)), *scale = NULL, *bias = NULL;
    const int rank = x ? x->shape.rank : 0, axis = x ? tw_kr_axis(n, "axis", rank, -1) : -1;
    if (axis < 0)
        return false;
    int64_t groups = tw_kr_int(n, "groups", 32), dim[TW_MAX_RANK], axes[TW_MAX_RANK],
            own[1] = {axis};
    const int64_t channels = x->shape.dim[axis];
    int i = 0, count = 0, at = 0;
    groups = groups == -1 ? channels : groups;
    if (axis == 0 || groups < 1 || channels % groups != 0)
        return TW_KR_FAIL(n, "%lld groups do not divide %lld channels", (long long)groups,
                          (long long)channels);
    for (int k = 0; k < rank; k++) {
        if (k == axis)
            dim[at++] = groups;
        if (k > 0)
            axes[count++] = at;
        dim[at++] = k == axis ? channels / groups : x->shape.dim[k];
    }
    if (tw_kr_flag(n, "scale", true) && !(scale = over_axes(n, x, own, 1, i++, "gamma")))
        return false;
    if (tw_kr_flag(n, "center", true) && !(bias = over_axes(n, x, own, 1, i, "beta")))
        return false;
    tw_value *y = normalize(n, "Normalize", tw_build_reshape(n->b, x, at, dim), axes, count,
                            tw_kr_real(n, "epsilon", 1e-3), NULL, NULL);
    for (int k = 0; k < rank; k++)
        dim[k] = x->shape.dim[k];
    y = y ? tw_build_reshape(n->b, y, rank, dim) : NULL;
    if (scale)
        y = y ? tw_build2(n->b, "Mul", y, scale, NULL) : NULL;
    if (bias)
        y = y ? tw_build2(n->b, "Add", y, bias, NULL) : NULL;
    return tw_kr_set(n, y);
}

/* What the wrapper has learned is in the wrapped layer's kernel. */
bool tw_kr_op_spectral_norm(tw_kr_node *n)
{
    tw_value *mask = NULL;
    return tw_kr_set(n, tw_kr_inner(n, tw_kr_get(n, "layer"),
                                    tw_kr_child(n->import, n->store, "layer"),
                                    tw_kr_in(n, 1, TW_MAX_RANK), &mask));
}
