/* How a run ends: constants that are outputs are copied into memory, and so is what a state was when the
 * run began; states are written last. */
#include "plan/ends.h"

#include "base/diag.h"
#include "ops/op.h"

const tw_value *tw_view_root(const tw_value *v)
{
    while (v->producer && v->producer->op->kind == TW_VIEW)
        v = v->producer->in[0];
    return v;
}

static tw_value *copy_of(tw_graph *graph, tw_value *value, tw_diag *diag)
{
    tw_node *copy =
        tw_graph_node(graph, tw_op_by_name("Copy"), value->name, &value, 1, 1, NULL, NULL, diag);
    if (!copy)
        return NULL;
    copy->out[0]->quant = value->quant;
    copy->out[0]->is_output = true;
    return copy->out[0];
}

bool tw_own_outputs(tw_graph *graph, tw_diag *diag)
{
    for (int i = 0; i < graph->output_count; i++) {
        tw_value *out = graph->outputs[i];
        if (!tw_view_root(out)->data && !tw_view_root(out)->is_state)
            continue;
        tw_value *copy = copy_of(graph, out, diag);
        if (!copy)
            return false;
        const char *name = out->name;
        out->name = copy->name;
        copy->name = name; /* the output keeps its name */
        for (int k = i; k < graph->output_count; k++)
            if (graph->outputs[k] == out)
                graph->outputs[k] = copy;
    }
    return true;
}

int tw_state_written(const tw_graph *graph, const tw_value *value)
{
    for (int i = 0; value->is_output && i < graph->state_count; i++)
        if (graph->states[i].next == value)
            return i;
    return -1;
}

/* May the producer of `next` write it over `current`? Every reader of the old value must be done,
 * or be that very producer where it can work in place. */
static bool is_direct(const tw_graph *graph, int state, const int *last_reader)
{
    const tw_state *s = &graph->states[state];
    const tw_node *producer = s->next->producer;
    if (!producer || producer->op->kind == TW_VIEW ||
        tw_state_written(graph, s->next) != state) /* the first of two states that become it */
        return false;
    if (last_reader[state] < producer->index)
        return true;
    if (last_reader[state] > producer->index || !producer->op->in_place)
        return false;
    for (int i = 0; i < producer->in_count; i++)
        if (producer->in[i] && tw_view_root(producer->in[i]) == s->current &&
            !producer->op->in_place(producer, i))
            return false;
    return true;
}

static void find_last_readers(const tw_graph *graph, int *last_reader)
{
    for (int i = 0; i < graph->state_count; i++) {
        graph->states[i].current->index = i;
        last_reader[i] = -1;
    }
    for (int n = 0; n < graph->node_count; n++) {
        graph->nodes[n]->index = n;
        for (int i = 0; i < graph->nodes[n]->in_count; i++) {
            const tw_value *root =
                graph->nodes[n]->in[i] ? tw_view_root(graph->nodes[n]->in[i]) : NULL;
            if (root && root->is_state && graph->nodes[n]->op->kind != TW_VIEW)
                last_reader[root->index] = n;
        }
    }
}

bool tw_own_states(tw_graph *graph, tw_diag *diag)
{
    /* What becomes of one state by way of another is taken before either changes. */
    for (int i = 0; i < graph->state_count; i++) {
        tw_state *s = &graph->states[i];
        if (s->next && tw_view_root(s->next) == s->current)
            s->next = NULL;
        else if (s->next && tw_view_root(s->next)->is_state)
            s->next = copy_of(graph, s->next, diag);
        else
            continue;
        if (diag->code != TW_CODE_OK)
            return false;
    }
    int *last_reader = tw_alloc_array(graph->arena, (size_t)graph->state_count + 1, sizeof(int));
    find_last_readers(graph, last_reader);
    for (int i = 0; i < graph->state_count; i++) {
        tw_state *s = &graph->states[i];
        if (!s->next || is_direct(graph, i, last_reader))
            continue;
        s->next = copy_of(graph, s->next, diag);
        if (!s->next)
            return false;
    }
    return true;
}
