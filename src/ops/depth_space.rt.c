/* DepthToSpace and SpaceToDepth: kernels. In: x. Out: the band, a pixel's channels at a time. */
#include "ops/depth_space.h"

#include "ops/codes.h"
#include "ops/product.h"
#include "runtime/move.h"

/* The larger image is `fine`, the smaller one `coarse`; steps in elements. */
typedef struct tw_blocks {
    int32_t block, channels; /* of the fine image */
    int32_t block_step, channel_step;
    uint32_t bytes;
    tw_image in, out;
    const char *from;
    char *to;
} tw_blocks;

static void copy(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, int32_t count,
                 uint32_t bytes)
{
    int32_t i;
    if (count <= 0)
        return;
    if (to_step == 1 && from_step == 1) {
        memmove(to, from, (size_t)count * bytes);
        return;
    }
    for (i = 0; i < count; i++)
        memmove(to + i * to_step * (ptrdiff_t)bytes, from + i * from_step * (ptrdiff_t)bytes,
                bytes);
}

/* Output pixel (y, x) of the fine image, the channels present. */
static void pixel_of_space(const tw_blocks *b, int32_t n, int32_t y, int32_t x)
{
    const int32_t within = y % b->block * b->block + x % b->block;
    const int32_t first = b->out.begin[3];
    const ptrdiff_t from = tw_image_at(&b->in, n, y / b->block, x / b->block,
                                       within * b->block_step + first * b->channel_step);
    copy(b->to + tw_image_at(&b->out, n, y, x, first) * (ptrdiff_t)b->bytes, 1,
         b->from + from * (ptrdiff_t)b->bytes, b->channel_step, b->out.end[3] - first, b->bytes);
}

/* a / b rounded up, at least 0. */
static int32_t up(int32_t a, int32_t b)
{
    return a <= 0 ? 0 : (a - 1) / b + 1;
}

/* Output pixel (y, x) of the coarse image, the channels present. */
static void pixel_of_depth(const tw_blocks *b, int32_t n, int32_t y, int32_t x)
{
    int32_t i, j;
    for (i = 0; i < b->block; i++) {
        for (j = 0; j < b->block; j++) {
            const int32_t base = (i * b->block + j) * b->block_step;
            const int32_t first = up(b->out.begin[3] - base, b->channel_step);
            int32_t last = up(b->out.end[3] - base, b->channel_step);
            ptrdiff_t to, from;
            last = last < b->channels ? last : b->channels;
            if (first >= last)
                continue;
            to = tw_image_at(&b->out, n, y, x, base + first * b->channel_step);
            from = tw_image_at(&b->in, n, y * b->block + i, x * b->block + j, first);
            copy(b->to + to * (ptrdiff_t)b->bytes, b->channel_step,
                 b->from + from * (ptrdiff_t)b->bytes, 1, last - first, b->bytes);
        }
    }
}

/* fine: the operand that is the larger image. */
static void open_blocks(const tw_call *call, const tw_view *fine, tw_blocks *b)
{
    const tw_depth_space_attributes *a = (const tw_depth_space_attributes *)call->attributes;
    tw_image_of(&call->in[0], &b->in);
    tw_image_of(&call->out[0], &b->out);
    b->block = a->block;
    b->channels = fine->tensor->dim[3];
    b->block_step = a->order == TW_BLOCK_FIRST ? b->channels : 1;
    b->channel_step = a->order == TW_BLOCK_FIRST ? 1 : a->block * a->block;
    b->bytes = tw_dtype_bytes(fine->tensor->dtype);
    b->from = (const char *)call->in[0].data;
    b->to = (char *)call->out[0].data;
}

/* Are input indices [first, last) of an axis present? */
static int holds(const tw_image *in, int32_t axis, int32_t first, int32_t last)
{
    return first >= in->begin[axis] && last <= in->end[axis];
}

static int is_empty(const tw_image *m)
{
    int32_t k;
    for (k = 0; k < 4; k++)
        if (m->end[k] <= m->begin[k])
            return 1;
    return 0;
}

static tw_status run_depth_to_space(const tw_call *call)
{
    tw_blocks b;
    int32_t n, y, x, k;
    open_blocks(call, &call->out[0], &b);
    if (is_empty(&b.out))
        return TW_OK;
    for (k = 1; k < 3; k++)
        if (!holds(&b.in, k, b.out.begin[k] / b.block, up(b.out.end[k], b.block)))
            return TW_E_SCHEDULE;
    if (!holds(&b.in, 0, b.out.begin[0], b.out.end[0]) || !holds(&b.in, 3, 0, b.in.dim[3]))
        return TW_E_SCHEDULE;
    for (n = b.out.begin[0]; n < b.out.end[0]; n++)
        for (y = b.out.begin[1]; y < b.out.end[1]; y++)
            for (x = b.out.begin[2]; x < b.out.end[2]; x++)
                pixel_of_space(&b, n, y, x);
    return TW_OK;
}

static tw_status run_space_to_depth(const tw_call *call)
{
    tw_blocks b;
    int32_t n, y, x, k;
    open_blocks(call, &call->in[0], &b);
    if (is_empty(&b.out))
        return TW_OK;
    for (k = 1; k < 3; k++)
        if (!holds(&b.in, k, b.out.begin[k] * b.block, b.out.end[k] * b.block))
            return TW_E_SCHEDULE;
    if (!holds(&b.in, 0, b.out.begin[0], b.out.end[0]) || !holds(&b.in, 3, 0, b.in.dim[3]))
        return TW_E_SCHEDULE;
    for (n = b.out.begin[0]; n < b.out.end[0]; n++)
        for (y = b.out.begin[1]; y < b.out.end[1]; y++)
            for (x = b.out.begin[2]; x < b.out.end[2]; x++)
                pixel_of_depth(&b, n, y, x);
    return TW_OK;
}

static tw_status check(const tw_call *call, const tw_view *fine, const tw_view *coarse,
                       uint64_t *work)
{
    const tw_depth_space_attributes *a = (const tw_depth_space_attributes *)call->attributes;
    const tw_tensor *f = fine->tensor, *c = coarse->tensor;
    if (call->attribute_bytes != sizeof *a || a->block < 1 || a->block > 1 << 14 ||
        (a->order & ~1) != 0 || !tw_operand_check(fine, c->dtype, 4, 4) ||
        !tw_operand_check(coarse, c->dtype, 4, 4))
        return TW_E_CHECK;
    if (f->dim[0] != c->dim[0] || f->dim[1] != (int64_t)c->dim[1] * a->block ||
        f->dim[2] != (int64_t)c->dim[2] * a->block ||
        c->dim[3] != (int64_t)f->dim[3] * a->block * a->block)
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(f);
    return TW_OK;
}

static tw_status check_depth_to_space(const tw_call *call, uint64_t *work)
{
    const tw_status status = tw_check_move(call, 1, 1, work);
    return status == TW_OK ? check(call, &call->out[0], &call->in[0], work) : status;
}

static tw_status check_space_to_depth(const tw_call *call, uint64_t *work)
{
    const tw_status status = tw_check_move(call, 1, 1, work);
    return status == TW_OK ? check(call, &call->in[0], &call->out[0], work) : status;
}

TW_KERNEL(depth_to_space, any, run_depth_to_space, check_depth_to_space);
TW_KERNEL(space_to_depth, any, run_space_to_depth, check_space_to_depth);
