/* Sampling at given places, and the places themselves. */
#include <string.h>

#include "import/onnx/onnx.h"

bool tw_onnx_op_grid_sample(tw_onnx_node *n)
{
    /* Until opset 20 the modes have names of two axes. */
    static const char *const modes[][2] = {{"bilinear", "linear"},
                                           {"bicubic", "cubic"},
                                           {"linear", "linear"},
                                           {"cubic", "cubic"},
                                           {"nearest", "nearest"}};
    const char *mode = tw_onnx_text(n, "mode", n->opset < 20 ? "bilinear" : "linear");
    const char *padding = tw_onnx_text(n, "padding_mode", "zeros"), *ours = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(mode, modes[i][0]) == 0)
            ours = modes[i][1];
    if (!ours || (strcmp(padding, "zeros") != 0 && strcmp(padding, "border") != 0 &&
                  strcmp(padding, "reflection") != 0))
        return TW_ONNX_FAIL(n,
                            "mode is '%s' and padding_mode '%s'; nearest, linear and cubic, and "
                            "zeros, border and reflection are possible",
                            mode, padding);
    if (n->in[0]->shape.rank < 3 || n->in[0]->shape.rank > 5)
        return TW_ONNX_UNSUPPORTED(n, "the input has rank %d; 3 to 5 are supported",
                                   n->in[0]->shape.rank);
    tw_value *in[] = {tw_build_channels_last(n->b, tw_onnx_as_float(n, n->in[0])), n->in[1]};
    tw_value *y =
        tw_build(n->b, "GridSample", in, 2,
                 TW_SETTINGS(tw_set_word("mode", ours), tw_set_word("padding", padding),
                             tw_set_int("align_corners", tw_onnx_int(n, "align_corners", 0) != 0)));
    y = tw_build_channels_first(n->b, y);
    return tw_onnx_bind(n, 0, tw_onnx_from_float(n, y, n->in[0]->shape.dtype));
}

/* Place o of `extent` from -1 to 1: centres of elements, or of first and last. */
static double place(int64_t o, int64_t extent, bool corners)
{
    if (corners)
        return extent > 1 ? -1 + 2.0 * (double)o / (double)(extent - 1) : -1;
    return -1 + (2.0 * (double)o + 1) / (double)extent;
}

/* [1, places, s + 1]: every place, the innermost axis first, then 1. */
static tw_value *places(tw_onnx_node *n, const int64_t *extent, int spatial, bool corners)
{
    int64_t count = 1;
    for (int i = 0; i < spatial; i++)
        count *= extent[i];
    const int32_t dim[3] = {1, (int32_t)count, spatial + 1};
    tw_value *all = tw_build_full(n->b, tw_shape_of(TW_F32, 3, dim), 1);
    if (!all)
        return NULL;
    float *to = (float *)(uintptr_t)all->data; /* made just now */
    for (int64_t p = 0; p < count; p++) {
        int64_t rest = p;
        for (int i = spatial - 1; i >= 0; i--) {
            to[p * (spatial + 1) + spatial - 1 - i] =
                (float)place(rest % extent[i], extent[i], corners);
            rest /= extent[i];
        }
    }
    return all;
}

/* grid = places times theta, a matrix a batch. */
bool tw_onnx_op_affine_grid(tw_onnx_node *n)
{
    const tw_shape *theta = &n->in[0]->shape;
    bool corners = tw_onnx_int(n, "align_corners", 0) != 0;
    tw_onnx_list size;
    int64_t dim[TW_MAX_RANK], total = 1;
    if (!tw_onnx_list_in(n, 1, "the size", &size))
        return false;
    int spatial = size.count - 2;
    if (spatial < 2 || spatial > 3 || theta->rank != 3 || theta->dim[1] != spatial ||
        theta->dim[2] != spatial + 1 || theta->dim[0] != size.v[0])
        return TW_ONNX_FAIL(n, "theta of rank %d and a size of %d entries do not fit together",
                            theta->rank, size.count);
    dim[0] = theta->dim[0];
    for (int i = 0; i < spatial; i++) {
        dim[1 + i] = size.v[2 + i];
        total *= dim[1 + i] > 0 && dim[1 + i] <= INT32_MAX ? dim[1 + i] : INT32_MAX;
        if (dim[1 + i] < 1 || total > INT32_MAX / 4)
            return TW_ONNX_UNSUPPORTED(n, "spatial axis %d has %lld elements", i,
                                       (long long)dim[1 + i]);
    }
    dim[1 + spatial] = spatial;
    tw_value *grid = tw_build2(n->b, "MatMul", places(n, dim + 1, spatial, corners), n->in[0],
                               TW_SETTINGS(tw_set_int("transpose_b", 1)));
    return tw_onnx_bind(n, 0, grid ? tw_build_reshape(n->b, grid, spatial + 2, dim) : NULL);
}
