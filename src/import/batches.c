/* Blocks to batches: each axis with blocks becomes two, and those of the blocks go in front of the batch. */
#include "import/batches.h"

#define FAIL(b, op, ...) tw_fail((b)->diag, TW_CODE_FAILED, (b)->node, op, __VA_ARGS__)

/* What goes around by axis of the tensor, and the blocks of all axes together. */
typedef struct tw_block_plan {
    const tw_batches *batches;
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    int64_t blocks;
} block_plan;

static bool read_plan(tw_builder *b, const char *op, const tw_value *x, const tw_batches *batches,
                      block_plan *p)
{
    const int count = batches->count;
    const tw_shape *around = &batches->around->shape;
    *p = (block_plan){.batches = batches, .blocks = 1};
    if (count < 1 || count > x->shape.rank - 1 || x->shape.rank + count > TW_MAX_RANK)
        return tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, op,
                       "blocks on %d axes of a tensor of rank %d", count, x->shape.rank);
    if (around->rank != 2 || around->dim[0] != count || around->dim[1] != 2 ||
        (around->dtype != TW_S32 && around->dtype != TW_S64))
        return FAIL(b, op, "pads and crops must be integers of shape [%d,2]", count);
    for (int i = 0; i < count; i++) {
        const int64_t block = batches->block[i];
        const int64_t before = tw_build_int_at(batches->around, 2 * (int64_t)i);
        const int64_t after = tw_build_int_at(batches->around, 2 * (int64_t)i + 1);
        if (block < 1 || block > INT32_MAX || before < 0 || after < 0 || before > INT32_MAX ||
            after > INT32_MAX)
            return FAIL(b, op, "axis %d has blocks of %lld, %lld before and %lld behind", 1 + i,
                        (long long)block, (long long)before, (long long)after);
        p->before[1 + i] = before;
        p->after[1 + i] = after;
        p->blocks *= block;
        if (p->blocks > INT32_MAX)
            return FAIL(b, op, "the blocks are too large");
    }
    return true;
}

/* The block of an axis of the tensor; 0: it has none. */
static int64_t block_of(const block_plan *p, int axis)
{
    return axis > 0 && axis <= p->batches->count ? p->batches->block[axis - 1] : 0;
}

tw_value *tw_build_space_to_batch(tw_builder *b, const char *op, tw_value *x,
                                  const tw_batches *batches)
{
    int64_t dim[2 * TW_MAX_RANK], perm[2 * TW_MAX_RANK], result[TW_MAX_RANK] = {0};
    block_plan p;
    int at = 0;
    if (!x || !read_plan(b, op, x, batches, &p))
        return NULL;
    const int rank = x->shape.rank, count = batches->count;
    x = tw_build1(
        b, "Pad", x,
        TW_SETTINGS(tw_set_ints("before", rank, p.before), tw_set_ints("after", rank, p.after)));
    for (int i = 0; x && i < rank; i++) {
        const int64_t block = block_of(&p, i), extent = x->shape.dim[i];
        if (block && extent % block != 0) {
            FAIL(b, op, "axis %d has %lld elements padded, which do not divide by %lld", i,
                 (long long)extent, (long long)block);
            return NULL;
        }
        result[i] = i == 0 ? extent * p.blocks : block ? extent / block : extent;
        perm[i + count] = at;
        dim[at++] = block ? extent / block : extent;
        if (block) {
            perm[i - 1] = at;
            dim[at++] = block;
        }
    }
    x = tw_build_transpose(b, tw_build_reshape(b, x, at, dim), at, perm);
    return tw_build_reshape(b, x, rank, result);
}

/* Without what is cut off. extent: of the axes as they are. */
static tw_value *crop(tw_builder *b, const char *op, tw_value *x, const block_plan *p,
                      const int64_t *extent)
{
    for (int i = 1; x && i <= p->batches->count; i++) {
        const int64_t left = extent[i] - p->before[i] - p->after[i];
        if (left < 0) {
            FAIL(b, op, "axis %d has %lld elements, fewer than are cut off", i,
                 (long long)extent[i]);
            return NULL;
        }
        if (left < extent[i])
            x = tw_build_slice(b, x, i, p->before[i], left, 1);
    }
    return x;
}

tw_value *tw_build_batch_to_space(tw_builder *b, const char *op, tw_value *x,
                                  const tw_batches *batches)
{
    int64_t dim[2 * TW_MAX_RANK], perm[2 * TW_MAX_RANK], result[TW_MAX_RANK] = {0};
    block_plan p;
    int at = 0;
    if (!x || !read_plan(b, op, x, batches, &p))
        return NULL;
    const int rank = x->shape.rank, count = batches->count;
    if (x->shape.dim[0] % p.blocks != 0) {
        FAIL(b, op, "a batch of %d does not divide by %lld", (int)x->shape.dim[0],
             (long long)p.blocks);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        dim[i] = batches->block[i];
    for (int i = 0; i < rank; i++) {
        const int64_t block = block_of(&p, i);
        dim[count + i] = i == 0 ? x->shape.dim[0] / p.blocks : x->shape.dim[i];
        result[i] = block ? dim[count + i] * block : dim[count + i];
        perm[at++] = count + i;
        if (block)
            perm[at++] = i - 1;
    }
    x = tw_build_transpose(b, tw_build_reshape(b, x, at, dim), at, perm);
    return crop(b, op, tw_build_reshape(b, x, rank, result), &p, result);
}
