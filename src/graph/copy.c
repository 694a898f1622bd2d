/* A graph that may be changed while the other stays as it is. In: a graph without bodies. Out: values and nodes of
 * its own, which share attributes and constant elements with those of the other. */
#include "graph/graph.h"

typedef struct tw_copier {
    const tw_graph *from;
    tw_graph *to;
} tw_copier;

static tw_value *value_of(const tw_copier *c, const tw_value *value)
{
    return value ? c->to->values[value->index] : NULL;
}

static tw_value **values_of(const tw_copier *c, tw_value *const *values, int count)
{
    tw_value **own = tw_alloc_array(c->to->arena, (size_t)count + 1, sizeof(tw_value *));
    for (int i = 0; i < count; i++)
        own[i] = value_of(c, values[i]);
    return own;
}

static void copy_values(tw_copier *c)
{
    const int count = c->from->value_count;
    c->to->values = tw_alloc_array(c->to->arena, (size_t)count + 1, sizeof(tw_value *));
    for (int v = 0; v < count; v++) {
        tw_value *value = c->from->values[v];
        value->index = v;
        c->to->values[v] = tw_copy(c->to->arena, value, sizeof *value);
        c->to->values[v]->name = tw_unique_name(c->to, value->name);
    }
    for (int v = 0; v < count; v++) {
        tw_value *value = c->to->values[v];
        value->into = value_of(c, value->into);
        value->producer = NULL;
        value->forward = NULL;
    }
    c->to->value_count = c->to->value_capacity = count;
}

static void copy_nodes(tw_copier *c)
{
    const int count = c->from->node_count;
    c->to->nodes = tw_alloc_array(c->to->arena, (size_t)count + 1, sizeof(tw_node *));
    for (int n = 0; n < count; n++) {
        c->from->nodes[n]->index = n;
        tw_node *node = tw_copy(c->to->arena, c->from->nodes[n], sizeof *node);
        node->name = tw_strdup(c->to->arena, node->name);
        node->in = values_of(c, node->in, node->in_count);
        node->out = values_of(c, node->out, node->out_count);
        for (int i = 0; i < node->out_count; i++)
            if (node->out[i])
                node->out[i]->producer = node;
        c->to->nodes[n] = node;
    }
    for (int n = 0; n < count; n++)
        if (c->to->nodes[n]->again)
            c->to->nodes[n]->again = c->to->nodes[c->to->nodes[n]->again->index];
    c->to->node_count = c->to->node_capacity = count;
}

tw_graph *tw_graph_copy(const tw_graph *graph, tw_arena *arena)
{
    tw_copier c = {graph, tw_graph_new(arena, graph->name)};
    void *names = c.to->names;
    *c.to = *graph;
    c.to->arena = arena;
    c.to->names = names;
    copy_values(&c);
    copy_nodes(&c);
    c.to->inputs = values_of(&c, graph->inputs, graph->input_count);
    c.to->input_capacity = graph->input_count;
    c.to->outputs = values_of(&c, graph->outputs, graph->output_count);
    c.to->output_capacity = graph->output_count;
    c.to->states = tw_alloc_array(arena, (size_t)graph->state_count + 1, sizeof *c.to->states);
    for (int i = 0; i < graph->state_count; i++)
        c.to->states[i] = (tw_state){value_of(&c, graph->states[i].current),
                                     value_of(&c, graph->states[i].next), graph->states[i].initial};
    c.to->state_capacity = graph->state_count;
    return c.to;
}
