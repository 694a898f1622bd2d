/* How time goes through one operator. In: a node and which axis of an operand is time. Out: the axis of
 * its result and the window of rows behind each row, or why there is none. */
#include <string.h>

#include "ops/axes.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/reduce.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "ops/view.h"
#include "stream/flow.h"

static tw_carry row_by_row(int axis)
{
    return (tw_carry){.kind = TW_CARRY_ROWS, .axis = axis, .stride = 1, .extent = 1};
}

static tw_carry whole_clip(void)
{
    return (tw_carry){.kind = TW_CARRY_CLIP, .axis = -1};
}

static tw_carry not_so(int axis, const char *why)
{
    return (tw_carry){
        .kind = TW_CARRY_NOT, .axis = axis, .stride = 1, .extent = 1, .pad = 0, .why = why};
}

static int64_t product(const int32_t *dim, int count)
{
    int64_t all = 1;
    for (int i = 0; i < count; i++)
        all *= dim[i];
    return all;
}

/* Time stays an axis of its own, or several frames of it make a row; else it is gone. */
static tw_carry through_reshape(const tw_node *node, int axis)
{
    const tw_shape *in = &node->in[0]->shape, *out = &node->out[0]->shape;
    const int64_t before = product(in->dim, axis), rows = in->dim[axis];
    int found = -1;
    for (int k = 0; k < out->rank; k++)
        if (product(out->dim, k) == before && out->dim[k] == rows && (found < 0 || k <= axis))
            found = k;
    for (int k = 0; k < out->rank && rows == 1 && found <= 0; k++)
        if (out->dim[k] == 1) /* a single row is moved without moving an element */
            found = k;
    if (found >= 0)
        return row_by_row(found);
    for (int k = 0; k < out->rank; k++) {
        if (product(out->dim, k) != before || out->dim[k] < 2 || rows % out->dim[k] != 0)
            continue;
        const int64_t frames = rows / out->dim[k];
        return (tw_carry){
            .kind = TW_CARRY_ROWS, .axis = k, .stride = frames, .extent = frames, .pad = 0};
    }
    return whole_clip();
}

static tw_carry through_transpose(const tw_node *node, int axis)
{
    int32_t perm[TW_MAX_RANK];
    tw_perm_of(node, perm);
    for (int k = 0; k < node->out[0]->shape.rank; k++)
        if (perm[k] == axis)
            return row_by_row(k);
    return whole_clip();
}

static tw_carry through_slice(const tw_node *node, int axis)
{
    const tw_shape *in = &node->in[0]->shape;
    tw_slice_axis s;
    if (!tw_slice_resolve(node->attributes, in->rank, axis, in->dim[axis], &s) || s.step < 0)
        return not_so(axis, "reverses time");
    return (tw_carry){
        .kind = TW_CARRY_ROWS, .axis = axis, .stride = s.step, .extent = 1, .pad = -s.begin};
}

static tw_carry through_pad(const tw_node *node, int axis)
{
    const tw_pad_attributes *a = node->attributes;
    const int32_t before = tw_pad_before(a, axis), after = tw_pad_after(a, axis);
    tw_carry carry = row_by_row(axis);
    carry.pad = before;
    if (a->mode != TW_PAD_CONSTANT && (before || after)) {
        carry.kind = TW_CARRY_NOT;
        carry.why = a->mode == TW_PAD_EDGE || a->mode == TW_PAD_WRAP
                        ? "pads time with frames of the clip itself, which a stream has not"
                        : "pads time with its mirror image, which a stream has not";
    }
    return carry;
}

static tw_carry through_concat(const tw_node *node, int input, int axis)
{
    const tw_concat_attributes *a = node->attributes;
    tw_carry carry = row_by_row(axis);
    if (tw_axis(a->axis, node->out[0]->shape.rank) != axis)
        return carry;
    for (int i = 0; i < input; i++)
        carry.pad += node->in[i]->shape.dim[axis];
    return carry;
}

static tw_carry through_reduce(const tw_node *node, int axis)
{
    const tw_shape *in = &node->in[0]->shape;
    tw_reduction r;
    if (!tw_reduce_resolve(node->attributes, in->rank, in->dim, &r))
        return not_so(axis, "has axes that are not the operand's");
    return r.mask >> axis & 1 ? whole_clip() : row_by_row(r.out_axis[axis]);
}

static bool is_among(int code, const int *codes, int count)
{
    for (int i = 0; i < count; i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* Operators of which a row depends on rows as their row maps say, and not on which row it is. */
static bool goes_by_rows(const tw_node *node)
{
    static const int codes[] = {TW_OPCODE_conv,
                                TW_OPCODE_depthwise_conv,
                                TW_OPCODE_fully_connected,
                                TW_OPCODE_matmul,
                                TW_OPCODE_integer_matmul,
                                TW_OPCODE_conv3d,
                                TW_OPCODE_max_pool,
                                TW_OPCODE_average_pool,
                                TW_OPCODE_sum_pool,
                                TW_OPCODE_softmax,
                                TW_OPCODE_log_softmax,
                                TW_OPCODE_lrn,
                                TW_OPCODE_unit_normalize,
                                TW_OPCODE_lut,
                                TW_OPCODE_copy,
                                TW_OPCODE_identity,
                                TW_OPCODE_where,
                                TW_OPCODE_signal_window,
                                TW_OPCODE_signal_auto_scale,
                                TW_OPCODE_signal_rfft,
                                TW_OPCODE_signal_irfft,
                                TW_OPCODE_signal_energy,
                                TW_OPCODE_signal_filter_bank,
                                TW_OPCODE_signal_square_root,
                                TW_OPCODE_signal_log};
    return tw_is_unary(node) || tw_is_binary(node) || tw_is_norm(node) || tw_is_conversion(node) ||
           is_among(node->op->code, codes, (int)(sizeof codes / sizeof *codes));
}

/* Of one that runs through its operand's steps from the first to the last. */
static bool is_recurrent(const tw_node *node)
{
    return node->op->rows == tw_rows_steps;
}

static tw_carry by_row_map(const tw_node *node, int input, int axis)
{
    const tw_rowmap map = (node->op->rows ? node->op->rows : tw_rows_default)(node, input, axis);
    const int rank = node->out[0]->shape.rank;
    if (map.rows != TW_ROWS_MAPPED || axis >= rank)
        return tw_is_weighted(node) && axis < rank - 1 && node->out[0]->shape.dim[axis] > 1
                   ? not_so(axis, "scales all frames of the clip together")
                   : whole_clip();
    if (map.num != 1)
        return not_so(axis, "makes several rows of a frame");
    return (tw_carry){.kind = TW_CARRY_ROWS,
                      .axis = axis,
                      .stride = map.den,
                      .pad = -(int64_t)map.off2,
                      .extent = (int64_t)map.den - map.off2 - map.off};
}

static bool broadcasts(const tw_node *node)
{
    return tw_is_binary(node) || tw_is(node, TW_OPCODE_where);
}

static tw_carry through_layer(const tw_streaming *s, const tw_node *node, int input, int axis)
{
    const tw_layer_in_stream *layer = tw_stream_layer(s, node);
    if (input != 0 || axis != 1)
        return not_so(axis, "has time on another axis");
    if (layer && layer->why)
        return not_so(axis, layer->why);
    return layer ? row_by_row(axis) : whole_clip();
}

tw_carry tw_stream_carry(const tw_streaming *s, const tw_node *node, int input, int axis)
{
    if (is_recurrent(node) || !node->out[0])
        return through_layer(s, node, input, axis);
    const int rank = node->in[input]->shape.rank, more = node->out[0]->shape.rank - rank;
    if (broadcasts(node))
        return row_by_row(axis + more);
    if (tw_is_reduce(node))
        return through_reduce(node, axis);
    switch (node->op->code) {
    case TW_OPCODE_reshape: return through_reshape(node, axis);
    case TW_OPCODE_transpose: return through_transpose(node, axis);
    case TW_OPCODE_slice: return through_slice(node, axis);
    case TW_OPCODE_pad: return through_pad(node, axis);
    case TW_OPCODE_concat: return through_concat(node, input, axis);
    default: break;
    }
    if (!goes_by_rows(node))
        return not_so(axis, "is not known to go frame by frame");
    return by_row_map(node, input, axis);
}

/* ---- caches that a model carries by hand ---- */

/* What a value is before its axes are renamed, at most once. */
static const tw_value *behind_move(const tw_value *value, const tw_node **move)
{
    const tw_node *p = value->producer;
    *move = p && (tw_is(p, TW_OPCODE_transpose) || tw_is(p, TW_OPCODE_reshape)) ? p : NULL;
    return *move ? p->in[0] : value;
}

/* Does `back` undo `there`? Either may be absent. */
static bool undoes(const tw_node *there, const tw_node *back)
{
    int32_t a[TW_MAX_RANK], b[TW_MAX_RANK];
    if (!there || !back)
        return there == back;
    if (there->op != back->op || !tw_shape_equal(&there->in[0]->shape, &back->out[0]->shape))
        return false;
    if (tw_is(there, TW_OPCODE_reshape))
        return true;
    tw_perm_of(there, a);
    tw_perm_of(back, b);
    for (int k = 0; k < there->out[0]->shape.rank; k++)
        if (b[a[k]] != k)
            return false;
    return true;
}

/* Is it what the Concat has in its last rows, as many as the cache has? */
static bool is_tail(const tw_node *concat, int axis, const tw_value *value, const tw_node *there)
{
    const tw_node *back;
    const tw_value *cut = behind_move(value, &back);
    const tw_node *slice = cut->producer;
    tw_slice_axis s;
    if (!slice || !tw_is(slice, TW_OPCODE_slice) || slice->in[0] != concat->out[0] ||
        !undoes(there, back) || !tw_shape_equal(&cut->shape, &concat->in[0]->shape))
        return false;
    const int32_t rows = concat->out[0]->shape.dim[axis];
    return tw_slice_resolve(slice->attributes, cut->shape.rank, axis, rows, &s) && s.step == 1 &&
           s.begin + s.size == rows;
}

bool tw_stream_cache(const tw_graph *graph, const tw_node *concat, int axis, tw_cache *cache)
{
    const tw_node *there;
    const tw_value *root = behind_move(concat->in[0], &there);
    if (concat->in_count != 2)
        return false;
    for (int i = 0; i < graph->state_count; i++) {
        const tw_state *state = &graph->states[i];
        if (state->current == root && state->next && is_tail(concat, axis, state->next, there)) {
            *cache = (tw_cache){state->current, state->next};
            return true;
        }
    }
    for (int i = 0; root->is_input && i < graph->output_count; i++)
        if (is_tail(concat, axis, graph->outputs[i], there)) {
            *cache = (tw_cache){(tw_value *)(uintptr_t)root, graph->outputs[i]};
            return true;
        }
    return false;
}
