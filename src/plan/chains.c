/* What may be computed again. In: a schedule, placed. Out: chains of nodes, and graphs in which they stand twice.
 *
 * Where a chain begins is a choice: the further back, the more is computed again and the less, mostly, must be held
 * for it. So the walk goes back from the tensor, always through what was made last, and takes note wherever what would
 * have to be held in its place has become less. What is small is held, and so is what is read whole: a copy of that
 * would have to be whole as well. */
#include "plan/chains.h"

#include <limits.h>
#include <string.h>

#include "plan/ends.h"

enum { SMALL = 32, LONGEST = 96, GAPS = 3 };

static const int64_t NEVER = INT64_MAX / 4;

typedef struct tw_finder {
    const tw_schedule *s;
    tw_arena *arena;
    int *step_of;     /* by node: its step, or -1: a view */
    int *first, *end; /* by node: the first and the last step that run it or read it as a view */
    int *last_read;   /* by value: the last step that reads it or a view of it */
    tw_chain *chains;
    int count, most;
} tw_finder;

/* One walk: for readers of a value from step `late` on. */
typedef struct tw_walk {
    const tw_value *value;
    int late;
    double share;       /* of a tensor that is held for them: all, or as much as windows hold */
    bool *held, *whole; /* by value: read by the chain, from outside it; read whole */
    int *node;          /* of the chain, the last first */
    int node_count;
    uint64_t work;
} tw_walk;

static bool is_view(const tw_node *node)
{
    return node->op->kind == TW_VIEW;
}

/* ---- when what is read ---- */

static void find_times(tw_finder *f)
{
    const tw_graph *g = f->s->graph;
    const size_t nodes = (size_t)g->node_count + 1;
    f->step_of = tw_alloc_array(f->arena, nodes, sizeof(int));
    f->first = tw_alloc_array(f->arena, nodes, sizeof(int));
    f->end = tw_alloc_array(f->arena, nodes, sizeof(int));
    f->last_read = tw_alloc_array(f->arena, (size_t)g->value_count + 1, sizeof(int));
    int step = f->s->step_count;
    for (int v = 0; v < g->value_count; v++)
        f->last_read[v] = g->values[v]->is_output ? f->s->step_count : -1;
    for (int n = g->node_count - 1; n >= 0; n--) {
        tw_node *node = g->nodes[n];
        node->index = n;
        f->step_of[n] = is_view(node) ? -1 : --step;
        f->first[n] = !is_view(node) ? step : node->out[0]->is_output ? f->s->step_count : INT_MAX;
        f->end[n] = is_view(node) ? f->last_read[node->out[0]->index] : step;
        for (int i = 0; i < node->in_count; i++) {
            const tw_value *in = node->in[i];
            if (in && f->last_read[in->index] < f->end[n])
                f->last_read[in->index] = f->end[n];
        }
    }
    for (int n = g->node_count - 1; n >= 0; n--)
        for (int i = 0; i < g->nodes[n]->in_count; i++) {
            const tw_value *in = g->nodes[n]->in[i];
            const tw_node *view = in && in->producer && is_view(in->producer) ? in->producer : NULL;
            if (view && f->first[n] < f->first[view->index])
                f->first[view->index] = f->first[n];
        }
}

/* ---- walking back ---- */

/* Can what makes the value be run twice, row by row? */
static bool can_run_again(const tw_finder *f, const tw_value *v)
{
    const tw_node *node = v->producer;
    if (!node || node->out_count != 1)
        return false;
    if (is_view(node))
        return true;
    const tw_step *step = &f->s->steps[f->step_of[node->index]];
    if (step->lowering.memory || step->accumulates || step->at_once || step->alone ||
        tw_state_written(f->s->graph, v) >= 0)
        return false;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && tw_view_root(node->in[i])->is_state)
            return false; /* by then it may be another */
    return true;
}

/* Bytes that must be held longer so that the chain can read the value. */
static int64_t cost_of(const tw_finder *f, const tw_walk *w, const tw_value *v)
{
    const tw_value *root = tw_view_root(v);
    const int buffer = f->s->places[root->index].buffer;
    if (root == f->s->fed)
        return NEVER; /* its rows have passed */
    if (root->data || tw_state_written(f->s->graph, root) >= 0)
        return 0;
    const bool there = f->s->windows[root->index].rows ? f->last_read[root->index] >= w->late
                                                       : f->s->buffers[buffer].last >= w->late;
    if (there)
        return 0;
    return (int64_t)((double)tw_shape_bytes(&root->shape) * w->share);
}

static int64_t frontier_cost(const tw_finder *f, const tw_walk *w)
{
    int64_t cost = 0;
    for (int v = 0; v < f->s->graph->value_count && cost < NEVER; v++)
        if (w->held[v])
            cost += cost_of(f, w, f->s->graph->values[v]);
    return cost;
}

static void run_again(const tw_finder *f, tw_walk *w, const tw_value *v)
{
    const tw_node *node = v->producer;
    const tw_step *step = is_view(node) ? NULL : &f->s->steps[f->step_of[node->index]];
    w->held[v->index] = false;
    w->node[w->node_count++] = node->index;
    w->work += step ? step->work : 0;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || tw_view_root(node->in[i])->data)
            continue;
        w->held[node->in[i]->index] = true;
        w->whole[node->in[i]->index] |= step && step->map[i].rows != TW_ROWS_MAPPED;
    }
}

/* The value to go back through next: of those that cost something, the one made last; or null. */
static const tw_value *next_back(const tw_finder *f, const tw_walk *w)
{
    const tw_value *next = NULL;
    const int64_t small = tw_shape_bytes(&w->value->shape) / SMALL;
    for (int i = 0; i < f->s->graph->value_count; i++) {
        const tw_value *v = f->s->graph->values[i];
        if (w->held[i] && !w->whole[i] && cost_of(f, w, v) > 0 &&
            tw_shape_bytes(&v->shape) > small && can_run_again(f, v) &&
            (!next || next->producer->index < v->producer->index))
            next = v;
    }
    return next;
}

/* ---- chains ---- */

static bool is_better(const tw_chain *a, const tw_chain *b)
{
    return a->hope != b->hope ? a->hope > b->hope : a->work < b->work;
}

static void add_chain(tw_finder *f, const tw_walk *w, const int *late, int late_count, int64_t hope)
{
    int *node = tw_alloc_array(f->arena, (size_t)w->node_count, sizeof *node);
    for (int i = 0; i < w->node_count; i++)
        node[i] = w->node[w->node_count - 1 - i];
    const tw_chain chain = {w->value->index, node, w->node_count, late, late_count, hope, w->work};
    int at = f->count < f->most ? f->count++ : f->most;
    for (; at > 0 && is_better(&chain, &f->chains[at - 1]); at--)
        if (at < f->most)
            f->chains[at] = f->chains[at - 1];
    if (at < f->most)
        f->chains[at] = chain;
}

/* Chains that make the value again for these readers, of which the first runs at step `at`. */
static void walk_back(tw_finder *f, const tw_value *v, const int *late, int late_count, int at)
{
    const tw_graph *g = f->s->graph;
    const int64_t gain = f->s->buffers[f->s->places[v->index].buffer].bytes;
    tw_walk w = {.value = v, .late = at, .share = 1};
    w.held = tw_alloc_array(f->arena, (size_t)g->value_count + 1, sizeof(bool));
    w.whole = tw_alloc_array(f->arena, (size_t)g->value_count + 1, sizeof(bool));
    w.node = tw_alloc_array(f->arena, LONGEST, sizeof *w.node);
    if (f->s->windows[v->index].rows)
        w.share = (double)gain / tw_shape_bytes(&v->shape);
    int64_t least = gain;
    for (const tw_value *back = v; back && w.node_count < LONGEST; back = next_back(f, &w)) {
        run_again(f, &w, back);
        const int64_t cost = frontier_cost(f, &w);
        if (cost >= least)
            continue;
        least = cost;
        add_chain(f, &w, late, late_count, gain - cost);
    }
}

/* The nodes that read a value, by when they run first. */
static int find_readers(const tw_finder *f, const tw_value *v, int *readers)
{
    const tw_graph *g = f->s->graph;
    int count = 0;
    for (int n = v->producer->index + 1; n < g->node_count; n++) {
        bool reads = false;
        for (int i = 0; i < g->nodes[n]->in_count; i++)
            reads |= g->nodes[n]->in[i] == v;
        if (!reads || f->first[n] == INT_MAX)
            continue;
        int at = count++;
        for (; at > 0 && f->first[readers[at - 1]] > f->first[n]; at--)
            readers[at] = readers[at - 1];
        readers[at] = n;
    }
    return count;
}

/* Where nobody reads the value for long, its readers may part: into early and late ones. */
static void part_readers(tw_finder *f, const tw_value *v)
{
    int *readers = tw_alloc_array(f->arena, (size_t)f->s->graph->node_count + 1, sizeof *readers);
    int *gap = tw_alloc_array(f->arena, (size_t)f->s->graph->node_count + 1, sizeof *gap);
    const int count = find_readers(f, v, readers);
    int done = -1;
    for (int k = 0; k < count; k++) {
        gap[k] = k > 0 ? f->first[readers[k]] - done : 0;
        done = f->end[readers[k]] > done ? f->end[readers[k]] : done;
    }
    for (int tries = 0; tries < GAPS; tries++) {
        int widest = 0;
        for (int k = 1; k < count; k++)
            if (gap[k] > (widest ? gap[widest] : 0))
                widest = k;
        if (widest == 0)
            return;
        gap[widest] = 0;
        walk_back(f, v, readers + widest, count - widest, f->first[readers[widest]]);
    }
}

int tw_find_chains(const tw_schedule *s, tw_chain *chains, int most, tw_arena *arena)
{
    tw_finder f = {.s = s, .arena = arena, .chains = chains, .most = most};
    find_times(&f);
    for (int i = 0; i < s->graph->value_count; i++) {
        const tw_value *v = s->graph->values[i];
        const tw_place *place = &s->places[i];
        if (place->buffer < 0 || place->root != v || v->is_output || !can_run_again(&f, v))
            continue;
        const tw_buffer *b = &s->buffers[place->buffer];
        if (b->region == TW_REGION_FAST && b->first <= s->bound_step && s->bound_step <= b->last &&
            b->bytes >= tw_fast_total(s) / 64)
            part_readers(&f, v);
    }
    return f.count;
}

/* ---- the graph in which they stand twice ---- */

/* "conv1 (again)"; and where there is one already, "conv1 (again 2)". */
static const char *again(const tw_graph *g, const tw_node *first, const char *name)
{
    int count = 1;
    for (int n = 0; n < g->node_count; n++)
        count += g->nodes[n]->again == first;
    return count == 1 ? tw_format(g->arena, "%s (again)", name)
                      : tw_format(g->arena, "%s (again %d)", name, count);
}

/* A node once more; copy: by value, what it reads and makes instead. */
static tw_node *node_again(tw_graph *g, tw_node *node, tw_value **copy)
{
    tw_node *twin = tw_copy(g->arena, node, sizeof *node);
    twin->again = node->again ? node->again : node;
    twin->name = again(g, twin->again, twin->again->name);
    twin->in = tw_copy(g->arena, node->in, sizeof *node->in * (size_t)node->in_count);
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && copy[node->in[i]->index])
            twin->in[i] = copy[node->in[i]->index];
    const tw_value *out = node->out[0], *named = twin->again->out[0];
    tw_value *made = tw_graph_value(g, again(g, twin->again, named->name), out->shape);
    made->quant = out->quant;
    made->producer = twin;
    twin->out = tw_copy(g->arena, &made, sizeof(tw_value *));
    copy[out->index] = made;
    return twin;
}

tw_graph *tw_compute_again(const tw_schedule *s, const tw_chain *chain, tw_arena *arena)
{
    tw_graph *g = tw_graph_copy(s->graph, arena);
    tw_node **nodes =
        tw_alloc_array(arena, (size_t)(g->node_count + chain->node_count) + 1, sizeof *nodes);
    tw_value **copy = tw_alloc_array(arena, (size_t)g->value_count + 1, sizeof *copy);
    const int values = g->value_count, old = g->node_count;
    int position = g->node_count, count = 0;
    for (int v = 0; v < values; v++)
        g->values[v]->index = v;
    for (int i = 0; i < chain->late_count; i++)
        position = chain->late[i] < position ? chain->late[i] : position;
    for (int n = 0; n < old; n++) {
        for (int i = 0; n == position && i < chain->node_count; i++)
            nodes[count++] = node_again(g, g->nodes[chain->node[i]], copy);
        nodes[count++] = g->nodes[n];
    }
    for (int i = 0; i < chain->late_count; i++) {
        const tw_node *reader = g->nodes[chain->late[i]];
        for (int k = 0; k < reader->in_count; k++)
            if (reader->in[k] == g->values[chain->value])
                reader->in[k] = copy[chain->value];
    }
    g->nodes = nodes;
    g->node_count = g->node_capacity = count;
    return g;
}

static void swap_names(tw_node *a, tw_node *b)
{
    const char *name = a->name, *out = a->out[0]->name;
    a->name = b->name;
    b->name = name;
    a->out[0]->name = b->out[0]->name;
    b->out[0]->name = out;
}

/* The first in order takes the place of the one that the others compute again. */
static void lead(const tw_graph *g, tw_node *node, const tw_node *other)
{
    for (int n = 0; n < g->node_count; n++) {
        if (g->nodes[n] == other)
            swap_names(node, g->nodes[n]);
        if (g->nodes[n] == other || g->nodes[n]->again == other)
            g->nodes[n]->again = node;
    }
    node->again = NULL;
}

/* "a (again)" before "a (again 2)" before "a (again 10)". */
static bool is_later(const char *a, const char *b)
{
    const size_t length = strlen(a), other = strlen(b);
    return length != other ? length > other : strcmp(a, b) > 0;
}

void tw_name_again(const tw_schedule *s)
{
    for (int i = 0; i < s->step_count; i++) {
        tw_node *node = s->steps[i].node;
        int before = tw_step_before(s, i);
        if (before < 0 && node->again && !node->again->out[0]->is_output)
            lead(s->graph, node, node->again);
        for (; before >= 0 && node->again; before = tw_step_before(s, before))
            if (s->steps[before].node->again && is_later(s->steps[before].node->name, node->name))
                swap_names(s->steps[before].node, node);
    }
}
