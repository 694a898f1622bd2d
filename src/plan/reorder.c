/* The graph's steps as tasks of plan/order, and the order found put back into graph and schedule. */
#include <string.h>

#include "plan/ends.h"
#include "plan/order.h"
#include "plan/schedule.h"

typedef struct tw_reorder {
    tw_schedule *s;
    tw_arena *arena;
    tw_task *tasks;
    tw_item *items;
    int item_count;
    int *item_of; /* by value->index of a root: item + 1, or 0 */
    int *step_of; /* by node->index: step, or -1 */
} tw_reorder;

/* Roots that an output or a state's next value is a view of stay live. */
static void mark_kept(tw_reorder *r, const tw_value *v)
{
    int item = r->item_of[tw_view_root(v)->index];
    if (item)
        r->items[item - 1].kept = true;
}

static void add_items(tw_reorder *r)
{
    const tw_graph *g = r->s->graph;
    for (int i = 0; i < g->value_count; i++)
        g->values[i]->index = i;
    for (int i = 0; i < g->input_count; i++) {
        r->items[r->item_count] = (tw_item){tw_shape_bytes(&g->inputs[i]->shape), -1, false};
        r->item_of[g->inputs[i]->index] = ++r->item_count;
    }
    for (int t = 0; t < r->s->step_count; t++) {
        const tw_node *node = r->s->steps[t].node;
        r->step_of[node->index] = t;
        for (int k = 0; k < node->out_count; k++) {
            if (!node->out[k])
                continue;
            /* a state's memory is there anyway */
            int64_t bytes = tw_state_written(g, node->out[k]) >= 0
                                ? 0
                                : (int64_t)tw_shape_bytes(&node->out[k]->shape);
            r->items[r->item_count] = (tw_item){bytes, t, false};
            r->item_of[node->out[k]->index] = ++r->item_count;
        }
    }
    for (int i = 0; i < g->output_count; i++)
        mark_kept(r, g->outputs[i]);
}

static void add_task(tw_reorder *r, int t)
{
    const tw_step *step = &r->s->steps[t];
    const tw_node *node = step->node;
    int *reads = tw_alloc_array(r->arena, (size_t)node->in_count + 1, sizeof(int));
    int *makes = tw_alloc_array(r->arena, (size_t)node->out_count + 1, sizeof(int));
    tw_task *task = &r->tasks[t];
    task->reads = reads;
    task->makes = makes;
    task->extra = (int64_t)step->lowering.scratch + step->lowering.memory;
    task->over = -1;
    for (int i = 0; i < node->in_count; i++) {
        int item = node->in[i] ? r->item_of[tw_view_root(node->in[i])->index] : 0;
        if (!item)
            continue; /* a constant or a state */
        bool twice = false;
        for (int k = 0; k < task->read_count; k++)
            twice |= reads[k] == item - 1;
        if (!twice)
            reads[task->read_count++] = item - 1;
        if (task->over < 0 && tw_may_lie_over(step, i))
            task->over = item - 1;
    }
    for (int k = 0; k < node->out_count; k++)
        if (node->out[k])
            makes[task->make_count++] = r->item_of[node->out[k]->index] - 1;
}

/* Who writes a state straight into its memory comes after everyone who reads the old value. */
static void add_state_order(tw_reorder *r)
{
    const tw_graph *g = r->s->graph;
    for (int i = 0; i < g->state_count; i++) {
        const tw_value *next = g->states[i].next;
        if (!next || !next->producer)
            continue;
        int writer = r->step_of[next->producer->index];
        int *after = tw_alloc_array(r->arena, (size_t)r->s->step_count, sizeof(int));
        int count = r->tasks[writer].after_count;
        if (count)
            memcpy(after, r->tasks[writer].after, sizeof(int) * (size_t)count);
        for (int t = 0; t < r->s->step_count; t++) {
            const tw_node *node = r->s->steps[t].node;
            bool reads = false;
            for (int k = 0; k < node->in_count; k++)
                reads |= node->in[k] && tw_view_root(node->in[k]) == g->states[i].current;
            if (reads && t != writer)
                after[count++] = t;
        }
        r->tasks[writer].after = after;
        r->tasks[writer].after_count = count;
    }
}

/* Steps and nodes in the new order; a view stands behind the steps it may be needed by only through
 * the graph's own order, which a sweep restores. */
static bool apply(tw_reorder *r, const int *order, tw_diag *diag)
{
    tw_schedule *s = r->s;
    tw_graph *g = s->graph;
    tw_step *steps = tw_copy(r->arena, s->steps, sizeof *steps * (size_t)s->step_count);
    tw_node **nodes = tw_alloc_array(r->arena, (size_t)g->node_count + 1, sizeof *nodes);
    int count = 0;
    for (int i = 0; i < s->step_count; i++) {
        s->steps[i] = steps[order[i]];
        nodes[count++] = s->steps[i].node;
    }
    for (int n = 0; n < g->node_count; n++)
        if (g->nodes[n]->op->kind == TW_VIEW)
            nodes[count++] = g->nodes[n];
    memcpy(g->nodes, nodes, sizeof *nodes * (size_t)count);
    return tw_graph_sweep(g, diag);
}

/* The task that makes, for this one alone, what it reads row by row; -1: none, or it makes nothing more. */
static int rolling_maker(const tw_reorder *r, int task, const int *readers)
{
    const tw_step *step = &r->s->steps[task];
    for (int i = 0; i < step->node->in_count; i++) {
        const tw_value *v = step->node->in[i];
        const int item = v ? r->item_of[tw_view_root(v)->index] - 1 : -1;
        if (item >= 0 && step->map[i].rows == TW_ROWS_MAPPED && r->items[item].maker >= 0 &&
            !r->items[item].kept && readers[item] == 1 &&
            r->tasks[r->items[item].maker].make_count == 1)
            return r->items[item].maker;
    }
    return -1;
}

/* Does it also read something that must be whole? */
static bool waits_for_whole(const tw_reorder *r, int task)
{
    const tw_step *step = &r->s->steps[task];
    for (int i = 0; i < step->node->in_count; i++) {
        const tw_value *v = step->node->in[i];
        if (v && step->map[i].rows == TW_ROWS_WHOLE && r->item_of[tw_view_root(v)->index])
            return true;
    }
    return false;
}

/* Move a task behind those up to position `at`, unless one of them must come after it. */
static bool move_to(const tw_reorder *r, int *order, int task, int at)
{
    int from = at;
    while (order[from] != task) {
        const tw_task *passed = &r->tasks[order[from]];
        for (int k = 0; k < passed->after_count; k++)
            if (passed->after[k] == task)
                return false;
        from--;
    }
    memmove(order + from, order + from + 1, sizeof *order * (size_t)(at - from));
    order[at] = task;
    return true;
}

/* What a step reads row by row is made right before it, where that takes no more memory: these roll together,
 * and what else it reads, whole, is there by then. Attention is the case: queries last. */
static bool draw_near(const tw_reorder *r, int *order, int64_t peak)
{
    const int n = r->s->step_count;
    int *readers = tw_alloc_array(r->arena, (size_t)r->item_count + 1, sizeof(int));
    int *before = tw_alloc_array(r->arena, (size_t)n, sizeof(int));
    bool changed = false, rolls = false;
    for (int t = 0; t < n; t++)
        for (int k = 0; k < r->tasks[t].read_count; k++)
            readers[r->tasks[t].reads[k]]++;
    for (int at = n - 1; at > 0; at--) {
        const int maker =
            rolls || waits_for_whole(r, order[at]) ? rolling_maker(r, order[at], readers) : -1;
        rolls = maker >= 0;
        if (!rolls || order[at - 1] == maker)
            continue;
        memcpy(before, order, sizeof *order * (size_t)n);
        rolls = move_to(r, order, maker, at - 1) &&
                tw_order_peak(r->tasks, n, r->items, r->item_count, order) <= peak;
        if (!rolls)
            memcpy(order, before, sizeof *order * (size_t)n);
        changed |= rolls;
    }
    return changed;
}

bool tw_plan_order(tw_schedule *s, tw_diag *diag)
{
    const tw_graph *g = s->graph;
    if (s->step_count < 3 || s->control_count) /* bodies stay where they are */
        return true;
    tw_reorder r = {.s = s, .arena = tw_arena_new()};
    size_t values = (size_t)g->value_count + 1;
    r.tasks = tw_alloc_array(r.arena, (size_t)s->step_count, sizeof *r.tasks);
    r.items = tw_alloc_array(r.arena, values, sizeof *r.items);
    r.item_of = tw_alloc_array(r.arena, values, sizeof(int));
    r.step_of = tw_alloc_array(r.arena, (size_t)g->node_count + 1, sizeof(int));
    for (int n = 0; n < g->node_count; n++)
        g->nodes[n]->index = n;
    add_items(&r);
    for (int t = 0; t < s->step_count; t++)
        add_task(&r, t);
    add_state_order(&r);
    int *order = tw_alloc_array(r.arena, (size_t)s->step_count, sizeof(int));
    for (int t = 0; t < s->step_count; t++)
        order[t] = t;
    int64_t given = tw_order_peak(r.tasks, s->step_count, r.items, r.item_count, order);
    int64_t found = tw_order_search(r.tasks, s->step_count, r.items, r.item_count, order);
    for (int t = 0; found >= given && t < s->step_count; t++)
        order[t] = t;
    const bool moved = draw_near(&r, order, found < given ? found : given);
    bool ok = (found >= given && !moved) || apply(&r, order, diag);
    tw_arena_free(r.arena);
    return ok;
}
