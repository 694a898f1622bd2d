/* TensorFlow's windows and slices. */
#include "import/window.h"

#include "import/padding.h"

#define FAIL(b, op, ...) tw_fail((b)->diag, TW_CODE_FAILED, (b)->node, op, __VA_ARGS__)

/* --- windows ----------------------------------------------------------------------------------- */

bool tw_window_pads(tw_builder *b, const char *op, int64_t extent, bool same, tw_window *w, int i)
{
    if (w->stride[i] < 1 || w->dilation[i] < 1 || w->kernel[i] < 1 || w->stride[i] > INT32_MAX ||
        w->dilation[i] > INT32_MAX || w->kernel[i] > INT32_MAX)
        return FAIL(b, op, "kernel %lld, stride %lld, dilation %lld: all must be positive",
                    (long long)w->kernel[i], (long long)w->stride[i], (long long)w->dilation[i]);
    w->begin[i] = w->end[i] = 0;
    if (!same)
        return true;
    const tw_pads pads =
        tw_same_pads(extent, w->stride[i], (w->kernel[i] - 1) * w->dilation[i] + 1);
    w->begin[i] = pads.begin;
    w->end[i] = pads.end;
    return true;
}

bool tw_window_transposed(tw_builder *b, const char *op, int64_t x, int64_t extent, bool same,
                          tw_window *window, int64_t *added, int i)
{
    int64_t stride = window->stride[i];
    int64_t kernel = (window->kernel[i] - 1) * window->dilation[i] + 1;
    if (stride < 1 || stride > INT32_MAX || extent < 1 || extent > INT32_MAX || x < 1)
        return FAIL(b, op, "stride %lld, %lld elements in and %lld out on spatial axis %d",
                    (long long)stride, (long long)x, (long long)extent, i);
    const tw_pads pads = tw_transposed_pads(x, extent, stride, kernel, same);
    window->begin[i] = pads.begin;
    window->end[i] = pads.end;
    *added = pads.added;
    return true;
}

static tw_value *pool_axes(tw_builder *b, const char *op, tw_value *x, int rank, const tw_window *w)
{
    return tw_build1(b, op, x,
                     TW_SETTINGS(tw_set_ints("kernel", rank, w->kernel),
                                 tw_set_ints("stride", rank, w->stride),
                                 tw_set_ints("pad_begin", rank, w->begin),
                                 tw_set_ints("pad_end", rank, w->end)));
}

/* Three axes: the slices by themselves, then their pixels side by side. Every window has as many elements
 * inside as the product of both, so that a mean of means is the mean. */
tw_value *tw_build_pool(tw_builder *b, const char *op, tw_value *x, int rank, const tw_window *w)
{
    if (rank < 3 || !x)
        return pool_axes(b, op, x, rank, w);
    const int64_t batch = x->shape.dim[0], depth = x->shape.dim[1], channels = x->shape.dim[4];
    const tw_window flat = {.kernel = {w->kernel[1], w->kernel[2]},
                            .stride = {w->stride[1], w->stride[2]},
                            .begin = {w->begin[1], w->begin[2]},
                            .end = {w->end[1], w->end[2]}};
    const tw_window along = {.kernel = {w->kernel[0], 1},
                             .stride = {w->stride[0], 1},
                             .begin = {w->begin[0], 0},
                             .end = {w->end[0], 0}};
    if (batch * depth > INT32_MAX)
        return NULL;
    x = tw_build_reshape(b, x, 4,
                         (int64_t[]){batch * depth, x->shape.dim[2], x->shape.dim[3], channels});
    x = pool_axes(b, op, x, 2, &flat);
    if (!x)
        return NULL;
    const int64_t height = x->shape.dim[1], width = x->shape.dim[2];
    if (height * width > INT32_MAX)
        return NULL;
    x = tw_build_reshape(b, x, 4, (int64_t[]){batch, depth, height * width, channels});
    x = pool_axes(b, op, x, 2, &along);
    return x ? tw_build_reshape(b, x, 5,
                                (int64_t[]){batch, x->shape.dim[1], height, width, channels})
             : NULL;
}

/* --- strided slices ---------------------------------------------------------------------------- */

/* The specification as it is read: what is taken of each axis of x, and the extents of the result, with
 * axes put in and left out. */
typedef struct tw_taking {
    tw_builder *b;
    const char *op;
    const tw_strided *s;
    const tw_value *x;
    tw_range range[TW_MAX_RANK];
    int axis; /* of x, next */
    int64_t dim[TW_STRIDED_ENTRIES];
    int rank;
} tw_taking;

static bool has_bit(int64_t mask, int i)
{
    return (mask >> i & 1) != 0;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Entry i selects from the next axis of x. */
static bool take_entry(tw_taking *t, int i)
{
    const tw_strided *s = t->s;
    int k = t->axis++;
    if (k >= t->x->shape.rank)
        return FAIL(t->b, t->op, "more entries than the tensor's %d axes", t->x->shape.rank);
    int64_t extent = t->x->shape.dim[k], step = s->stride[i];
    int64_t begin = s->begin[i], end = s->end[i];
    if (step == 0 || step < -INT32_MAX || step > INT32_MAX)
        return FAIL(t->b, t->op, "the stride of axis %d is %lld", k, (long long)step);
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    begin = has_bit(s->begin_mask, i) ? (step > 0 ? low : high)
                                      : clamp(begin < 0 ? begin + extent : begin, low, high);
    if (has_bit(s->shrink_axis_mask, i)) {
        if (begin < 0 || begin >= extent)
            return FAIL(t->b, t->op, "element %lld of axis %d, which has %lld", (long long)begin, k,
                        (long long)extent);
        t->range[k] = (tw_range){begin, 1, 1};
        return true;
    }
    end = clamp(end, INT32_MIN, INT32_MAX);
    end += s->offset ? begin : end < 0 ? extent : 0;
    end = has_bit(s->end_mask, i) ? (step > 0 ? high : low) : clamp(end, low, high);
    int64_t span = step > 0 ? end - begin : begin - end, size = step > 0 ? step : -step;
    t->range[k] = (tw_range){span > 0 ? begin : 0, span > 0 ? (span + size - 1) / size : 0, step};
    t->dim[t->rank++] = t->range[k].size;
    return true;
}

static void take_whole(tw_taking *t)
{
    int k = t->axis++;
    t->range[k] = (tw_range){0, t->x->shape.dim[k], 1};
    t->dim[t->rank++] = t->x->shape.dim[k];
}

static bool take_all(tw_taking *t)
{
    const tw_strided *s = t->s;
    int named = 0;
    bool spread = false; /* only the first ellipsis counts */
    for (int i = 0; i < s->count; i++)
        named += !has_bit(s->ellipsis_mask, i) && !has_bit(s->new_axis_mask, i);
    for (int i = 0; i < s->count; i++) {
        if (t->rank >= TW_STRIDED_ENTRIES - 1)
            return FAIL(t->b, t->op, "the result has too many axes");
        if (has_bit(s->ellipsis_mask, i) && !spread) {
            while (t->axis + named < t->x->shape.rank)
                take_whole(t);
            spread = true;
        } else if (has_bit(s->new_axis_mask, i)) {
            t->dim[t->rank++] = 1;
        } else if (!take_entry(t, i)) {
            return false;
        } else {
            named--;
        }
    }
    while (t->axis < t->x->shape.rank)
        take_whole(t);
    return t->rank <= TW_MAX_RANK ||
           tw_fail(t->b->diag, TW_CODE_UNSUPPORTED, t->b->node, t->op,
                   "a result of %d axes; at most %d are supported", t->rank, TW_MAX_RANK);
}

tw_value *tw_build_strided(tw_builder *b, const char *op, tw_value *x, const tw_strided *s)
{
    tw_taking t = {.b = b, .op = op, .s = s, .x = x};
    if (s->count < 0 || s->count > TW_STRIDED_ENTRIES) {
        FAIL(b, op, "begin, end and strides have %d entries; at most %d are possible", s->count,
             TW_STRIDED_ENTRIES);
        return NULL;
    }
    if (!take_all(&t))
        return NULL;
    tw_value *part = tw_build_ranges(b, x, t.range);
    bool same = t.rank == x->shape.rank && s->shrink_axis_mask == 0 && s->new_axis_mask == 0;
    return same ? part : tw_build_reshape(b, part, t.rank, t.dim);
}
