/* Col2Im: columns of blocks added up where the blocks lie. Of floats that is a transposed convolution whose
 * weights are one for the tap that an input channel stands for and zero elsewhere; integers are scattered
 * to their places, which adds them up in their own type. */
#include <string.h>

#include "import/onnx/onnx.h"

typedef struct tw_columns {
    int spatial;
    int64_t image[TW_MAX_RANK], block[TW_MAX_RANK], count[TW_MAX_RANK];
    int64_t stride[TW_MAX_RANK], dilation[TW_MAX_RANK], pads[2 * TW_MAX_RANK];
    int64_t added[TW_MAX_RANK]; /* what no block reaches */
    int64_t taps, blocks;
} tw_columns;

static bool read_extents(tw_onnx_node *n, int i, const char *what, int64_t *to, int *count)
{
    tw_onnx_list list;
    if (!tw_onnx_list_in(n, i, what, &list))
        return false;
    if (list.count < 1 || (*count && list.count != *count))
        return TW_ONNX_FAIL(n, "%s has %d entries", what, list.count);
    if (list.count > 3)
        return TW_ONNX_UNSUPPORTED(n, "%d spatial axes; one to three are supported", list.count);
    *count = list.count;
    for (int k = 0; k < list.count; k++) {
        to[k] = list.v[k];
        if (to[k] < 1 || to[k] > 1 << 24)
            return TW_ONNX_FAIL(n, "%s holds %lld", what, (long long)to[k]);
    }
    return true;
}

/* How many blocks lie along each axis. */
static bool count_blocks(tw_onnx_node *n, tw_columns *c)
{
    int s = c->spatial;
    c->taps = c->blocks = 1;
    for (int k = 0; k < s; k++) {
        int64_t reach = (c->block[k] - 1) * c->dilation[k] + 1;
        int64_t room = c->image[k] + c->pads[k] + c->pads[s + k] - reach;
        if (room < 0)
            return TW_ONNX_FAIL(n, "a block reaches over %lld elements, axis %d has %lld",
                                (long long)reach, k, (long long)c->image[k]);
        c->count[k] = room / c->stride[k] + 1;
        c->added[k] = room % c->stride[k];
        c->blocks *= c->count[k];
        c->taps *= c->block[k];
        if (c->blocks > INT32_MAX || c->taps > 1 << 16)
            return TW_ONNX_UNSUPPORTED(n, "blocks of %lld elements, %lld of them",
                                       (long long)c->taps, (long long)c->blocks);
    }
    return true;
}

/* [C, block.., taps]: tap t of an output channel is its input channel t. */
static tw_value *unit_weights(tw_onnx_node *n, const tw_columns *c, int32_t channels)
{
    int32_t dim[TW_MAX_RANK] = {channels};
    for (int k = 0; k < c->spatial; k++)
        dim[1 + k] = (int32_t)c->block[k];
    dim[1 + c->spatial] = (int32_t)c->taps;
    if ((double)channels * (double)c->taps * (double)c->taps * 4 > TW_BUILD_LIMIT) {
        TW_ONNX_UNSUPPORTED(n, "%d channels of blocks of %lld elements", (int)channels,
                            (long long)c->taps);
        return NULL;
    }
    tw_value *w = tw_build_full(n->b, tw_shape_of(TW_F32, c->spatial + 2, dim), 0);
    float *to = w ? (float *)(uintptr_t)w->data : NULL; /* made just now */
    for (int64_t o = 0; w && o < channels; o++)
        for (int64_t t = 0; t < c->taps; t++)
            to[(o * c->taps + t) * c->taps + t] = 1;
    return w;
}

/* With pads that reach behind the last block: the output is cut by what is left of them. */
static tw_value *spread(tw_onnx_node *n, tw_value *x, const tw_columns *c, int32_t channels)
{
    int s = c->spatial;
    int64_t end[TW_MAX_RANK], added[TW_MAX_RANK];
    for (int k = 0; k < s; k++) {
        int64_t less = c->pads[s + k] - c->added[k];
        end[k] = less > 0 ? less : 0;
        added[k] = less < 0 ? -less : 0;
    }
    tw_value *in[] = {tw_build_channels_last(n->b, x), unit_weights(n, c, channels)};
    const tw_setting settings[] = {tw_set_ints("stride", s, c->stride),
                                   tw_set_ints("dilation", s, c->dilation),
                                   tw_set_ints("pad_begin", s, c->pads),
                                   tw_set_ints("pad_end", s, end),
                                   tw_set_ints("output_pad", s, added),
                                   tw_set_int("group", channels),
                                   {.name = NULL}};
    return tw_build_channels_first(
        n->b, tw_build(n->b, s == 3 ? "ConvTranspose3d" : "ConvTranspose", in, 2, settings));
}

/* The place, in the padded image, of tap t of block o. */
static int64_t place(const tw_columns *c, int64_t t, int64_t o)
{
    int64_t at = 0, step = 1;
    for (int k = c->spatial - 1; k >= 0; k--) {
        at += step * (o % c->count[k] * c->stride[k] + t % c->block[k] * c->dilation[k]);
        step *= c->image[k] + c->pads[k] + c->pads[c->spatial + k];
        t /= c->block[k];
        o /= c->count[k];
    }
    return at;
}

/* [N, channels, taps * blocks]: where each element goes. */
static tw_value *places(tw_onnx_node *n, const tw_columns *c, int32_t batch, int32_t channels)
{
    const int32_t dim[] = {batch, channels, (int32_t)(c->taps * c->blocks)};
    tw_value *index = tw_build_full(n->b, tw_shape_of(TW_S64, 3, dim), 0);
    int64_t *to = index ? (int64_t *)(uintptr_t)index->data : NULL; /* made just now */
    for (int64_t i = 0; index && i < (int64_t)batch * channels; i++)
        for (int64_t t = 0; t < c->taps; t++)
            for (int64_t o = 0; o < c->blocks; o++)
                *to++ = place(c, t, o);
    return index;
}

/* x [N, channels * taps, blocks] of integers to the image. */
static tw_value *scatter(tw_onnx_node *n, tw_value *x, const tw_columns *c, int32_t channels)
{
    const int32_t batch = x->shape.dim[0];
    const int64_t parts[] = {batch, channels, c->taps * c->blocks};
    int64_t dim[TW_MAX_RANK] = {batch, channels}, padded = 1;
    for (int k = 0; k < c->spatial; k++) {
        dim[2 + k] = c->image[k] + c->pads[k] + c->pads[c->spatial + k];
        padded = padded > INT32_MAX ? padded : padded * dim[2 + k];
    }
    if ((double)batch * channels * (double)(padded + 8 * parts[2]) > TW_BUILD_LIMIT) {
        TW_ONNX_UNSUPPORTED(n, "an image of %lld places of integers; cast it to FLOAT",
                            (long long)padded);
        return NULL;
    }
    tw_dtype dtype = x->shape.dtype;
    bool truth = dtype == TW_BOOL; /* true where any is */
    x = tw_build_reshape(n->b, truth ? tw_build_cast(n->b, x, TW_S32) : x, 3, parts);
    const int32_t flat[] = {batch, channels, (int32_t)padded};
    tw_value *in[] = {tw_build_full(n->b, tw_shape_of(truth ? TW_S32 : dtype, 3, flat), 0),
                      places(n, c, batch, channels), x};
    tw_value *y =
        in[0] && in[1] && x
            ? tw_build(n->b, "ScatterElements", in, 3,
                       TW_SETTINGS(tw_set_int("axis", 2), tw_set_word("reduction", "add")))
            : NULL;
    y = tw_build_reshape(n->b, y, c->spatial + 2, dim);
    for (int k = 0; y && k < c->spatial; k++)
        y = tw_build_slice(n->b, y, 2 + k, c->pads[k], c->image[k], 1);
    return truth ? tw_build_cast(n->b, y, TW_BOOL) : y;
}

bool tw_onnx_op_col2im(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    tw_columns c = {.spatial = 0};
    int64_t dim[TW_MAX_RANK];
    if (!read_extents(n, 1, "the image's shape", c.image, &c.spatial) ||
        !read_extents(n, 2, "the block's shape", c.block, &c.spatial) ||
        !tw_onnx_read_list(n, "strides", c.spatial, 1, 1, c.stride) ||
        !tw_onnx_read_list(n, "dilations", c.spatial, 1, 1, c.dilation) ||
        !tw_onnx_read_list(n, "pads", 2 * c.spatial, 0, 0, c.pads) || !count_blocks(n, &c))
        return false;
    if (x->rank != 3 || x->dim[1] % c.taps != 0 || x->dim[1] < 1 || x->dim[2] != c.blocks)
        return TW_ONNX_FAIL(n,
                            "the input must be a batch of %lld columns (it has %d) whose length "
                            "divides by %lld",
                            (long long)c.blocks, x->rank == 3 ? (int)x->dim[2] : 0,
                            (long long)c.taps);
    int32_t channels = (int32_t)(x->dim[1] / c.taps);
    if (x->dtype != TW_F32)
        return tw_onnx_bind(n, 0, scatter(n, n->in[0], &c, channels));
    dim[0] = x->dim[0];
    dim[1] = x->dim[1];
    memcpy(dim + 2, c.count, sizeof *dim * (size_t)c.spatial);
    tw_value *columns = tw_build_reshape(n->b, n->in[0], c.spatial + 2, dim);
    return columns && tw_onnx_bind(n, 0, spread(n, columns, &c, channels));
}
