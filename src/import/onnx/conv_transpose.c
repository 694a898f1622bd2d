/* ConvTranspose: weights in the order of the IR's operator, and what of the output is cut off or added. */
#include <string.h>

#include "import/onnx/onnx.h"
#include "import/weight.h"

/* The outputs of each spatial axis, without pads: full; what is taken away in front, and the extent. */
typedef struct tw_transposed {
    tw_onnx_window window;
    int64_t added[TW_MAX_RANK]; /* output_padding */
    int64_t full[TW_MAX_RANK], extent[TW_MAX_RANK];
} tw_transposed;

/* The extent is given: pads are what is too much. The odd one goes to the end where `tail`. */
static void spread(tw_transposed *t, int i, bool tail)
{
    int64_t total = t->full[i] + t->added[i] - t->extent[i];
    if (total < 0)
        total = 0;
    t->window.begin[i] = tail ? total / 2 : total - total / 2;
}

/* The last `spatial` entries of output_shape. */
static bool read_extents(tw_onnx_node *n, tw_transposed *t, bool tail)
{
    tw_onnx_list list = tw_onnx_ints(n, "output_shape");
    int spatial = t->window.spatial;
    tw_onnx_ignore(n, "pads");
    if (list.count != spatial && list.count != spatial + 2)
        return TW_ONNX_FAIL(n, "output_shape has %d elements; one for each of %d spatial axes",
                            list.count, spatial);
    for (int i = 0; i < spatial; i++) {
        t->extent[i] = list.v[list.count - spatial + i];
        if (t->extent[i] < 1 || t->extent[i] > INT32_MAX)
            return TW_ONNX_FAIL(n, "output_shape holds %lld", (long long)t->extent[i]);
        spread(t, i, tail);
    }
    return true;
}

static bool read_pads(tw_onnx_node *n, tw_transposed *t)
{
    int spatial = t->window.spatial;
    int64_t pads[2 * TW_MAX_RANK] = {0};
    if (!tw_onnx_read_list(n, "pads", 2 * spatial, 0, 0, pads))
        return false;
    for (int i = 0; i < spatial; i++) {
        t->window.begin[i] = pads[i];
        t->extent[i] = t->full[i] + t->added[i] - pads[i] - pads[spatial + i];
    }
    return true;
}

/* What is cut off: by pads, by an extent that is given, or by the extent that auto_pad means. */
static bool read_cut(tw_onnx_node *n, const tw_shape *x, tw_transposed *t)
{
    const char *automatic = tw_onnx_text(n, "auto_pad", "NOTSET");
    bool upper = strcmp(automatic, "SAME_UPPER") == 0, lower = !strcmp(automatic, "SAME_LOWER");
    bool valid = strcmp(automatic, "VALID") == 0;
    if (*automatic && !upper && !lower && !valid && strcmp(automatic, "NOTSET") != 0)
        return TW_ONNX_FAIL(n,
                            "auto_pad is '%s'; NOTSET, VALID, SAME_UPPER and SAME_LOWER are "
                            "possible",
                            automatic);
    bool tail = n->opset < 11 ? !upper : upper; /* the rule was turned round */
    if (tw_onnx_has(n, "output_shape"))
        return read_extents(n, t, tail);
    if (!upper && !lower && !valid)
        return read_pads(n, t);
    tw_onnx_ignore(n, "pads");
    for (int i = 0; i < t->window.spatial; i++) {
        t->extent[i] = valid ? t->full[i] + t->added[i] : x->dim[2 + i] * t->window.stride[i];
        spread(t, i, tail);
    }
    return true;
}

static bool read_transposed(tw_onnx_node *n, const tw_shape *x, const int64_t *kernel,
                            tw_transposed *t)
{
    tw_onnx_window *w = &t->window;
    memset(t, 0, sizeof *t);
    if (!tw_onnx_read_steps(n, x, kernel, w) ||
        !tw_onnx_read_list(n, "output_padding", w->spatial, 0, 0, t->added))
        return false;
    for (int i = 0; i < w->spatial; i++)
        t->full[i] = (x->dim[2 + i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1;
    if (!read_cut(n, x, t))
        return false;
    for (int i = 0; i < w->spatial; i++) {
        int64_t rest = t->full[i] - w->begin[i] - t->extent[i];
        w->end[i] = rest > 0 ? rest : 0;
        t->added[i] = rest < 0 ? -rest : 0;
        if (t->extent[i] < 1)
            return TW_ONNX_FAIL(n, "spatial axis %d would have %lld elements", i,
                                (long long)t->extent[i]);
    }
    return true;
}

static bool check_channels(tw_onnx_node *n, const tw_shape *x, const tw_shape *w, int64_t group)
{
    if (w->rank != x->rank || x->rank < 3)
        return TW_ONNX_FAIL(n, "the input has rank %d, the weights have rank %d", x->rank, w->rank);
    if (group < 1 || w->dim[0] != x->dim[1] || x->dim[1] % group != 0)
        return TW_ONNX_FAIL(n, "the weights take %d channels, the input has %d; group is %lld",
                            (int)w->dim[0], (int)x->dim[1], (long long)group);
    return true;
}

bool tw_onnx_op_conv_transpose(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *w = n->in[1], *bias = tw_onnx_in(n, 2);
    int64_t group = tw_onnx_int(n, "group", 1), kernel[TW_MAX_RANK] = {0};
    tw_transposed t;
    for (int i = 2; i < w->shape.rank; i++)
        kernel[i - 2] = w->shape.dim[i];
    if (!check_channels(n, &x->shape, &w->shape, group) ||
        !read_transposed(n, &x->shape, kernel, &t))
        return false;
    tw_value *in[] = {tw_build_channels_last(n->b, x), tw_build_transposed_weight(n->b, w, group),
                      bias};
    const tw_setting settings[] = {tw_set_ints("stride", t.window.spatial, t.window.stride),
                                   tw_set_ints("dilation", t.window.spatial, t.window.dilation),
                                   tw_set_ints("pad_begin", t.window.spatial, t.window.begin),
                                   tw_set_ints("pad_end", t.window.spatial, t.window.end),
                                   tw_set_int("group", group),
                                   tw_set_ints("output_pad", t.window.spatial, t.added),
                                   {.name = NULL}};
    tw_value *y = tw_build(n->b, x->shape.rank == 5 ? "ConvTranspose3d" : "ConvTranspose", in,
                           bias ? 3 : 2, settings);
    return tw_onnx_bind(n, 0, tw_build_channels_first(n->b, y));
}
