/* What the host halves of libraries of int8 kernels have in common. */
#include <string.h>

#include "backends/windowed.h"
#include "ops/product.h"

const char *tw_native_bands(const tw_native_node *n, const tw_window_lists *lists,
                            const int32_t *kernel)
{
    const tw_shape *x = &n->node->in[0]->shape, *y = &n->node->out[0]->shape;
    const int spatial = x->rank - 2;
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] < 1 || x->dim[i] > INT16_MAX || y->dim[i] < 1 || y->dim[i] > INT16_MAX)
            return "an extent is 0 or above 32767";
    for (int i = 0; i < spatial; i++) {
        tw_window_spans w = {{{1, 1, kernel[i], 1, 1, 0, 0}, {1, 1, 1, 1, 1, 0, 0}}};
        if (!tw_window_entry(&w.axis[0], lists, spatial, i) ||
            tw_window_reach(&w.axis[0]) > INT16_MAX || w.axis[0].stride > INT16_MAX ||
            w.axis[0].pad_begin > INT16_MAX)
            return "a kernel, stride or padding is above 32767";
    }
    if (x->rank == 4 && y->dim[1] == 1 && x->dim[1] > 1 && y->dim[2] > 1)
        return "one output row of several input rows: bands of columns would have gaps";
    return NULL;
}

const char *tw_native_touch(const tw_native_node *n, const tw_window_lists *lists,
                            const int32_t *kernel)
{
    const tw_shape *x = &n->node->in[0]->shape, *y = &n->node->out[0]->shape;
    for (int i = 0; i < x->rank - 2; i++) {
        tw_span s = {1, 1, kernel[i], 1, 1, 0, 0};
        if (!tw_window_entry(&s, lists, x->rank - 2, i) || s.dilation != 1)
            return "dilation";
        if (s.pad_begin >= s.kernel ||
            (int64_t)(y->dim[i + 1] - 1) * s.stride - s.pad_begin >= x->dim[i + 1])
            return "a window that covers padding alone";
    }
    return NULL;
}

void tw_native_plain_bias(const tw_native_node *n, int32_t channels, tw_arena *arena,
                          tw_lowering *lowering)
{
    const tw_value *bias = n->node->in_count > 2 ? n->node->in[2] : NULL;
    const uint32_t bytes = (uint32_t)channels * 4u;
    void *table = tw_alloc(arena, bytes);
    if (bias)
        memcpy(table, bias->data, bytes);
    lowering->blob[TW_BLOB_BIAS].data = table;
    lowering->blob[TW_BLOB_BIAS].bytes = bytes;
}
