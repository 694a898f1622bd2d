/* The tables of weights that 4 bits, or 16 of a float, hold. */
#include <string.h>

#include "base/half.h"
#include "ops/packed.h"
#include "ops/prepare.h"
#include "runtime/math.h"

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

/* Whole blocks of outputs where there is room for one, as the loops like them. bytes: of an output. */
static int32_t outputs_at_once(int32_t outputs, int64_t bytes)
{
    int64_t n = SCRATCH / bytes;
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

/* ---- floats of 16 bits ---- */

static uint16_t shortened(float x, tw_dtype dtype)
{
    return dtype == TW_F16 ? tw_half_from_double((double)x) : tw_bfloat_from_double((double)x);
}

static bool fits_short(const tw_value *w, tw_dtype dtype)
{
    const float *data = w->data;
    const int64_t count = tw_shape_elements(&w->shape);
    for (int64_t i = 0; i < count; i++) {
        const uint16_t bits = shortened(data[i], dtype);
        if (tw_bits_of(tw_float_widened(dtype, &bits)) != tw_bits_of(data[i]))
            return false;
    }
    return true;
}

void tw_prepare_short(const tw_node *node, tw_arena *arena, tw_lowering *lowering)
{
    const tw_value *w = node->in[1];
    const tw_kernel *kernel = tw_op_kernel(node->op, TW_SIG_f32w16);
    if (node->in[0]->shape.dtype != TW_F32 || w->shape.dtype != TW_F32 || !w->data || !kernel ||
        lowering->blob_count != 0 || w->shape.rank < 2 || w->shape.rank > 4)
        return;
    const int64_t count = tw_shape_elements(&w->shape);
    const int64_t bytes = (int64_t)sizeof(tw_short_head) + 2 * count;
    const tw_dtype dtype = fits_short(w, TW_F16) ? TW_F16 : TW_BF16;
    if (count < 1 || bytes >= 4 * count || (dtype == TW_BF16 && !fits_short(w, TW_BF16)))
        return;
    const int64_t outputs = w->shape.dim[0], taps = count / outputs;
    tw_short_head head = {{w->shape.rank, {0}}, (uint32_t)dtype};
    memcpy(head.head.dim, w->shape.dim, (size_t)w->shape.rank * sizeof *head.head.dim);
    char *table = tw_alloc(arena, (size_t)bytes);
    memcpy(table, &head, sizeof head);
    uint16_t *to = (uint16_t *)(void *)(table + sizeof head);
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t o = 0; o < outputs; o++)
            *to++ = shortened(((const float *)w->data)[o * taps + tap], dtype);
    lowering->kernel = kernel;
    lowering->blob[TW_BLOB_SHORT].data = table;
    lowering->blob[TW_BLOB_SHORT].bytes = (uint32_t)bytes;
    lowering->blob_count = TW_SHORT_BLOB_COUNT;
    lowering->unread |= 1u << 1;
    lowering->stored[1].data = NULL;
    lowering->overlap = (tw_overlap){false, 0, 0}; /* it goes over the input once a round */
    lowering->scratch = (uint32_t)(outputs_at_once(w->shape.dim[0], 4 * taps) * 4 * taps);
}
