/* layout: choose in which order of axes every value is stored, so that transposes go.
 *
 * Importers of channels-first models put Transposes around operators that are defined channels last.
 * Each operator that works in any order (element-wise, concatenation, reductions, ...) may take the
 * order of its neighbours instead; a Transpose then only renames axes and disappears. Where the
 * ends of a tensor disagree, its bytes must be moved. This file draws the graph as places and
 * weighted edges, choose.c finds the choice that moves fewest bytes by minimum cuts, apply.c
 * rewrites the graph. Constants cost nothing: they are permuted once, by fold.
 *
 * With io_layout keep, graph inputs and outputs have the model's order and transposes remain at
 * them; with nhwc they are places with a choice between the model's order and channels last.
 *
 * Exact, but for reductions over several axes, which may sum in another order. */
#include "normalize/layout/layout.h"

#include <string.h>

tw_order tw_place_gives(const tw_place *place, const tw_value *value, int candidate)
{
    tw_order result;
    if (place->carry == TW_CARRY_FIXED)
        return tw_order_identity(value->shape.rank);
    if (!place->node)
        return place->space[candidate];
    tw_order_of_result(place->node, place->carry, &place->space[candidate], &result);
    return result;
}

tw_order tw_place_wants(const tw_place *place, int operand, int candidate)
{
    if (!place->node)
        return place->carry == TW_CARRY_FIXED ? tw_order_identity(place->value->shape.rank)
                                              : place->space[candidate];
    return tw_order_of_operand(place->node, place->carry, operand, &place->space[candidate]);
}

/* ---- places ---- */

static int add_place(tw_layout *layout, tw_place_kind kind, tw_carry carry, tw_node *node,
                     tw_value *value)
{
    tw_grow(layout->arena, &layout->places, layout->place_count, &layout->place_capacity,
            sizeof *layout->places);
    tw_place *place = &layout->places[layout->place_count];
    *place = (tw_place){.kind = kind, .carry = carry, .node = node, .value = value};
    place->component = -1;
    return layout->place_count++;
}

/* Is the value read by fully connected layers of constant weights only, as their x? */
static bool feeds_layers_only(const tw_uses *uses, const tw_value *value)
{
    for (int i = uses->first[value->index]; i < uses->first[value->index + 1]; i++) {
        const tw_node *reader = uses->readers[i];
        if (!tw_is(reader, TW_OPCODE_fully_connected) || reader->in[0] != value ||
            !tw_constant_behind(reader->in[1]) || reader->in[1] == value)
            return false;
    }
    return !value->is_output && tw_use_count(uses, value) > 0;
}

static void add_node_places(tw_layout *layout, const tw_uses *uses)
{
    tw_graph *graph = layout->graph;
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        bool flatten = tw_is(node, TW_OPCODE_reshape) && feeds_layers_only(uses, node->out[0]);
        add_place(layout, TW_PLACE_NODE, tw_carry_of(node, flatten), node, NULL);
    }
}

/* A value is stored outside in one order: an output that repeats another or is an input shares its
 * place. */
static void add_outside_places(tw_layout *layout)
{
    tw_graph *graph = layout->graph;
    tw_arena *arena = layout->arena;
    tw_carry boundary = layout->free_io ? TW_CARRY_ELEMENTWISE : TW_CARRY_FIXED;
    int *known = tw_alloc_array(arena, (size_t)graph->value_count + 1, sizeof(int)); /* place + 1 */
    layout->input_place = tw_alloc_array(arena, (size_t)graph->input_count + 1, sizeof(int));
    layout->output_place = tw_alloc_array(arena, (size_t)graph->output_count + 1, sizeof(int));
    layout->state_place = tw_alloc_array(arena, (size_t)graph->state_count + 1, sizeof(int));
    for (int i = 0; i < graph->input_count; i++) {
        int place = add_place(layout, TW_PLACE_INPUT, boundary, NULL, graph->inputs[i]);
        layout->input_place[i] = place;
        known[graph->inputs[i]->index] = place + 1;
    }
    for (int i = 0; i < graph->output_count; i++) {
        int *place = &known[graph->outputs[i]->index];
        if (*place == 0)
            *place = 1 + add_place(layout, TW_PLACE_OUTPUT, boundary, NULL, graph->outputs[i]);
        layout->output_place[i] = *place - 1;
    }
    /* Nobody outside looks at the order of a state, unless it has initial data or is an output. */
    for (int i = 0; i < graph->state_count; i++) {
        tw_value *current = graph->states[i].current;
        bool seen = graph->states[i].initial || current->is_output;
        layout->state_place[i] = add_place(
            layout, TW_PLACE_STATE, seen ? TW_CARRY_FIXED : TW_CARRY_ELEMENTWISE, NULL, current);
    }
}

/* ---- edges ---- */

static void add_edge(tw_layout *layout, int from, int to, int operand, tw_value *value)
{
    const tw_place *source = &layout->places[from], *target = &layout->places[to];
    if (source->carry == TW_CARRY_FIXED && target->carry == TW_CARRY_FIXED)
        return;
    tw_grow(layout->arena, &layout->edges, layout->edge_count, &layout->edge_capacity,
            sizeof *layout->edges);
    tw_edge *edge = &layout->edges[layout->edge_count++];
    *edge = (tw_edge){from, to, operand, value, 0};
    /* At the boundary an element counts as a byte, and a little less, so that what must be transposed
     * is transposed there and not further in. */
    bool boundary = source->kind == TW_PLACE_INPUT || target->kind == TW_PLACE_OUTPUT;
    edge->weight = boundary ? tw_shape_elements(&value->shape) * TW_BYTE_COST - TW_RESHAPE_COST
                            : (int64_t)tw_shape_bytes(&value->shape) * TW_BYTE_COST;
    if (edge->weight < TW_RESHAPE_COST)
        edge->weight = TW_RESHAPE_COST;
}

/* By value: the place that produces it (-1: a constant) and how many places read it. */
typedef struct ends {
    int *producer, *readers;
} ends;

static ends find_ends(tw_layout *layout)
{
    tw_graph *graph = layout->graph;
    size_t values = (size_t)graph->value_count + 1;
    ends e = {tw_alloc_array(layout->arena, values, sizeof(int)),
              tw_alloc_array(layout->arena, values, sizeof(int))};
    for (int v = 0; v < graph->value_count; v++)
        e.producer[v] = -1;
    for (int i = 0; i < graph->input_count; i++)
        e.producer[graph->inputs[i]->index] = layout->input_place[i];
    for (int i = 0; i < graph->state_count; i++) {
        e.producer[graph->states[i].current->index] = layout->state_place[i];
        if (graph->states[i].next)
            e.readers[graph->states[i].next->index]++;
    }
    for (int n = 0; n < graph->node_count; n++) {
        for (int i = 0; i < graph->nodes[n]->out_count; i++)
            if (graph->nodes[n]->out[i])
                e.producer[graph->nodes[n]->out[i]->index] = n;
        for (int i = 0; i < graph->nodes[n]->in_count; i++)
            if (graph->nodes[n]->in[i])
                e.readers[graph->nodes[n]->in[i]->index]++;
    }
    for (int i = 0; i < graph->output_count; i++)
        e.readers[graph->outputs[i]->index]++;
    return e;
}

static void connect(tw_layout *layout, const ends *e, tw_value *value, int to, int operand)
{
    if (value && e->producer[value->index] >= 0)
        add_edge(layout, e->producer[value->index], to, operand, value);
}

static void add_edges(tw_layout *layout)
{
    tw_graph *graph = layout->graph;
    ends e = find_ends(layout);
    for (int v = 0; v < graph->value_count; v++)
        if (e.producer[v] >= 0 && e.readers[v] > 1) {
            tw_value *value = graph->values[v];
            int copy = add_place(layout, TW_PLACE_COPY, TW_CARRY_ELEMENTWISE, NULL, value);
            connect(layout, &e, value, copy, 0);
            e.producer[v] = copy;
        }
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->in_count; i++)
            connect(layout, &e, graph->nodes[n]->in[i], n, i);
    for (int i = 0; i < graph->output_count; i++)
        if (layout->places[layout->output_place[i]].kind == TW_PLACE_OUTPUT)
            connect(layout, &e, graph->outputs[i], layout->output_place[i], 0);
    for (int i = 0; i < graph->state_count; i++)
        connect(layout, &e, graph->states[i].next, layout->state_place[i], 0);
}

static void index_edges(tw_layout *layout)
{
    int at = 0;
    for (int e = 0; e < layout->edge_count; e++) {
        layout->places[layout->edges[e].from].edges++;
        layout->places[layout->edges[e].to].edges++;
    }
    for (int p = 0; p < layout->place_count; p++) {
        layout->places[p].first_edge = at;
        at += layout->places[p].edges;
        layout->places[p].edges = 0;
    }
    layout->incident = tw_alloc_array(layout->arena, (size_t)at + 1, sizeof(int));
    for (int e = 0; e < layout->edge_count; e++)
        for (int end = 0; end < 2; end++) {
            tw_place *p = &layout->places[end ? layout->edges[e].to : layout->edges[e].from];
            layout->incident[p->first_edge + p->edges++] = e;
        }
}

bool tw_pass_layout(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    tw_arena *arena = tw_arena_new();
    tw_layout layout = {.graph = graph, .arena = arena};
    layout.free_io = options->io_layout == TW_IO_NHWC;
    tw_uses uses = tw_graph_uses(graph, arena);
    add_node_places(&layout, &uses);
    add_outside_places(&layout);
    add_edges(&layout);
    index_edges(&layout);
    tw_layout_choose(&layout);
    bool ok = tw_layout_apply(&layout, diag);
    tw_arena_free(arena);
    return ok && tw_graph_sweep(graph, diag);
}
