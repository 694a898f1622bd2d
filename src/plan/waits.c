/* The order of what waits. In: a graph with Await nodes, whose states and outputs have memory of their
 * own. Out: the same nodes, those of each level behind the Awaits that open it. A node's level is the
 * number of Awaits on the longest way to it.
 *
 * What must hold: what a level leaves undone, no earlier level looks at. So a state that is written
 * on a lower level than it is read is read from a copy. Awaits of one level stand side by side: what is
 * behind them waits for all. */
#include "base/diag.h"
#include "ops/ledger.h"
#include "plan/control.h"
#include "plan/ends.h"

typedef struct tw_waits {
    tw_graph *graph;
    int *level; /* by node->index */
    int levels;
    tw_diag *diag;
} tw_waits;

static bool is_await(const tw_node *node)
{
    return node->op->code == TW_OPCODE_await;
}

static int level_of(const tw_waits *w, const tw_value *v)
{
    return v->producer ? w->level[v->producer->index] : 0;
}

static bool number_levels(tw_waits *w)
{
    tw_graph *g = w->graph;
    w->level = tw_alloc_array(g->arena, (size_t)g->node_count + 1, sizeof *w->level);
    w->levels = 0;
    for (int n = 0; n < g->node_count; n++) {
        tw_node *node = g->nodes[n];
        int level = 0;
        node->index = n;
        for (int i = 0; i < node->in_count; i++)
            if (node->in[i] && level_of(w, node->in[i]) > level)
                level = level_of(w, node->in[i]);
        w->level[n] = level + is_await(node);
        w->levels = w->level[n] > w->levels ? w->level[n] : w->levels;
    }
    return w->levels > 0;
}

static tw_value *copy_before(tw_waits *w, const tw_node *position, tw_value *value)
{
    const tw_opdef *op = tw_op_by_code(TW_OPCODE_copy);
    tw_node *copy =
        position
            ? tw_graph_node_before(w->graph, position, op, value->name, &value, 1, 1, NULL, w->diag)
            : tw_graph_node(w->graph, op, value->name, &value, 1, 1, NULL, NULL, w->diag);
    if (!copy)
        return NULL;
    copy->out[0]->quant = value->quant;
    return copy->out[0];
}

/* ---- states ---- */

/* Nodes that read the state itself (or a view of it) on a level above `level` read `copy` (null: are
 * counted only). */
static int readers_above(const tw_waits *w, tw_value *current, int level, tw_value *copy)
{
    int found = 0;
    for (int n = 0; n < w->graph->node_count; n++) {
        tw_node *node = w->graph->nodes[n];
        for (int i = 0; i < node->in_count; i++) {
            if (!node->in[i] || tw_view_root(node->in[i]) != current ||
                w->level[node->index] <= level)
                continue;
            found++;
            if (copy && node->in[i] == current)
                node->in[i] = copy;
        }
    }
    return found;
}

static bool copy_early_states(tw_waits *w)
{
    tw_graph *g = w->graph;
    for (int i = 0; i < g->state_count; i++) {
        tw_value *current = g->states[i].current;
        if (!g->states[i].next || !g->states[i].next->producer)
            continue;
        const int level = level_of(w, g->states[i].next);
        if (!readers_above(w, current, level, NULL))
            continue;
        tw_value *copy = copy_before(w, g->nodes[0], current);
        if (!copy)
            return false;
        (void)number_levels(w);
        (void)readers_above(w, current, level, copy);
    }
    return true;
}

/* ---- outputs ---- */

/* An output is a value of the last level that no state shares. */
static bool keep_outputs(tw_waits *w)
{
    tw_graph *g = w->graph;
    for (int i = 0; i < g->output_count; i++) {
        tw_value *out = g->outputs[i], *root = (tw_value *)(uintptr_t)tw_view_root(out);
        if (root->producer && !is_await(root->producer) && level_of(w, root) == w->levels &&
            tw_state_written(g, root) < 0)
            continue;
        tw_value *copy = copy_before(w, NULL, out);
        if (!copy)
            return false;
        const char *name = out->name;
        out->name = copy->name;
        copy->name = name;
        copy->is_output = true;
        bool is_next = false;
        for (int k = 0; k < g->state_count; k++)
            is_next |= g->states[k].next == out;
        out->is_output = is_next;
        for (int k = i; k < g->output_count; k++)
            if (g->outputs[k] == out)
                g->outputs[k] = copy;
    }
    return true;
}

/* ---- the story ---- */

/* `outputs`: nodes from here on are copies to outputs, of the last level whatever they read. */
static void sort(tw_waits *w, int outputs)
{
    tw_graph *g = w->graph;
    tw_node **nodes = tw_copy(g->arena, g->nodes, sizeof *nodes * (size_t)g->node_count);
    int count = 0;
    for (int n = outputs; n < g->node_count; n++)
        w->level[nodes[n]->index] = w->levels;
    for (int level = 0; level <= w->levels; level++)
        for (int awaits = 1; awaits >= 0; awaits--)
            for (int n = 0; n < g->node_count; n++)
                if (w->level[nodes[n]->index] == level && is_await(nodes[n]) == (awaits == 1))
                    g->nodes[count++] = nodes[n];
}

static bool has_inner(const tw_graph *body)
{
    for (int n = 0; n < body->node_count; n++) {
        if (is_await(body->nodes[n]))
            return true;
        for (int i = 0; i < body->nodes[n]->op->bodies; i++)
            if (has_inner(body->nodes[n]->body[i]))
                return true;
    }
    return false;
}

bool tw_order_waits(tw_graph *graph, tw_diag *diag)
{
    tw_waits w = {.graph = graph, .diag = diag};
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->op->bodies; i++)
            if (has_inner(graph->nodes[n]->body[i]))
                return tw_fail(diag, TW_CODE_UNSUPPORTED, graph->nodes[n]->name, "Await",
                               "it stands in the body of a branch or loop; a run waits as a whole");
    if (!number_levels(&w))
        return true;
    if (!copy_early_states(&w))
        return false;
    const int outputs = graph->node_count;
    if (!keep_outputs(&w))
        return false;
    (void)number_levels(&w);
    sort(&w, outputs);
    return true;
}
