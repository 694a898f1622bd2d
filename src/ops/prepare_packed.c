/* The table of weights that 4 bits hold. */
#include <string.h>

#include "ops/packed.h"
#include "ops/prepare.h"

/* Scratch for unpacked weights: this much where more outputs than two would need more. */
enum { SCRATCH = 4096, FEWEST = 2, SIDE_BY_SIDE = 16 };

static bool fits_half(const tw_value *w)
{
    const int8_t *data = w->data;
    int64_t count = tw_shape_elements(&w->shape);
    for (int i = 0; i < w->quant.count; i++)
        if (w->quant.zero_point[i] != 0)
            return false;
    for (int64_t i = 0; i < count; i++)
        if (data[i] < -8 || data[i] > 7)
            return false;
    return true;
}

/* Whole blocks of outputs where there is room for one, as the loops like them. */
static int32_t outputs_at_once(int32_t outputs, int64_t taps)
{
    int64_t n = SCRATCH / taps;
    n = n >= SIDE_BY_SIDE ? n / SIDE_BY_SIDE * SIDE_BY_SIDE
        : n >= 4          ? n / 4 * 4
        : n < FEWEST      ? FEWEST
                          : n;
    return n < outputs ? (int32_t)n : outputs;
}

void tw_prepare_packed(const tw_node *node, int outputs_axis, tw_arena *arena,
                       tw_lowering *lowering)
{
    const tw_value *w = node->in[1];
    const tw_kernel *packed = tw_op_kernel(node->op, TW_SIG_s8w4);
    if (node->in[0]->shape.dtype != TW_S8 || w->shape.dtype != TW_S8 || !w->data || !packed ||
        lowering->blob_count != TW_BLOB_COUNT || w->shape.rank < 2 || w->shape.rank > 4)
        return;
    int64_t count = tw_shape_elements(&w->shape), pairs = (count + 1) / 2;
    int64_t bytes = (int64_t)sizeof(tw_packed_head) + pairs;
    int32_t outputs = w->shape.dim[outputs_axis];
    if (bytes >= count || !fits_half(w))
        return;
    tw_packed_head head = {w->shape.rank, {0}};
    memcpy(head.dim, w->shape.dim, (size_t)w->shape.rank * sizeof *head.dim);
    uint8_t *table = tw_alloc(arena, (size_t)bytes);
    memcpy(table, &head, sizeof head);
    memset(table + sizeof head, 0, (size_t)pairs);
    for (int64_t i = 0; i < count; i++) {
        unsigned half = (unsigned)((const int8_t *)w->data)[i] & 15u;
        table[sizeof head + (size_t)i / 2] |= (uint8_t)(half << (i % 2 ? 4 : 0));
    }
    lowering->kernel = packed;
    lowering->blob[TW_BLOB_PACKED].data = table;
    lowering->blob[TW_BLOB_PACKED].bytes = (uint32_t)bytes;
    lowering->blob_count = TW_PACKED_BLOB_COUNT;
    lowering->unread |= 1u << 1;
    lowering->overlap = (tw_overlap){false, 0, 0}; /* it goes over the input once a round */
    lowering->scratch = (uint32_t)(outputs_at_once(outputs, count / outputs) * (count / outputs));
}
