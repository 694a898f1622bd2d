/* Buffer and MaskedSoftmax. */
#include <string.h>

#include "import/foreign/qti_aisw/qti_aisw.h"
#include "ops/buffer.h"

bool tw_qti_aisw_reset(tw_foreign_node *n, int input)
{
    const tw_value *reset = input < n->in_count ? n->in[input] : NULL;
    if (!reset || (reset->shape.dtype == TW_BOOL && tw_shape_elements(&reset->shape) == 1))
        return true;
    return TW_FOREIGN_FAIL(n, "the input reset must be one boolean");
}

/* --- Buffer ------------------------------------------------------------------------------------- */

enum { BLOCKING = 0, NON_BLOCKING_LEFT = 1, NON_BLOCKING_RIGHT = 2 };

typedef struct tw_buffer {
    int axis;
    int64_t size, frames, padding, stride, mode; /* frames: that come with a call */
} tw_buffer;

static bool read_buffer(tw_foreign_node *n, tw_buffer *f)
{
    const tw_shape *x = &n->in[0]->shape;
    const int64_t axis = tw_foreign_int(n, "buffer_dim");
    if (axis >= x->rank)
        return TW_FOREIGN_FAIL(n, "the attribute buffer_dim is %lld, the input has %d axes",
                               (long long)axis, x->rank);
    *f = (tw_buffer){.axis = (int)axis,
                     .size = tw_foreign_int(n, "buffer_size"),
                     .frames = x->dim[axis],
                     .padding = tw_foreign_int(n, "buffer_padding"),
                     .mode = tw_foreign_int(n, "mode")};
    /* The published default of 1 is legal for single frames only. */
    f->stride = tw_foreign_has(n, "stride") ? tw_foreign_int(n, "stride") : f->frames;
    if (f->frames < 1 || f->size % f->frames != 0)
        return TW_FOREIGN_FAIL(n,
                               "the attribute buffer_size is %lld, no multiple of the %lld "
                               "frames that come at a time",
                               (long long)f->size, (long long)f->frames);
    if (f->stride < f->frames || f->stride > f->size || f->stride % f->frames != 0)
        return TW_FOREIGN_FAIL(n,
                               "the attribute stride is %lld; multiples of %lld up to %lld are "
                               "possible",
                               (long long)f->stride, (long long)f->frames, (long long)f->size);
    if (f->padding > f->size)
        return TW_FOREIGN_FAIL(n,
                               "the attribute buffer_padding is %lld, the buffer holds %lld "
                               "frames",
                               (long long)f->padding, (long long)f->size);
    if (f->mode < BLOCKING || f->mode > NON_BLOCKING_RIGHT)
        return TW_FOREIGN_FAIL(n, "the attribute mode is %lld; 0, 1 and 2 are possible",
                               (long long)f->mode);
    return true;
}

/* Zeros in the terms of x, `size` frames of them. */
static tw_value *held_frames(tw_foreign_node *n, const tw_buffer *f, const tw_value *x)
{
    tw_builder *b = n->b;
    tw_shape shape = x->shape;
    shape.dim[f->axis] = (int32_t)f->size;
    const double zero = x->quant.count ? x->quant.zero_point[0] : 0;
    const tw_value *zeros = tw_build_full(b, shape, zero);
    if (!zeros)
        return NULL;
    const void *initial = zero != 0 ? zeros->data : NULL;
    tw_value *held =
        tw_graph_state(b->graph, tw_format(b->arena, "%s.frames", b->node), shape, initial);
    held->quant = x->quant;
    return held;
}

bool tw_qti_aisw_buffer(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    tw_buffer f;
    if (!read_buffer(n, &f) || !tw_qti_aisw_reset(n, 1))
        return false;
    tw_value *stored = tw_foreign_stored(n, 0), *x = stored ? stored : n->in[0];
    int32_t *counts = tw_alloc_array(b->arena, 2, sizeof *counts);
    counts[0] = (int32_t)f.padding;
    tw_value *held = held_frames(n, &f, x);
    if (!held)
        return false;
    tw_value *count = tw_graph_state(b->graph, tw_format(b->arena, "%s.count", b->node),
                                     tw_shape_of(TW_S32, 1, (int32_t[]){2}), counts);
    const tw_buffer_attributes a = {.axis = f.axis,
                                    .stride = (int32_t)f.stride,
                                    .padding = (int32_t)f.padding,
                                    .right = f.mode == NON_BLOCKING_RIGHT};
    tw_value *in[] = {x, held, count, n->in_count > 1 ? n->in[1] : NULL};
    tw_node *node = tw_graph_node(b->graph, tw_op_by_name("Buffer"), b->node, in, in[3] ? 4 : 3,
                                  f.mode == BLOCKING ? 3 : 2, NULL, &a, b->diag);
    if (!node)
        return false;
    tw_value *y = node->out[0];
    y->quant = x->quant;
    if (!tw_graph_state_next(b->graph, held, y, b->diag) ||
        !tw_graph_state_next(b->graph, count, node->out[1], b->diag))
        return false;
    if (f.mode == BLOCKING) {
        tw_node *wait = tw_build_node(b, "Await", (tw_value *[]){y, node->out[2]}, 2, NULL);
        if (!wait)
            return false;
        wait->out[0]->quant = y->quant;
        y = wait->out[0];
    }
    return tw_foreign_result(n, stored ? tw_build1(b, "Dequantize", y, NULL) : y);
}

/* --- MaskedSoftmax ------------------------------------------------------------------------------ */

enum { UNCOMPRESSED = 0, COMPRESSED = 1 };

/* Which of the M sequences, behind one another, each of `count` places belongs to: [b, count]; M
 * where it is behind them all. That is the number of sequences that end at it or before. */
static tw_value *sequence_of(tw_foreign_node *n, tw_value *lengths, int32_t count)
{
    tw_builder *b = n->b;
    const int64_t ends_dim[] = {lengths->shape.dim[0], lengths->shape.dim[1], 1};
    tw_value *ends = tw_build1(b, "CumSum", lengths, TW_SETTINGS(tw_set_int("axis", 1)));
    tw_value *place = tw_build_iota(b, TW_S32, 3, 2, count);
    tw_value *behind =
        tw_build2(b, "LessOrEqual", tw_build_reshape(b, ends, 3, ends_dim), place, NULL);
    const int64_t over[] = {1};
    return tw_build1(b, "ReduceSum", tw_build_cast(b, behind, TW_S32),
                     TW_SETTINGS(tw_set_ints("axes", 1, over), tw_set_int("keepdims", 0)));
}

/* Rows and columns of one sequence see each other: [b, 1, c, c]. */
static tw_value *blocks_of(tw_foreign_node *n, tw_value *lengths, int64_t places)
{
    tw_builder *b = n->b;
    const int64_t batch = lengths->shape.dim[0], sequences = lengths->shape.dim[1];
    tw_value *of = sequence_of(n, lengths, (int32_t)places);
    const int64_t rows[] = {batch, 1, places, 1}, columns[] = {batch, 1, 1, places};
    tw_value *column = tw_build_reshape(b, of, 4, columns);
    tw_value *same = tw_build2(b, "Equal", tw_build_reshape(b, of, 4, rows), column, NULL);
    tw_value *there =
        tw_build2(b, "Less", column, tw_build_scalar(b, TW_S32, (double)sequences), NULL);
    return tw_build2(b, "And", same, there, NULL);
}

/* Lengths that are known may not exceed the columns. */
static bool check_lengths(tw_foreign_node *n, const tw_value *lengths, int64_t places)
{
    for (int64_t i = 0; lengths->data && i < lengths->shape.dim[0]; i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < lengths->shape.dim[1]; k++) {
            const int64_t length = tw_build_int_at(lengths, i * lengths->shape.dim[1] + k);
            if (length < 0)
                return TW_FOREIGN_FAIL(n, "the input mask has a negative length");
            sum += length;
        }
        if (sum > places)
            return TW_FOREIGN_FAIL(n,
                                   "the lengths of the input mask come to %lld, there are %lld "
                                   "channels",
                                   (long long)sum, (long long)places);
    }
    return true;
}

bool tw_qti_aisw_masked_softmax(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0], *mask = n->in[1];
    const int64_t mode = tw_foreign_int(n, "mode");
    if (mode != UNCOMPRESSED && mode != COMPRESSED)
        return TW_FOREIGN_FAIL(n, "the attribute mode is %lld; 0 and 1 are possible",
                               (long long)mode);
    if (!tw_foreign_rank(n, x, 4))
        return false;
    const int64_t channels = x->shape.dim[3];
    if (mask->shape.rank != 2 || mask->shape.dtype != TW_S32 ||
        mask->shape.dim[0] != x->shape.dim[0])
        return TW_FOREIGN_FAIL(n, "the input mask must be [%d,M] of INT32", (int)x->shape.dim[0]);
    const tw_setting *along = TW_SETTINGS(tw_set_int("axis", 3));
    if (mode == UNCOMPRESSED) {
        const int64_t dim[] = {mask->shape.dim[0], 1, 1, channels};
        if (mask->shape.dim[1] != channels)
            return TW_FOREIGN_FAIL(n, "in mode 0 the input mask has %d columns, not %lld",
                                   (int)mask->shape.dim[1], (long long)channels);
        tw_value *term = tw_build_cast(b, tw_build_reshape(b, mask, 4, dim), TW_F32);
        return tw_foreign_result(
            n, tw_build1(b, "Softmax", tw_build2(b, "Add", x, term, NULL), along));
    }
    if (x->shape.dim[2] != channels)
        return TW_FOREIGN_FAIL(n,
                               "with a compressed mask there must be as many columns as "
                               "channels, not %d and %lld",
                               (int)x->shape.dim[2], (long long)channels);
    if (!check_lengths(n, mask, channels))
        return false;
    /* A row that sees nothing has equal scores. */
    tw_value *in[] = {blocks_of(n, mask, channels), x, tw_build_scalar(b, TW_F32, -3e38)};
    return tw_foreign_result(n, tw_build1(b, "Softmax", tw_build(b, "Where", in, 3, NULL), along));
}
