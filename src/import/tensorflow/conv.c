/* Convolutions, pools, and what goes by channel. Weights are [kernel.., inputs, outputs] in the file. */
#include <string.h>

#include "import/resize.h"
#include "import/tensorflow/tensorflow.h"
#include "import/window.h"

/* One attribute of the list: channels are its last or its second entry. */
static bool spatial(tw_tf_node *n, const char *name, int rank, bool first, int64_t *out)
{
    tw_tf_ints list = tw_tf_ints_of(n, name);
    for (int i = 0; i < rank; i++)
        out[i] = 1;
    if (list.count < 0)
        return n->b->diag->code == TW_CODE_OK;
    if (list.count != rank + 2)
        return TW_TF_FAIL(n, "%s has %d entries, not %d", name, list.count, rank + 2);
    for (int i = 0; i < rank; i++)
        out[i] = list.v[first ? i + 2 : i + 1];
    return (list.v[0] == 1 && list.v[first ? 1 : rank + 1] == 1) ||
           TW_TF_UNSUPPORTED(n, "%s along batches or channels", name);
}

/* Pads by the attribute `padding`; the window's kernel, strides and dilations are set. x: channels last. */
static bool pads(tw_tf_node *n, const tw_value *x, int rank, bool first, tw_window *w)
{
    const char *padding = tw_tf_text(n, "padding", "VALID");
    const bool same = strcmp(padding, "SAME") == 0;
    if (x->shape.rank != rank + 2)
        return TW_TF_FAIL(n, "the input has rank %d, not %d", x->shape.rank, rank + 2);
    for (int i = 0; i < rank; i++)
        if (!tw_window_pads(n->b, n->op, x->shape.dim[1 + i], same, w, i))
            return false;
    if (same || strcmp(padding, "VALID") == 0)
        return true;
    tw_tf_ints list = tw_tf_ints_of(n, "explicit_paddings");
    if (strcmp(padding, "EXPLICIT") != 0 || list.count != 2 * (rank + 2))
        return TW_TF_UNSUPPORTED(n, "padding %s with %d explicit paddings is not supported",
                                 padding, list.count);
    for (int i = 0; i < rank; i++) {
        w->begin[i] = list.v[2 * (first ? i + 2 : i + 1)];
        w->end[i] = list.v[2 * (first ? i + 2 : i + 1) + 1];
    }
    return true;
}

/* The window's settings; two more may follow. */
static void window_settings(const tw_window *w, int rank, tw_setting *settings)
{
    settings[0] = tw_set_ints("stride", rank, w->stride);
    settings[1] = tw_set_ints("pad_begin", rank, w->begin);
    settings[2] = tw_set_ints("pad_end", rank, w->end);
    settings[3] = tw_set_ints("dilation", rank, w->dilation);
    settings[4].name = settings[5].name = NULL;
}

/* --- convolutions ------------------------------------------------------------------------------ */

/* Input and weights of a convolution over `rank` axes, and its strides and dilations. */
typedef struct tw_conv {
    int rank;
    bool first; /* channels are the second axis in the file */
    tw_value *x, *w;
    tw_window window;
} tw_conv;

static bool read_steps(tw_tf_node *n, tw_conv *c)
{
    for (int i = 0; i < c->rank; i++)
        c->window.kernel[i] = c->w->shape.dim[i];
    return spatial(n, "strides", c->rank, c->first, c->window.stride) &&
           spatial(n, "dilations", c->rank, c->first, c->window.dilation);
}

static bool read_conv(tw_tf_node *n, int rank, tw_conv *c)
{
    *c = (tw_conv){.rank = rank, .x = tw_tf_in(n, 0), .w = tw_tf_in(n, 1)};
    if (!c->x || !c->w || !tw_tf_channels_first(n, &c->first))
        return false;
    if (c->x->shape.rank != rank + 2 || c->w->shape.rank != rank + 2)
        return TW_TF_FAIL(n, "input and weights have rank %d and %d, not %d", c->x->shape.rank,
                          c->w->shape.rank, rank + 2);
    c->x = tw_tf_to_last(n, c->x, c->first);
    return c->x && read_steps(n, c) && pads(n, c->x, rank, c->first, &c->window);
}

static bool conv(tw_tf_node *n, const char *op, int rank)
{
    static const int64_t outputs_first[2][5] = {{3, 0, 1, 2}, {4, 0, 1, 2, 3}};
    tw_setting settings[7];
    tw_conv c;
    if (!read_conv(n, rank, &c))
        return false;
    int32_t depth = c.w->shape.dim[rank], channels = c.x->shape.dim[rank + 1];
    if (depth < 1 || channels % depth != 0)
        return TW_TF_FAIL(n, "weights for %d channels do not divide the input's %d", (int)depth,
                          (int)channels);
    window_settings(&c.window, rank, settings);
    settings[4] = tw_set_int("group", channels / depth);
    settings[5].name = NULL;
    tw_value *in[] = {c.x, tw_build_weight(n->b, c.w, outputs_first[rank - 2], rank + 2, NULL)};
    tw_value *y = in[1] ? tw_build(n->b, op, in, 2, settings) : NULL;
    return tw_tf_set(n, 0, tw_tf_from_last(n, y, c.first));
}

bool tw_tf_op_conv_2d(tw_tf_node *n)
{
    return conv(n, "Conv", 2);
}

bool tw_tf_op_conv_3d(tw_tf_node *n)
{
    return conv(n, "Conv3d", 3);
}

/* Weights [h, w, channels, multiplier]: the multiplier's results of a channel lie beside each other. */
bool tw_tf_op_depthwise_conv_2d(tw_tf_node *n)
{
    static const int64_t as_it_is[] = {0, 1, 2, 3};
    tw_setting settings[6];
    tw_conv c;
    if (!read_conv(n, 2, &c))
        return false;
    const int32_t *w = c.w->shape.dim;
    if (w[2] != c.x->shape.dim[3])
        return TW_TF_FAIL(n, "weights for %d channels, the input has %d", (int)w[2],
                          (int)c.x->shape.dim[3]);
    const int64_t dim[] = {w[0], w[1], (int64_t)w[2] * w[3]};
    window_settings(&c.window, 2, settings);
    tw_value *in[] = {c.x, tw_build_weight(n->b, c.w, as_it_is, 3, dim)};
    tw_value *y = in[1] ? tw_build(n->b, "DepthwiseConv", in, 2, settings) : NULL;
    return tw_tf_set(n, 0, tw_tf_from_last(n, y, c.first));
}

/* The gradient of a convolution is a transposed one: result's shape, weights [kernel.., results, inputs],
 * input. */
static bool transposed(tw_tf_node *n, const char *op, int rank)
{
    static const int64_t results_first[2][5] = {{2, 0, 1, 3}, {3, 0, 1, 2, 4}};
    tw_conv c = {.rank = rank, .x = tw_tf_in(n, 2), .w = tw_tf_in(n, 1)};
    tw_setting settings[7];
    tw_tf_ints extents;
    int64_t added[3];
    if (!c.x || !c.w || !tw_tf_channels_first(n, &c.first) ||
        !tw_tf_extents_in(n, 0, false, &extents))
        return false;
    if (c.x->shape.rank != rank + 2 || c.w->shape.rank != rank + 2 || extents.count != rank + 2)
        return TW_TF_FAIL(n, "input, weights and result have rank %d, %d and %d, not %d",
                          c.x->shape.rank, c.w->shape.rank, extents.count, rank + 2);
    const char *padding = tw_tf_text(n, "padding", "VALID");
    const bool same = strcmp(padding, "SAME") == 0;
    if (!same && strcmp(padding, "VALID") != 0)
        return TW_TF_UNSUPPORTED(n, "padding %s is not supported", padding);
    c.x = tw_tf_to_last(n, c.x, c.first);
    if (!c.x || !read_steps(n, &c))
        return false;
    for (int i = 0; i < rank; i++)
        if (!tw_window_transposed(n->b, n->op, c.x->shape.dim[1 + i],
                                  extents.v[c.first ? i + 2 : i + 1], same, &c.window, &added[i],
                                  i))
            return false;
    window_settings(&c.window, rank, settings);
    settings[4] = tw_set_ints("output_pad", rank, added);
    settings[5].name = NULL;
    tw_value *in[] = {c.x, tw_build_weight(n->b, c.w, results_first[rank - 2], rank + 2, NULL)};
    tw_value *y = in[1] ? tw_build(n->b, op, in, 2, settings) : NULL;
    return tw_tf_set(n, 0, tw_tf_from_last(n, y, c.first));
}

bool tw_tf_op_conv_2d_transpose(tw_tf_node *n)
{
    return transposed(n, "ConvTranspose", 2);
}

bool tw_tf_op_conv_3d_transpose(tw_tf_node *n)
{
    return transposed(n, "ConvTranspose3d", 3);
}

/* --- pools ------------------------------------------------------------------------------------- */

/* Kernel and strides: attributes, or the second and the third input. */
static bool pool_steps(tw_tf_node *n, int rank, bool first, tw_window *w)
{
    if (n->in_count < 3)
        return spatial(n, "ksize", rank, first, w->kernel) &&
               spatial(n, "strides", rank, first, w->stride);
    for (int k = 0; k < 2; k++) {
        tw_tf_ints list;
        int64_t *to = k ? w->stride : w->kernel;
        if (!tw_tf_list_in(n, 1 + k, k ? "the strides" : "the window", &list))
            return false;
        if (list.count != rank + 2)
            return TW_TF_FAIL(n, "input %d has %d entries, not %d", 1 + k, list.count, rank + 2);
        for (int i = 0; i < rank; i++)
            to[i] = list.v[first ? i + 2 : i + 1];
        if (list.v[0] != 1 || list.v[first ? 1 : rank + 1] != 1)
            return TW_TF_UNSUPPORTED(n, "windows along batches or channels");
    }
    return true;
}

/* The row names the one IR operator that it is. */
bool tw_tf_op_pool(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_window window = {.dilation = {1, 1, 1}};
    bool first;
    if (!x || !tw_tf_channels_first(n, &first))
        return false;
    const int rank = x->shape.rank - 2;
    if (rank != 2 && rank != 3)
        return TW_TF_UNSUPPORTED(n, "an input of rank %d; 4 and 5 are supported", x->shape.rank);
    x = tw_tf_to_last(n, x, first);
    if (!x || !pool_steps(n, rank, first, &window) || !pads(n, x, rank, first, &window))
        return false;
    return tw_tf_set(
        n, 0, tw_tf_from_last(n, tw_build_pool(n->b, n->row->becomes, x, rank, &window), first));
}

/* --- by channel -------------------------------------------------------------------------------- */

bool tw_tf_op_bias_add(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *bias = tw_tf_in(n, 1);
    bool first;
    if (!x || !bias || !tw_tf_channels_first(n, &first))
        return false;
    if (bias->shape.rank != 1 || x->shape.rank < 2)
        return TW_TF_FAIL(n, "an input of rank %d and a bias of rank %d", x->shape.rank,
                          bias->shape.rank);
    tw_value *y = tw_build2(n->b, "Add", tw_tf_to_last(n, x, first), bias, NULL);
    return tw_tf_set(n, 0, tw_tf_from_last(n, y, first));
}

/* With the statistics of the tensor itself, which TensorFlow calls training: layer normalisation is made
 * of it. */
static tw_value *normalise(tw_tf_node *n, tw_value *const *in, float epsilon)
{
    int64_t axes[TW_MAX_RANK];
    const int count = in[0]->shape.rank - 1;
    for (int i = 0; i < count; i++)
        axes[i] = i;
    return tw_build(
        n->b, "Normalize", in, 3,
        TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_float("epsilon", epsilon)));
}

bool tw_tf_op_fused_batch_norm(tw_tf_node *n)
{
    tw_value *in[5] = {NULL};
    bool first;
    const Tw__Tf__Attribute *training = tw_tf_attribute(n, "is_training");
    const bool own = !training || !training->has_b || training->b;
    const float epsilon = tw_tf_float(n, "epsilon", 1e-4f);
    if (!tw_tf_channels_first(n, &first))
        return false;
    for (int i = 0; i < (own ? 3 : 5); i++) {
        in[i] = tw_tf_in(n, i);
        if (!in[i])
            return false;
    }
    in[0] = tw_tf_to_last(n, in[0], first);
    if (!in[0])
        return false;
    tw_value *y =
        own ? normalise(n, in, epsilon)
            : tw_build(n->b, "BatchNorm", in, 5, TW_SETTINGS(tw_set_float("epsilon", epsilon)));
    return tw_tf_set(n, 0, tw_tf_from_last(n, y, first));
}

bool tw_tf_op_lrn(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t radius = tw_tf_int(n, "depth_radius", 5);
    float bias = tw_tf_float(n, "bias", 1), alpha = tw_tf_float(n, "alpha", 1);
    float beta = tw_tf_float(n, "beta", 0.5f);
    if (radius < 0 || radius >= 1 << 30)
        return TW_TF_FAIL(n, "a radius of %lld", (long long)radius);
    return x &&
           tw_tf_set(n, 0,
                     tw_build1(n->b, "Lrn", x,
                               TW_SETTINGS(tw_set_int("size", 2 * radius + 1),
                                           tw_set_float("alpha", alpha), tw_set_float("beta", beta),
                                           tw_set_float("bias", bias))));
}

/* --- images ------------------------------------------------------------------------------------ */

static bool blocks(tw_tf_node *n, const char *op)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t block = tw_tf_int(n, "block_size", 0);
    bool first;
    if (!x || !tw_tf_channels_first(n, &first))
        return false;
    tw_value *y =
        tw_build1(n->b, op, tw_tf_to_last(n, x, first), TW_SETTINGS(tw_set_int("block", block)));
    return tw_tf_set(n, 0, tw_tf_from_last(n, y, first));
}

bool tw_tf_op_depth_to_space(tw_tf_node *n)
{
    return blocks(n, "DepthToSpace");
}

bool tw_tf_op_space_to_depth(tw_tf_node *n)
{
    return blocks(n, "SpaceToDepth");
}

static bool resize(tw_tf_node *n, bool nearest)
{
    tw_value *x = tw_tf_in(n, 0);
    bool corners = tw_tf_flag(n, "align_corners"), half = tw_tf_flag(n, "half_pixel_centers");
    tw_tf_ints size;
    if (!x || !tw_tf_list_in(n, 1, "the size", &size))
        return false;
    if (x->shape.rank != 4 || size.count != 2)
        return TW_TF_FAIL(n, "the input has rank %d and the size %d elements", x->shape.rank,
                          size.count);
    if (corners && half)
        return TW_TF_FAIL(n, "align_corners and half_pixel_centers exclude each other");
    const int64_t dim[4] = {x->shape.dim[0], size.v[0], size.v[1], x->shape.dim[3]};
    const char *coordinates = corners   ? "align_corners"
                              : !half   ? "asymmetric"
                              : nearest ? "tf_half_pixel_for_nn"
                                        : "half_pixel";
    const tw_setting settings[] = {tw_set_ints("size", 4, dim),
                                   tw_set_word("mode", nearest ? "nearest" : "linear"),
                                   tw_set_word("coordinates", coordinates),
                                   tw_set_word("rounding", "floor"),
                                   tw_set_int("tflite", 1),
                                   {.name = NULL}};
    x = tw_build_cast(n->b, x, nearest ? x->shape.dtype : TW_F32);
    return tw_tf_set(n, 0, tw_build1(n->b, nearest ? "ResizeNearest" : "Resize", x, settings));
}

bool tw_tf_op_resize_bilinear(tw_tf_node *n)
{
    return resize(n, false);
}

bool tw_tf_op_resize_nearest(tw_tf_node *n)
{
    return resize(n, true);
}

/* Keys' cubic, whose weights TensorFlow takes from a table of 1,024; here they are exact. */
bool tw_tf_op_resize_bicubic(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    const bool corners = tw_tf_flag(n, "align_corners"), half = tw_tf_flag(n, "half_pixel_centers");
    static const int axes[] = {1, 2};
    tw_tf_ints size;
    tw_resizing r;
    if (!x || !tw_tf_list_in(n, 1, "the size", &size))
        return false;
    if (x->shape.rank != 4 || size.count != 2)
        return TW_TF_FAIL(n, "the input has rank %d and the size %d elements", x->shape.rank,
                          size.count);
    tw_resizing_begin(&r, &x->shape);
    r.mode = "cubic";
    r.coordinates = corners ? "align_corners" : half ? "half_pixel" : "asymmetric";
    r.cubic = half ? -0.5f : -0.75f;
    r.exclude_outside = half;
    if (!tw_resizing_sizes(n->b, &x->shape, &r, axes, 2, size.v, "stretch"))
        return false;
    return tw_tf_set(n, 0, tw_resizing_build(n->b, tw_build_cast(n->b, x, TW_F32), &r));
}
