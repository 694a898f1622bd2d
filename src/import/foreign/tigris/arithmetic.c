/* What computes: most are the IR's own operators under TiGrIS's names. */
#include <string.h>

#include "import/foreign/tigris/tigris.h"
#include "import/resize.h"

bool tw_tigris_pass(tw_foreign_node *n)
{
    return tw_foreign_result(n, tw_tigris_node(n, tw_foreign_main(n), n->in, n->in_count));
}

bool tw_tigris_relu6(tw_foreign_node *n)
{
    return tw_foreign_result(
        n, tw_build1(n->b, "Clip", n->in[0],
                     TW_SETTINGS(tw_set_float("alpha", 0), tw_set_float("beta", 6))));
}

bool tw_tigris_clip(tw_foreign_node *n)
{
    tw_setting settings[3] = {{.name = NULL}};
    int count = 0;
    if (tw_foreign_has(n, "min"))
        settings[count++] = tw_set_float("alpha", (float)tw_foreign_float(n, "min"));
    if (tw_foreign_has(n, "max"))
        settings[count++] = tw_set_float("beta", (float)tw_foreign_float(n, "max"));
    return tw_foreign_result(n, tw_build1(n->b, "Clip", n->in[0], settings));
}

bool tw_tigris_sum(tw_foreign_node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (!n->in[i])
            return TW_FOREIGN_FAIL(n, "input %d is missing", i);
    tw_value *sum = tw_build_chain(n->b, "Add", n->in, n->in_count);
    return tw_foreign_result(n, n->in_count > 1 ? sum : tw_build1(n->b, "Identity", sum, NULL));
}

/* bool to numbers; of a result with scales, 0 and 1 are quantised as they are. */
bool tw_tigris_cast(tw_foreign_node *n)
{
    if (n->in[0]->shape.dtype != TW_BOOL)
        return TW_FOREIGN_UNSUPPORTED(n, "the input must be bool, not %s",
                                      tw_dtype_name(n->in[0]->shape.dtype));
    return tw_foreign_result(n, tw_build_cast(n->b, n->in[0], TW_F32));
}

/* Integers with scales are compared as they are stored. */
bool tw_tigris_compare(tw_foreign_node *n)
{
    tw_value *a = tw_foreign_stored(n, 0), *b = tw_foreign_stored(n, 1);
    if (a && b && a->shape.dtype == b->shape.dtype)
        return tw_foreign_result(n, tw_build2(n->b, tw_foreign_main(n), a, b, NULL));
    return tw_tigris_pass(n);
}

/* Integers of one scale are chosen from as they are stored. */
bool tw_tigris_where(tw_foreign_node *n)
{
    tw_value *a = tw_foreign_stored(n, 1), *b = tw_foreign_stored(n, 2);
    if (!a || !b || a->shape.dtype != b->shape.dtype || !tw_quant_equal(&a->quant, &b->quant))
        return tw_tigris_pass(n);
    tw_node *node = tw_build_node(n->b, "Where", (tw_value *[]){n->in[0], a, b}, 3, NULL);
    if (!node)
        return false;
    node->out[0]->quant = a->quant;
    return tw_foreign_result(n, tw_build1(n->b, "Dequantize", node->out[0], NULL));
}

/* --- matrices and windows ----------------------------------------------------------------------- */

static tw_value *times(tw_foreign_node *n, tw_value *x, const char *factor)
{
    const double by = tw_foreign_float(n, factor);
    return by == 1 ? x : tw_build2(n->b, "Mul", x, tw_build_scalar(n->b, TW_F32, by), NULL);
}

/* alpha * a * b + beta * c. Constant b: a layer whose weights are [outputs, inputs]. */
bool tw_tigris_gemm(tw_foreign_node *n)
{
    static const int64_t swap[] = {1, 0};
    tw_builder *b = n->b;
    tw_value *x = n->in[0], *w = n->in[1], *c = n->in_count > 2 ? n->in[2] : NULL;
    const bool transposed = tw_foreign_flag(n, "transB");
    if (!tw_foreign_rank(n, x, 2) || !tw_foreign_rank(n, w, 2))
        return false;
    if (tw_foreign_flag(n, "transA"))
        x = tw_build_transpose(b, x, 2, swap);
    const bool plain =
        tw_foreign_float(n, "alpha") == 1 &&
        (!c || (tw_foreign_float(n, "beta") == 1 && c->shape.rank == 1 && tw_build_is_weight(c) &&
                c->shape.dim[0] == w->shape.dim[transposed ? 0 : 1]));
    if (plain && tw_build_is_weight(w)) {
        tw_value *in[] = {x, transposed ? w : tw_build_weight(b, w, swap, 0, NULL), c};
        return tw_foreign_result(n, tw_build(b, "FullyConnected", in, c ? 3 : 2, NULL));
    }
    tw_value *y = tw_build2(b, "MatMul", x, w, TW_SETTINGS(tw_set_int("transpose_b", transposed)));
    y = times(n, y, "alpha");
    return tw_foreign_result(n, c ? tw_build2(b, "Add", y, times(n, c, "beta"), NULL) : y);
}

bool tw_tigris_conv_1d(tw_foreign_node *n)
{
    return tw_foreign_rank(n, n->in[0], 3) && tw_tigris_pass(n);
}

/* Over all axes between batch and channels. */
static int spatial_axes(const tw_foreign_node *n, int64_t *axes)
{
    const int count = n->in[0]->shape.rank - 2;
    for (int k = 0; k < count; k++)
        axes[k] = k + 1;
    return count;
}

bool tw_tigris_global_pool(tw_foreign_node *n)
{
    int64_t axes[TW_MAX_RANK];
    const int count = spatial_axes(n, axes);
    if (count < 1)
        return TW_FOREIGN_FAIL(n,
                               "the input has rank %d; it needs an axis between batch and "
                               "channels",
                               n->in[0]->shape.rank);
    return tw_foreign_result(n, tw_build1(n->b, tw_foreign_main(n), n->in[0],
                                          TW_SETTINGS(tw_set_ints("axes", count, axes))));
}

/* The root of the mean of squares: padding counts neither as a square nor as a sample. */
bool tw_tigris_l2_pool(tw_foreign_node *n)
{
    tw_value *square = tw_build1(n->b, "Square", n->in[0], NULL);
    tw_value *mean = square ? tw_tigris_node(n, "AveragePool", &square, 1) : NULL;
    return tw_foreign_result(n, tw_build1(n->b, "Sqrt", mean, NULL));
}

/* TensorFlow Lite knows these three, and no scale but the ratio of the extents. */
static bool has_tflite_places(const char *coordinates)
{
    return tw_is_word(coordinates, "half_pixel asymmetric align_corners");
}

bool tw_tigris_resize(tw_foreign_node *n)
{
    const tw_foreign_list size = tw_foreign_ints(n, "size");
    const tw_shape *x = &n->in[0]->shape;
    const bool nearest = strcmp(tw_foreign_main(n), "ResizeNearest") == 0;
    float scale[TW_MAX_RANK];
    const int scales = tw_foreign_floats(n, "scale", scale);
    int axes[TW_MAX_RANK] = {0, 1, 2, 3, 4, 5};
    tw_resizing r;
    tw_resizing_begin(&r, x);
    r.mode = nearest ? "nearest" : "linear";
    r.coordinates = tw_foreign_text(n, "coordinates");
    if (nearest)
        r.rounding = tw_foreign_text(n, "rounding");
    r.tflite = !nearest && size.count > 0 && has_tflite_places(r.coordinates);
    if (!tw_is_word(r.coordinates, TW_RESIZING_COORDINATES))
        return TW_FOREIGN_FAIL(n, "the attribute coordinates is '%.40s'; possible are: %s",
                               r.coordinates, TW_RESIZING_COORDINATES);
    if (!tw_is_word(r.rounding, TW_RESIZING_ROUNDINGS))
        return TW_FOREIGN_FAIL(n, "the attribute rounding is '%.40s'; possible are: %s", r.rounding,
                               TW_RESIZING_ROUNDINGS);
    if ((size.count == 0) == (scales == 0) || size.count + scales != x->rank)
        return TW_FOREIGN_FAIL(n, "one of the attributes size and scale must have %d entries",
                               x->rank);
    for (int k = 0; k < scales; k++)
        if (!tw_resizing_scale(n->b, x, &r, k, scale[k]))
            return false;
    if (size.count && !tw_resizing_sizes(n->b, x, &r, axes, size.count, size.v, "stretch"))
        return false;
    return tw_foreign_result(n, tw_resizing_build(n->b, n->in[0], &r));
}

/* --- normalisation ------------------------------------------------------------------------------ */

static bool normalise(tw_foreign_node *n, int count, const int64_t *axes)
{
    const float epsilon =
        tw_foreign_has(n, "epsilon") ? (float)tw_foreign_float(n, "epsilon") : 1e-5f;
    return tw_foreign_result(n, tw_build(n->b, "Normalize", n->in, n->in_count,
                                         TW_SETTINGS(tw_set_ints("axes", count, axes),
                                                     tw_set_float("epsilon", epsilon))));
}

bool tw_tigris_layer_normalization(tw_foreign_node *n)
{
    const int rank = n->in[0]->shape.rank;
    int64_t axes[TW_MAX_RANK];
    int axis, count = 0;
    if (!tw_foreign_axis(n, "axis", tw_foreign_int(n, "axis"), rank, &axis))
        return false;
    for (int k = axis; k < rank; k++)
        axes[count++] = k;
    return normalise(n, count, axes);
}

bool tw_tigris_instance_normalization(tw_foreign_node *n)
{
    int64_t axes[TW_MAX_RANK];
    const int count = spatial_axes(n, axes);
    return count > 0 ? normalise(n, count, axes)
                     : TW_FOREIGN_FAIL(n,
                                       "the input has rank %d; it needs an axis between batch "
                                       "and channels",
                                       n->in[0]->shape.rank);
}

/* int8 has one result scale, 1/128 with zero point 0, and an operator of its own for it. */
bool tw_tigris_l2_normalization(tw_foreign_node *n)
{
    static const float scale[] = {1.0f / 128};
    static const int32_t zero[] = {0};
    tw_value *x = n->in[0];
    int axis;
    if (!tw_foreign_axis(n, "axis", tw_foreign_int(n, "axis"), x->shape.rank, &axis))
        return false;
    tw_value *stored = tw_foreign_stored(n, 0);
    if (!stored || stored->shape.dtype != TW_S8)
        return tw_foreign_result(n,
                                 tw_build1(n->b, "L2Normalize", x,
                                           TW_SETTINGS(tw_set_ints("axes", 1, (int64_t[]){axis}))));
    tw_node *node =
        tw_build_node(n->b, "UnitNormalize", &stored, 1, TW_SETTINGS(tw_set_int("axis", axis)));
    if (!node)
        return false;
    node->out[0]->quant = (tw_quant){1, 0, scale, zero};
    return tw_foreign_result(n, tw_build1(n->b, "Dequantize", node->out[0], NULL));
}
