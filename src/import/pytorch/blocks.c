/* Images as columns of blocks, and back: what nn.Unfold and nn.Fold are. */
#include "import/pytorch/torch.h"

typedef struct tw_torch_blocks {
    int64_t image[2], kernel[2], dilation[2], pad[2], stride[2];
    int64_t padded[2], count[2]; /* extents with pads; blocks along each */
    int64_t taps, blocks;
} tw_torch_blocks;

enum { BLOCK_LIMIT = 1 << 24 };

static bool read_pair(tw_torch_call *c, int i, int64_t least, int64_t *to)
{
    if (!tw_torch_ints(c, i, 2, to))
        return false;
    for (int k = 0; k < 2; k++)
        if (to[k] < least || to[k] > BLOCK_LIMIT)
            return TW_TORCH_FAIL(c, "argument %d holds %lld; values from %lld to %d are possible",
                                 i, (long long)to[k], (long long)least, BLOCK_LIMIT);
    return true;
}

/* Kernel, dilation, padding and stride are the arguments from i on; the image is there. */
static bool read_blocks(tw_torch_call *c, int i, tw_torch_blocks *b)
{
    if (!read_pair(c, i, 1, b->kernel) || !read_pair(c, i + 1, 1, b->dilation) ||
        !read_pair(c, i + 2, 0, b->pad) || !read_pair(c, i + 3, 1, b->stride))
        return false;
    for (int k = 0; k < 2; k++) {
        b->padded[k] = b->image[k] + 2 * b->pad[k];
        const int64_t room = b->padded[k] - (b->kernel[k] - 1) * b->dilation[k] - 1;
        if (room < 0)
            return TW_TORCH_FAIL(c, "a block is larger than the %lld elements",
                                 (long long)b->padded[k]);
        b->count[k] = room / b->stride[k] + 1;
    }
    b->taps = b->kernel[0] * b->kernel[1];
    b->blocks = b->count[0] * b->count[1];
    return b->taps <= TW_BUILD_LIMIT / 8 / b->blocks ||
           TW_TORCH_UNSUPPORTED(c, "%lld blocks of %lld elements", (long long)b->blocks,
                                (long long)b->taps);
}

/* [taps * blocks]: the place of each element in the padded image. */
static tw_value *places(tw_torch_call *c, const tw_torch_blocks *b)
{
    int64_t *at = tw_alloc_array(c->t->scratch, (size_t)(b->taps * b->blocks), sizeof *at);
    for (int64_t i = 0; i < b->taps * b->blocks; i++) {
        const int64_t tap = i / b->blocks, block = i % b->blocks;
        const int64_t row =
            block / b->count[1] * b->stride[0] + tap / b->kernel[1] * b->dilation[0];
        const int64_t column =
            block % b->count[1] * b->stride[1] + tap % b->kernel[1] * b->dilation[1];
        at[i] = row * b->padded[1] + column;
    }
    return tw_build_list(c->b, (int)(b->taps * b->blocks), at);
}

/* With a batch of one where there is none; rank: with it. */
static tw_value *with_batch(tw_torch_call *c, tw_value *x, int rank, bool *added)
{
    *added = x && x->shape.rank == rank - 1;
    if (x && !*added && x->shape.rank != rank) {
        TW_TORCH_FAIL(c, "the input has rank %d; %d or %d is needed", x->shape.rank, rank - 1,
                      rank);
        return NULL;
    }
    return *added ? tw_torch_with_axis(c, x, 0) : x;
}

static bool give(tw_torch_call *c, tw_value *y, bool added)
{
    return tw_torch_give(c, added ? tw_torch_without_axis(c, y, 0) : y);
}

/* (x, kernel, dilation, padding, stride) */
bool tw_torch_op_im2col(tw_torch_call *c)
{
    bool added;
    tw_value *x = with_batch(c, tw_torch_real_in(c, 0), 4, &added);
    tw_torch_blocks b;
    if (!x)
        return false;
    const int64_t batch = x->shape.dim[0], channels = x->shape.dim[1];
    for (int k = 0; k < 2; k++)
        b.image[k] = x->shape.dim[2 + k];
    if (!read_blocks(c, 1, &b))
        return false;
    const int64_t pads[] = {0, 0, b.pad[0], b.pad[1]};
    const int64_t flat[] = {batch, channels, b.padded[0] * b.padded[1]};
    const int64_t columns[] = {batch, channels * b.taps, b.blocks};
    if (b.pad[0] || b.pad[1])
        x = tw_build1(c->b, "Pad", x,
                      TW_SETTINGS(tw_set_ints("before", 4, pads), tw_set_ints("after", 4, pads),
                                  tw_set_word("mode", "constant")));
    x = tw_build_reshape(c->b, x, 3, flat);
    tw_value *y = x ? tw_build_gather(c->b, x, places(c, &b), 2, 0) : NULL;
    return y && give(c, tw_build_reshape(c->b, y, 3, columns), added);
}

/* (x, output_size, kernel, dilation, padding, stride): added up where blocks overlap */
bool tw_torch_op_col2im(tw_torch_call *c)
{
    bool added;
    tw_value *x = with_batch(c, tw_torch_real_in(c, 0), 3, &added);
    tw_torch_blocks b;
    if (!x || !read_pair(c, 1, 1, b.image) || !read_blocks(c, 2, &b))
        return false;
    if (x->shape.dim[1] % b.taps != 0 || x->shape.dim[2] != b.blocks)
        return TW_TORCH_FAIL(c, "columns of %lld elements, %lld of them, are needed",
                             (long long)b.taps, (long long)b.blocks);
    const int64_t batch = x->shape.dim[0], channels = x->shape.dim[1] / b.taps;
    const int64_t all = b.padded[0] * b.padded[1], count = b.taps * b.blocks;
    const int64_t dim[] = {batch, channels, count}, tuples[] = {count, 1};
    const int64_t image[] = {batch, channels, b.padded[0], b.padded[1]};
    static const int64_t front[] = {2, 0, 1}, behind[] = {1, 2, 0};
    const int64_t extents[] = {all, batch, channels};
    tw_shape shape;
    x = tw_build_transpose(c->b, tw_build_reshape(c->b, x, 3, dim), 3, front);
    if (!x || !tw_torch_shape(c->t, TW_F32, 3, extents, &shape))
        return false;
    tw_value *in[] = {tw_build_full(c->b, shape, 0),
                      tw_build_reshape(c->b, places(c, &b), 2, tuples), x};
    if (!in[0] || !in[1])
        return false;
    tw_value *y = tw_build(c->b, "ScatterND", in, 3, TW_SETTINGS(tw_set_word("reduction", "add")));
    y = tw_build_reshape(c->b, tw_build_transpose(c->b, y, 3, behind), 4, image);
    for (int k = 0; k < 2; k++)
        if (b.pad[k])
            y = tw_build_slice(c->b, y, 2 + k, b.pad[k], b.image[k], 1);
    return y && give(c, y, added);
}
