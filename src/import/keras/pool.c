/* Pooling: windows of one to three spatial axes, and whole images. */
#include <string.h>

#include "import/keras/keras.h"
#include "import/padding.h"

typedef struct pooling {
    const char *op;
    int64_t kernel[3], stride[3], begin[3], end[3];
} pooling;

static tw_value *pool_axes(tw_kr_node *n, const pooling *p, tw_value *x, int first, int count)
{
    return tw_build1(n->b, p->op, x,
                     TW_SETTINGS(tw_set_ints("kernel", count, p->kernel + first),
                                 tw_set_ints("stride", count, p->stride + first),
                                 tw_set_ints("pad_begin", count, p->begin + first),
                                 tw_set_ints("pad_end", count, p->end + first)));
}

/* Three axes: the slices by themselves, then their pixels side by side. Every window has as many elements
 * inside as the product of both, so that a mean of means is the mean. */
static tw_value *pool_volume(tw_kr_node *n, const pooling *p, tw_value *x)
{
    tw_builder *b = n->b;
    const int32_t *d = x->shape.dim;
    const int64_t batch = d[0], depth = d[1], channels = d[4];
    if (batch * depth > INT32_MAX)
        return NULL;
    x = tw_build_reshape(b, x, 4, (int64_t[]){batch * depth, d[2], d[3], channels});
    x = pool_axes(n, p, x, 1, 2);
    if (!x)
        return NULL;
    const int64_t height = x->shape.dim[1], width = x->shape.dim[2];
    const pooling along = {
        p->op, {p->kernel[0], 1}, {p->stride[0], 1}, {p->begin[0], 0}, {p->end[0], 0}};
    x = tw_build_reshape(b, x, 4, (int64_t[]){batch, depth, height * width, channels});
    x = pool_axes(n, &along, x, 0, 2);
    return x ? tw_build_reshape(b, x, 5,
                                (int64_t[]){batch, x->shape.dim[1], height, width, channels})
             : NULL;
}

bool tw_kr_op_pool(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_in(n, spatial + 2, 0);
    pooling p = {.op = n->row->op};
    const bool first = tw_kr_channels_first(n);
    const bool same = strcmp(tw_kr_word(n, "padding", "valid"), "same") == 0;
    x = tw_kr_real_value(n, first ? tw_build_channels_last(n->b, x) : x);
    if (!x || tw_kr_ints(n, "pool_size", spatial, true, 2, p.kernel) < 0)
        return false;
    memcpy(p.stride, p.kernel, sizeof p.stride);
    if (tw_kr_get(n, "strides") && tw_kr_ints(n, "strides", spatial, true, 1, p.stride) < 0)
        return false;
    for (int i = 0; i < spatial; i++) {
        if (p.kernel[i] < 1 || p.stride[i] < 1 || p.kernel[i] > INT32_MAX ||
            p.stride[i] > INT32_MAX)
            return TW_KR_FAIL(n, "pool size %lld and stride %lld: both must be positive",
                              (long long)p.kernel[i], (long long)p.stride[i]);
        if (same) {
            tw_pads pads = tw_same_pads(x->shape.dim[1 + i], p.stride[i], p.kernel[i]);
            p.begin[i] = pads.begin;
            p.end[i] = pads.end;
        }
    }
    x = spatial == 3 ? pool_volume(n, &p, x) : pool_axes(n, &p, x, 0, spatial);
    return tw_kr_set(n, first ? tw_build_channels_first(n->b, x) : x);
}

/* kind: spatial axes. */
bool tw_kr_op_global_pool(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, spatial + 2, 0));
    int64_t axes[3];
    for (int i = 0; i < spatial; i++)
        axes[i] = tw_kr_channels_first(n) ? 2 + i : 1 + i;
    return tw_kr_set(
        n, tw_build1(n->b, n->row->op, x,
                     TW_SETTINGS(tw_set_ints("axes", spatial, axes),
                                 tw_set_int("keepdims", tw_kr_flag(n, "keepdims", false)))));
}
