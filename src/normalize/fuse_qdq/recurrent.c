/* A recurrent layer between Dequantize and Quantize becomes the int8 layer. See qdq.h.
 *
 * The hidden state, which is the result of every step, has the scale of what the Quantize behind the layer makes;
 * the cell has 16 bits, in the scale that the model stores it with where that is a power of two. All results
 * are dequantised again for their readers; pairs that this makes are for tw_qdq_pairs. */
#include <string.h>

#include "normalize/fuse_qdq/qdq.h"
#include "ops/quantize.h"
#include "ops/recurrent.h"
#include "ops/recurrent_s8.h"

static bool is_layer(const tw_node *node)
{
    return tw_is(node, TW_OPCODE_rnn) || tw_is(node, TW_OPCODE_gru) ||
           tw_is(node, TW_OPCODE_peephole_lstm);
}

static tw_value *operand(const tw_node *node, int i)
{
    return i < node->in_count ? node->in[i] : NULL;
}

/* The Quantize that reads a value, or null: there is none, or several things read it. Values count their
 * readers. */
static const tw_node *only_quantize(const tw_graph *graph, const tw_value *value)
{
    if (!value || value->index != 1 || value->is_output)
        return NULL;
    for (int n = 0; n < graph->node_count; n++) {
        const tw_node *node = graph->nodes[n];
        if (tw_is(node, TW_OPCODE_quantize) && !node->removed && node->in[0] == value)
            return node->out[0]->quant.count == 1 ? node : NULL;
    }
    return NULL;
}

/* The scale of the hidden state: what all results are stored as, or else the last one. Null: floats are
 * read from the layer. */
static const tw_quant *hidden_quant(const tw_graph *graph, const tw_node *node)
{
    const tw_value *last = node->out_count > 1 ? node->out[1] : NULL;
    const bool reads_all = node->out[0]->index > 0;
    const tw_node *quantize = only_quantize(graph, reads_all ? node->out[0] : last);
    return quantize && quantize->out[0]->shape.dtype == TW_S8 ? &quantize->out[0]->quant : NULL;
}

static bool may_hold_cell(const tw_value *stored)
{
    return stored && stored->shape.dtype == TW_S16 && stored->quant.count == 1 &&
           stored->quant.zero_point[0] == 0 && tw_is_cell_scale(stored->quant.scale[0]);
}

static float cell_scale(const tw_graph *graph, const tw_node *node)
{
    const tw_value *c0 = operand(node, TW_RECURRENT_C0);
    const tw_node *quantize = only_quantize(graph, node->out_count > 2 ? node->out[2] : NULL);
    if (c0 && tw_is(c0->producer, TW_OPCODE_dequantize) && may_hold_cell(c0->producer->in[0]))
        return c0->producer->in[0]->quant.scale[0];
    return quantize && may_hold_cell(quantize->out[0]) ? quantize->out[0]->quant.scale[0]
                                                       : TW_RECURRENT_CELL_SCALE;
}

/* A float value as it is stored: behind its Dequantize where that is the same, else by a Quantize. */
static bool store(tw_graph *graph, tw_value **value, tw_dtype dtype, const tw_quant *quant,
                  tw_diag *diag)
{
    if (!*value)
        return true;
    const tw_node *d = (*value)->producer;
    if (tw_is(d, TW_OPCODE_dequantize) && d->in[0]->shape.dtype == dtype &&
        tw_quant_equal(&d->in[0]->quant, quant)) {
        *value = d->in[0];
        return true;
    }
    tw_quantize_attributes a;
    tw_attributes_default(tw_op_by_code(TW_OPCODE_quantize), &a);
    a.dtype = (int32_t)dtype;
    tw_node *node = tw_append(graph, TW_OPCODE_quantize, (*value)->name, value, 1, &a, diag);
    if (!node)
        return false;
    node->out[0]->quant = *quant;
    *value = node->out[0];
    return true;
}

/* Output i is stored; who reads the float reads it dequantised. */
static bool store_result(tw_graph *graph, tw_node *node, int i, const tw_quant *quant,
                         tw_diag *diag)
{
    if (i >= node->out_count || !node->out[i])
        return true;
    tw_value *real = node->out[i];
    tw_shape shape = real->shape;
    shape.dtype = i == 2 ? TW_S16 : TW_S8;
    tw_value *stored = tw_graph_value(graph, real->name, shape);
    stored->quant = *quant;
    stored->producer = node;
    node->out[i] = stored;
    tw_node *after = tw_append(graph, TW_OPCODE_dequantize, node->name, &stored, 1, NULL, diag);
    if (!after)
        return false;
    tw_set_output(after, real);
    return true;
}

/* The operands as an int8 layer has them; false: some are not stored. */
static bool stored_operands(tw_graph *graph, tw_node *node)
{
    node->in[0] = tw_qdq_stored_tensor(node->in[0]);
    if (!node->in[0])
        return false;
    for (int i = TW_RECURRENT_W; i <= TW_RECURRENT_R; i++) {
        const int axis = node->in[i]->shape.dim[0] == 1;
        node->in[i] = tw_qdq_stored_weights(graph, node->in[i], axis);
        if (!node->in[i])
            return false;
    }
    return true;
}

/* Would a kernel take it? Tried on a node that stands in no graph. */
static bool is_possible(const tw_node *node, const tw_quant *hidden, const tw_quant *cell)
{
    tw_node trial = *node;
    tw_value in[TW_RECURRENT_OPERANDS], out[3], *in_at[TW_RECURRENT_OPERANDS], *out_at[3];
    for (int i = 0; i < node->in_count; i++) {
        in_at[i] = node->in[i];
        if (!node->in[i] || (i != TW_RECURRENT_H0 && i != TW_RECURRENT_C0))
            continue;
        in[i] = *node->in[i];
        in[i].shape.dtype = i == TW_RECURRENT_H0 ? TW_S8 : TW_S16;
        in[i].quant = i == TW_RECURRENT_H0 ? *hidden : *cell;
        in_at[i] = &in[i];
    }
    for (int i = 0; i < node->out_count; i++) {
        out_at[i] = node->out[i];
        if (!node->out[i])
            continue;
        out[i] = *node->out[i];
        out[i].shape.dtype = i == 2 ? TW_S16 : TW_S8;
        out[i].quant = i == 2 ? *cell : *hidden;
        out_at[i] = &out[i];
    }
    trial.in = in_at;
    trial.out = out_at;
    return tw_has_kernel(&trial);
}

static bool make_int8(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    const tw_quant *hidden = hidden_quant(graph, node);
    if (!hidden || node->in[0]->shape.dtype != TW_F32)
        return true;
    const tw_quant cell = tw_quant_per_tensor(graph->arena, cell_scale(graph, node), 0);
    tw_value **old_in = node->in;
    node->in = tw_copy(graph->arena, old_in, sizeof *old_in * (size_t)node->in_count);
    if (!stored_operands(graph, node) || !is_possible(node, hidden, &cell)) {
        node->in = old_in;
        return true;
    }
    for (int i = TW_RECURRENT_H0; i <= TW_RECURRENT_C0 && i < node->in_count; i++)
        if (!store(graph, &node->in[i], i == TW_RECURRENT_H0 ? TW_S8 : TW_S16,
                   i == TW_RECURRENT_H0 ? hidden : &cell, diag))
            return false;
    return store_result(graph, node, 0, hidden, diag) &&
           store_result(graph, node, 1, hidden, diag) && store_result(graph, node, 2, &cell, diag);
}

bool tw_qdq_recurrent(tw_graph *graph, tw_diag *diag)
{
    const int count = graph->node_count;
    bool any = false;
    tw_count_reads(graph);
    for (int n = 0; n < count; n++) {
        if (!is_layer(graph->nodes[n]))
            continue;
        any = true;
        if (!make_int8(graph, graph->nodes[n], diag))
            return false;
    }
    return !any || (tw_graph_sweep(graph, diag) && tw_qdq_pairs(graph, diag));
}
