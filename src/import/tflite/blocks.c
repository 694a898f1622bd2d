/* Blocks of pixels to channels or batches, and back. */
#include "import/tflite/tflite.h"

static bool blocks(tw_tfl_node *n, const char *op, int32_t block)
{
    tw_value *x = tw_tfl_in(n, 0);
    return x && tw_tfl_set(n, 0, tw_build1(n->b, op, x, TW_SETTINGS(tw_set_int("block", block))));
}

bool tw_tfl_op_space_to_depth(tw_tfl_node *n)
{
    return blocks(n, "SpaceToDepth", tw_tfl_int(n, TW_FIELD(SpaceToDepth, block_size), 0));
}

bool tw_tfl_op_depth_to_space(tw_tfl_node *n)
{
    return blocks(n, "DepthToSpace", tw_tfl_int(n, TW_FIELD(DepthToSpace, block_size), 0));
}

/* Blocks by spatial axis, and what is padded or cut off on each. */
typedef struct tw_batches {
    tw_tfl_list block;
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    int64_t size; /* blocks of all axes together */
} tw_batches;

static bool read_batches(tw_tfl_node *n, const tw_value *x, const char *what, tw_batches *b)
{
    *b = (tw_batches){.size = 1};
    if (!tw_tfl_list_in(n, 1, "the blocks", &b->block) || !tw_tfl_known(n, 2, what))
        return false;
    const tw_value *pads = tw_tfl_in(n, 2);
    int count = b->block.count;
    if (count < 1 || count > x->shape.rank - 1 || x->shape.rank + count > TW_MAX_RANK)
        return TW_TFL_UNSUPPORTED(n, "blocks on %d axes of a tensor of rank %d", count,
                                  x->shape.rank);
    if (pads->shape.rank != 2 || pads->shape.dim[0] != count || pads->shape.dim[1] != 2)
        return TW_TFL_FAIL(n, "%s must have shape [%d,2]", what, count);
    for (int i = 0; i < count; i++) {
        b->before[1 + i] = tw_build_int_at(pads, 2 * i);
        b->after[1 + i] = tw_build_int_at(pads, 2 * i + 1);
        if (b->block.v[i] < 1 || b->block.v[i] > INT32_MAX || b->before[1 + i] < 0 ||
            b->after[1 + i] < 0)
            return TW_TFL_FAIL(n, "axis %d has blocks of %lld and %lld, %lld of %s", 1 + i,
                               (long long)b->block.v[i], (long long)b->before[1 + i],
                               (long long)b->after[1 + i], what);
        b->size *= b->block.v[i];
        if (b->size > INT32_MAX)
            return TW_TFL_FAIL(n, "the blocks are too large");
    }
    return true;
}

/* [N, S.., rest..] to [blocks, N, S / block.., rest..]. */
bool tw_tfl_op_space_to_batch_nd(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_batches b;
    int64_t dim[2 * TW_MAX_RANK], perm[TW_MAX_RANK];
    if (!x || !read_batches(n, x, "the paddings", &b))
        return false;
    int rank = x->shape.rank, count = b.block.count, at = 0;
    x = tw_build1(
        n->b, "Pad", x,
        TW_SETTINGS(tw_set_ints("before", rank, b.before), tw_set_ints("after", rank, b.after)));
    if (!x)
        return false;
    for (int i = 0; i < rank; i++) { /* each blocked axis as two */
        bool blocked = i > 0 && i <= count;
        if (blocked && x->shape.dim[i] % b.block.v[i - 1] != 0)
            return TW_TFL_FAIL(n, "axis %d has %d elements padded, which do not divide by %lld", i,
                               (int)x->shape.dim[i], (long long)b.block.v[i - 1]);
        perm[i + count] = at;
        dim[at++] = blocked ? x->shape.dim[i] / b.block.v[i - 1] : x->shape.dim[i];
        if (blocked) {
            perm[i - 1] = at;
            dim[at++] = b.block.v[i - 1];
        }
    }
    int64_t result[TW_MAX_RANK];
    for (int i = 0; i < rank; i++)
        result[i] = i == 0       ? x->shape.dim[0] * b.size
                    : i <= count ? x->shape.dim[i] / b.block.v[i - 1]
                                 : x->shape.dim[i];
    x = tw_build_reshape(n->b, x, at, dim);
    x = tw_build_transpose(n->b, x, at, perm);
    return tw_tfl_set(n, 0, tw_build_reshape(n->b, x, rank, result));
}

/* [blocks, N, S.., rest..] to [N, S * block.., rest..], cropped. */
bool tw_tfl_op_batch_to_space_nd(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_batches b;
    int64_t dim[2 * TW_MAX_RANK], perm[TW_MAX_RANK], result[TW_MAX_RANK] = {0};
    if (!x || !read_batches(n, x, "the crops", &b))
        return false;
    int rank = x->shape.rank, count = b.block.count, at = 0;
    if (x->shape.dim[0] % b.size != 0)
        return TW_TFL_FAIL(n, "a batch of %d does not divide by %lld", (int)x->shape.dim[0],
                           (long long)b.size);
    for (int i = 0; i < count; i++)
        dim[i] = b.block.v[i];
    for (int i = 0; i < rank; i++) {
        bool blocked = i > 0 && i <= count;
        dim[count + i] = i == 0 ? x->shape.dim[0] / b.size : x->shape.dim[i];
        result[i] = blocked ? dim[count + i] * b.block.v[i - 1] : dim[count + i];
        perm[at++] = count + i;
        if (blocked)
            perm[at++] = i - 1;
    }
    x = tw_build_reshape(n->b, x, at, dim);
    x = tw_build_transpose(n->b, x, at, perm);
    x = tw_build_reshape(n->b, x, rank, result);
    for (int i = 1; x && i <= count; i++) {
        int64_t left = result[i] - b.before[i] - b.after[i];
        if (left < 0)
            return TW_TFL_FAIL(n, "axis %d has %lld elements, fewer than are cut off", i,
                               (long long)result[i]);
        if (left < result[i])
            x = tw_build_slice(n->b, x, i, b.before[i], left, 1);
    }
    return tw_tfl_set(n, 0, x);
}
