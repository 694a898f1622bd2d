/* Which transposed convolutions CMSIS-NN runs, and with what. */
#include "backends/cmsis_nn/conv_transpose.h"

#include "backends/cmsis_nn/cmsis_nn.h"
#include "backends/cmsis_nn/conv.h"
#include "ops/conv_transpose.h"

static int64_t taps_of(const tw_node *node)
{
    const tw_shape *w = &node->in[1]->shape;
    return tw_shape_elements(w) / w->dim[0];
}

static const char *can(const tw_native_node *n)
{
    const tw_conv_transpose_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *x = &n->node->in[0]->shape, *y = &n->node->out[0]->shape;
    const tw_shape *w = &n->node->in[1]->shape;
    if (a->group != 1)
        return "groups";
    bool spread = false;
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] < 1 || x->dim[i] > INT16_MAX / 2 || y->dim[i] < 1 || y->dim[i] > INT16_MAX)
            return "an extent is 0 or above 16383";
    for (int i = 0; i < x->rank - 2; i++) {
        tw_span s;
        if (!tw_window_entry(&s, &lists, x->rank - 2, i) || s.stride > 2)
            return "a stride above 2";
        const int64_t reach = (int64_t)s.dilation * (w->dim[1 + i] - 1);
        if (reach < s.pad_begin || reach > INT16_MAX || s.dilation > INT16_MAX)
            return "padding beyond the kernel";
        spread |= s.stride > 1;
    }
    if (spread && (n->cpus & ~(uint32_t)TW_CMSIS_NN_MVE))
        return "the portable kernel is faster on processors without MVE: it skips the zeros of "
               "the stride";
    if (x->rank == 4 && y->dim[1] == 1 && x->dim[1] > 1 && y->dim[2] > 1)
        return "one output row of several input rows: bands of columns would have gaps";
    return tw_cmsis_nn_conv_scratch(taps_of(n->node), n->cpus) == UINT32_MAX
               ? "a kernel of more than 2 GB"
               : tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN);
}

static uint32_t scratch(const tw_native_node *n, const tw_native_band *band)
{
    (void)band; /* pixels are worked on one by one */
    return tw_cmsis_nn_conv_scratch(taps_of(n->node), n->cpus);
}

static void prepare(const tw_native_node *n, tw_arena *arena, tw_lowering *lowering)
{
    const tw_value *v = n->node->in[1];
    const tw_shape *w = &v->shape;
    const int32_t rows = w->rank == 4 ? w->dim[1] : 1, columns = w->dim[w->rank - 2];
    const int32_t depth = w->dim[w->rank - 1], taps = rows * columns;
    const int8_t *from = v->data;
    int8_t *turned = tw_alloc(arena, tw_shape_bytes(w));
    int32_t *extents = tw_alloc(arena, 8);
    extents[0] = rows;
    extents[1] = columns;
    for (int32_t o = 0; o < w->dim[0]; o++)
        for (int32_t t = 0; t < taps; t++)
            for (int32_t c = 0; c < depth; c++)
                turned[((int64_t)o * taps + t) * depth + c] =
                    from[((int64_t)o * taps + taps - 1 - t) * depth + c];
    lowering->blob[TW_CMSIS_NN_BLOB_TURNED_EXTENTS].data = extents;
    lowering->blob[TW_CMSIS_NN_BLOB_TURNED_EXTENTS].bytes = 8;
    lowering->blob[TW_CMSIS_NN_BLOB_TURNED].data = turned;
    lowering->blob[TW_CMSIS_NN_BLOB_TURNED].bytes = tw_shape_bytes(w);
    lowering->blob_count = TW_CMSIS_NN_BLOB_TURNED + 1;
    lowering->unread |= 1u << 1;
}

const tw_native tw_native_cmsis_nn_conv_transpose_s8 = {
    TW_CMSIS_NN_HEAD(conv_transpose_s8),
    .can = can,
    .scratch = scratch,
    .prepare = prepare,
};
