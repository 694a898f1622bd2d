/* Recurrent layers in a stream that has real history. In a clip a layer begins anew; where earlier frames stand
 * in place of zeros, what it knew of them stands in place of its first state. In: a graph whose time has been
 * followed. Out: each layer over time reads states and makes the next ones, its last result is the last row of
 * all its results, and so it goes frame by frame. */
#include <string.h>

#include "base/diag.h"
#include "ops/lstm_full.h"
#include "ops/recurrent.h"
#include "ops/slice.h"
#include "ops/view.h"
#include "stream/flow.h"

/* Where operands stand; -1: there is none such. */
typedef struct tw_layer_operands {
    int code, lengths, h, c;
} tw_layer_operands;

static const tw_layer_operands layers[] = {
    {TW_OPCODE_lstm, -1, 4, 5},
    {TW_OPCODE_lstm_full, -1, TW_LSTM_FULL_H, TW_LSTM_FULL_C},
    {TW_OPCODE_rnn, TW_RECURRENT_LENGTHS, TW_RECURRENT_H0, -1},
    {TW_OPCODE_gru, TW_RECURRENT_LENGTHS, TW_RECURRENT_H0, -1},
    {TW_OPCODE_peephole_lstm, TW_RECURRENT_LENGTHS, TW_RECURRENT_H0, TW_RECURRENT_C0},
};

static const tw_layer_operands *operands_of(const tw_node *node)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (tw_is(node, layers[i].code))
            return &layers[i];
    return NULL;
}

tw_layer_in_stream *tw_stream_layer(const tw_streaming *s, const tw_node *node)
{
    for (int i = 0; i < s->layer_count; i++)
        if (s->layers[i].node == node)
            return &s->layers[i];
    return NULL;
}

/* ---- may it? ---- */

static const tw_value *operand(const tw_node *node, int i)
{
    return i >= 0 && i < node->in_count ? node->in[i] : NULL;
}

static bool is_read(const tw_graph *graph, const tw_value *value)
{
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->in_count; i++)
            if (graph->nodes[n]->in[i] == value)
                return true;
    return value->is_output;
}

/* Why a layer cannot go on where it ended; null: it can. */
static const char *hindrance(const tw_graph *graph, const tw_node *node, const tw_layer_operands *o)
{
    const tw_value *h = operand(node, o->h), *c = operand(node, o->c);
    if (operand(node, o->lengths))
        return "has a length of its own for every clip, which a stream has not";
    if ((h && !h->data) || (c && !c->data))
        return "begins from a state that is computed or given, not known beforehand";
    if (node->out_count > 2 && node->out[2] && is_read(graph, node->out[2]))
        return "gives the last cell of the clip";
    return NULL;
}

/* ---- states ---- */

static void give_operand(tw_arena *arena, tw_node *node, int at, tw_value *value)
{
    if (at >= node->in_count) {
        tw_value **in = tw_alloc_array(arena, (size_t)at + 1, sizeof(tw_value *));
        memcpy(in, node->in, sizeof(tw_value *) * (size_t)node->in_count);
        node->in = in;
        node->in_count = at + 1;
    }
    node->in[at] = value;
}

/* The node's output `at`, made where nobody has read it yet. */
static tw_value *take_output(tw_graph *g, tw_node *node, int at, tw_shape shape, tw_quant quant)
{
    if (at >= node->out_count) {
        tw_value **out = tw_alloc_array(g->arena, (size_t)at + 1, sizeof(tw_value *));
        memcpy(out, node->out, sizeof(tw_value *) * (size_t)node->out_count);
        node->out = out;
        node->out_count = at + 1;
    }
    if (!node->out[at]) {
        node->out[at] = tw_graph_value(g, node->name, shape);
        node->out[at]->producer = node;
        node->out[at]->quant = quant;
    }
    return node->out[at];
}

/* What a state holds at first: a constant operand, or what stands for zero; null: zero bytes. */
static const void *beginning(tw_arena *arena, const tw_value *given, const tw_value *like)
{
    if (given)
        return given->data;
    if (like->shape.dtype != TW_S8 || like->quant.count != 1)
        return NULL;
    const size_t bytes = tw_shape_bytes(&like->shape);
    int8_t *zeros = tw_alloc(arena, bytes + 1);
    memset(zeros, like->quant.zero_point[0], bytes);
    return zeros;
}

/* Output `out` becomes what operand `at` is in the next run. */
static bool keep(tw_streaming *s, tw_node *node, int at, tw_value *out, const char *what,
                 tw_kept *kept)
{
    kept->initial = beginning(s->arena, operand(node, at), out);
    kept->current = tw_graph_state(s->graph, tw_format(s->arena, "%s/%s", node->name, what),
                                   out->shape, kept->initial);
    kept->current->quant = out->quant;
    give_operand(s->graph->arena, node, at, kept->current);
    return tw_graph_state_next(s->graph, kept->current, out, s->diag);
}

/* What was the layer's last result becomes the last of all its results. */
static bool read_last(tw_streaming *s, tw_node *node)
{
    tw_value *all = node->out[0], *last = node->out[1];
    const tw_shape shape = last->shape;
    tw_slice_attributes a;
    tw_attributes_default(tw_op_by_code(TW_OPCODE_slice), &a);
    a.begin.count = a.size.count = 3;
    for (int k = 0; k < 3; k++) {
        a.begin.v[k] = k == 1 ? all->shape.dim[1] - 1 : 0;
        a.size.v[k] = k == 1 ? 1 : all->shape.dim[k];
    }
    tw_node *slice = tw_append(s->graph, TW_OPCODE_slice, node->name, &all, 1, &a, s->diag);
    if (!slice)
        return false;
    slice->spelling = node->spelling;
    tw_value *row = tw_append_reshape(s->graph, node->name, slice->out[0], &shape, s->diag);
    if (!row)
        return false;
    node->out[1] = NULL;
    tw_set_output(row->producer, last);
    return true;
}

static bool carry_layer(tw_streaming *s, tw_node *node, const tw_layer_operands *o,
                        tw_layer_in_stream *layer)
{
    const tw_shape *x = &node->in[0]->shape;
    const int32_t outputs = node->in[2]->shape.dim[2];
    const int32_t cells = o->lengths >= 0 ? outputs : node->in[2]->shape.dim[1];
    const int32_t batch = x->dim[0];
    const bool reads_last = node->out_count > 1 && node->out[1];
    const tw_quant of_y = node->out[0] ? node->out[0]->quant
                          : reads_last ? node->out[1]->quant
                                       : (tw_quant){0};
    const tw_value *c0 = operand(node, o->c);
    take_output(s->graph, node, 0, tw_shape_of(x->dtype, 3, (int32_t[]){batch, x->dim[1], outputs}),
                of_y);
    if (reads_last && !read_last(s, node))
        return false;
    tw_value *h =
        take_output(s->graph, node, 1, tw_shape_of(x->dtype, 2, (int32_t[]){batch, outputs}), of_y);
    if (o->c >= 0) {
        const tw_shape cell =
            tw_shape_of(x->dtype == TW_F32 ? TW_F32 : TW_S16, 2, (int32_t[]){batch, cells});
        tw_value *c = take_output(s->graph, node, 2, cell, c0 ? c0->quant : (tw_quant){0});
        if (!keep(s, node, o->c, c, "c", &layer->kept[1]))
            return false;
    }
    return keep(s, node, o->h, h, "h", &layer->kept[0]);
}

bool tw_stream_carry_layers(tw_streaming *s, bool *changed)
{
    const int count = s->graph->node_count;
    *changed = false;
    for (int n = 0; n < count; n++) {
        tw_node *node = s->graph->nodes[n];
        const tw_layer_operands *o = operands_of(node);
        if (!o || tw_stream_layer(s, node))
            continue;
        const tw_flow *flow = tw_flow_of(s, node->in[0]);
        if (flow->kind != TW_FLOW_ROWS || flow->axis != 1)
            continue;
        tw_grow(s->arena, &s->layers, s->layer_count, &s->layer_capacity, sizeof *s->layers);
        tw_layer_in_stream *layer = &s->layers[s->layer_count++];
        *layer = (tw_layer_in_stream){.node = node, .why = hindrance(s->graph, node, o)};
        *changed = true;
        if (!layer->why && !carry_layer(s, node, o, layer))
            return false;
    }
    return !*changed || tw_graph_sweep(s->graph, s->diag);
}

/* ---- the first run ---- */

/* What a state becomes: `next` from the run on that is ready, what it held at first before. */
static bool hold(tw_streaming *s, const tw_kept *kept, tw_value *ready)
{
    tw_graph *g = s->graph;
    tw_state *state = NULL;
    for (int i = 0; i < g->state_count; i++)
        if (g->states[i].current == kept->current)
            state = &g->states[i];
    if (!state)
        return true;
    const tw_value *like = state->next;
    const void *data =
        kept->initial ? kept->initial : tw_alloc(g->arena, tw_shape_bytes(&like->shape) + 1);
    tw_value *begin = tw_graph_constant(g, kept->current->name, like->shape, data);
    begin->quant = like->quant;
    tw_node *node =
        tw_append(g, TW_OPCODE_where, tw_format(s->arena, "%s/begin", kept->current->name),
                  (tw_value *[]){ready, state->next, begin}, 3, NULL, s->diag);
    if (!node)
        return false;
    node->out[0]->quant = like->quant;
    state->next->is_output = false;
    for (int i = 0; i < g->output_count; i++)
        state->next->is_output |= g->outputs[i] == state->next;
    state->next = node->out[0];
    node->out[0]->is_output = true;
    return true;
}

bool tw_stream_begin_layers(tw_streaming *s)
{
    for (int i = 0; i < s->layer_count; i++) {
        tw_layer_in_stream *layer = &s->layers[i];
        tw_value *ready;
        if (layer->why || layer->runs <= 0)
            continue;
        ready = tw_stream_countdown(s, layer->runs);
        for (int k = 0; k < 2; k++)
            if (layer->kept[k].current && (!ready || !hold(s, &layer->kept[k], ready)))
                return false;
    }
    return true;
}
