/* Which fully connected layers sum up rows: see summed.h. Each candidate costs plans, so there are few. */
#include "plan/summed.h"

#include <string.h>

#include "ops/connected_map.h"
#include "ops/ledger.h"
#include "plan/ends.h"

enum { MOST_CANDIDATES = 4, MOST_STEPS = 600 };

/* A FullyConnected node that could take `map` row by row. */
typedef struct tw_candidate {
    tw_node *node;
    tw_value *map;
    int64_t saves; /* bytes, at the most */
    tw_value *vector;
    tw_connected_map_attributes attributes;
} tw_candidate;

typedef struct tw_summing {
    tw_graph *graph;
    const tw_compile_options *options;
    tw_candidate candidates[MOST_CANDIDATES];
    int count;
} tw_summing;

/* A plan, and the graph as it left it. */
typedef struct tw_variant {
    tw_schedule schedule;
    unsigned summed; /* bit i: candidate i */
    bool planned, fits;
    tw_diag diag;
    tw_node **nodes;
    int node_count;
} tw_variant;

/* ---- candidates ---- */

static int64_t sum_bytes(const tw_node *node)
{
    const tw_value *bias = node->in_count > 2 ? node->in[2] : NULL;
    return node->in[1]->shape.dim[0] * (bias && bias->shape.dtype == TW_S64 ? 8 : 4);
}

/* May its rows come one by one: computed, not summed up themselves; or an input by rows? */
static bool comes_by_rows(const tw_summing *s, const tw_value *map)
{
    const char *fed = s->options->input_rows;
    if (!map->producer)
        return map->is_input && fed && strcmp(fed, map->name) == 0;
    return tw_summed_axis(map->producer) < 0;
}

static bool is_candidate(const tw_summing *s, const tw_node *node, tw_candidate *c)
{
    if (node->op->code != TW_OPCODE_fully_connected || !node->in[1]->data)
        return false;
    tw_value *vector = node->in[0], *map = (tw_value *)(uintptr_t)tw_view_root(vector);
    const tw_shape *w = &node->in[1]->shape, *y = &node->out[0]->shape;
    if (map->data || map->is_state || map->is_target || map->shape.dtype != vector->shape.dtype ||
        (map->shape.dtype == TW_F32 && w->dtype != TW_F32) ||
        !tw_quant_equal(&map->quant, &vector->quant) ||
        tw_shape_elements(&vector->shape) != w->dim[1] || map->shape.rank < 1 ||
        (node->in_count > 2 && node->in[2] && !node->in[2]->data) || !comes_by_rows(s, map))
        return false;
    const int axis = tw_map_axis(map->shape.rank, map->shape.dim);
    const int64_t bytes = tw_shape_bytes(&map->shape), rows = map->shape.dim[axis];
    if (rows < 2)
        return false;
    *c = (tw_candidate){.node = (tw_node *)(uintptr_t)node,
                        .map = map,
                        .saves = bytes - bytes / rows - sum_bytes(node),
                        .vector = vector,
                        .attributes = {y->rank}};
    return c->saves > 0;
}

/* Those that may save the most. */
static void find_candidates(tw_summing *s)
{
    for (int n = 0; n < s->graph->node_count; n++) {
        tw_candidate c;
        if (!is_candidate(s, s->graph->nodes[n], &c))
            continue;
        int at = s->count < MOST_CANDIDATES ? s->count++ : MOST_CANDIDATES;
        for (; at > 0 && s->candidates[at - 1].saves < c.saves; at--)
            if (at < MOST_CANDIDATES)
                s->candidates[at] = s->candidates[at - 1];
        if (at < MOST_CANDIDATES)
            s->candidates[at] = c;
    }
}

/* ---- variants ---- */

/* The graph with these candidates summed up, the others not. */
static void set_summed(tw_summing *s, unsigned summed)
{
    for (int i = 0; i < s->count; i++) {
        tw_candidate *c = &s->candidates[i];
        const bool on = summed >> i & 1u;
        c->node->op = tw_op_by_code(on ? TW_OPCODE_connected_map : TW_OPCODE_fully_connected);
        c->node->in[0] = on ? c->map : c->vector;
        c->node->attributes = on ? &c->attributes : NULL;
    }
}

static void plan_variant(tw_summing *s, unsigned summed, const tw_diag *diag, tw_variant *v)
{
    tw_graph *g = s->graph;
    *v = (tw_variant){.summed = summed, .diag = *diag};
    set_summed(s, summed);
    v->fits = tw_plan(g, s->options, &v->schedule, &v->diag);
    v->planned = v->schedule.smallest_budget > 0;
    v->nodes = tw_copy(g->arena, g->nodes, sizeof *g->nodes * (size_t)g->node_count);
    v->node_count = g->node_count;
}

/* The graph as the plan needs it. */
static void take(tw_summing *s, const tw_variant *v)
{
    tw_graph *g = s->graph;
    set_summed(s, v->summed);
    memcpy(g->nodes, v->nodes, sizeof *g->nodes * (size_t)v->node_count);
    g->node_count = v->node_count;
    for (int i = 0; i < g->value_count; i++)
        g->values[i]->index = i;
    for (int i = 0; i < g->node_count; i++)
        g->nodes[i]->index = i;
}

static bool is_by_columns(const tw_schedule *s)
{
    for (int i = 0; i < s->segment_count; i++)
        if (s->segments[i].columns)
            return true;
    return false;
}

/* Does `a` need less memory than `b`, whatever the budget? */
static bool goes_lower(const tw_variant *a, const tw_variant *b)
{
    const tw_schedule *s = &a->schedule, *t = &b->schedule;
    return a->planned && (!b->planned || s->smallest_by_rows < t->smallest_by_rows ||
                          (s->smallest_by_rows == t->smallest_by_rows &&
                           s->smallest_budget < t->smallest_budget));
}

/* Is `a` the better plan for what was asked? Slow memory and columns cost time, summing up does not. */
static bool is_better(const tw_variant *a, const tw_variant *b, tw_prefer prefer)
{
    const tw_schedule *s = &a->schedule, *t = &b->schedule;
    if (!a->planned || !b->planned)
        return a->planned;
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits)
        return s->smallest_budget < t->smallest_budget;
    const bool slow = s->region_bytes[TW_REGION_SLOW] > 0;
    if (slow != (t->region_bytes[TW_REGION_SLOW] > 0))
        return !slow;
    const bool columns = is_by_columns(s);
    if (columns != is_by_columns(t))
        return !columns;
    return prefer == TW_PREFER_MEMORY && s->total < t->total;
}

/* The candidates by which the least memory falls: of all, those go that it does not need. */
static void find_lowest(tw_summing *s, const tw_diag *diag, tw_variant *lowest)
{
    plan_variant(s, (1u << s->count) - 1, diag, lowest);
    for (int i = s->count - 1; i >= 0 && s->count > 1; i--) {
        tw_variant fewer;
        plan_variant(s, lowest->summed & ~(1u << i), diag, &fewer);
        if (fewer.planned && !goes_lower(lowest, &fewer))
            *lowest = fewer;
    }
}

/* Budgets below those of the plan as it is. */
static void join_pareto(const tw_schedule *lower, tw_schedule *s)
{
    int below = 0;
    while (below < lower->pareto_count && s->pareto_count > 0 &&
           lower->pareto[below].budget < s->pareto[0].budget)
        below++;
    if (below == 0)
        return;
    tw_report_point *points =
        tw_alloc_array(s->arena, (size_t)below + (size_t)s->pareto_count, sizeof *points);
    memcpy(points, lower->pareto, sizeof *points * (size_t)below);
    memcpy(points + below, s->pareto, sizeof *points * (size_t)s->pareto_count);
    s->pareto = points;
    s->pareto_count += below;
}

/* The smaller budgets of `lowest` are the schedule's. */
static void note_lowest(const tw_variant *lowest, tw_schedule *s)
{
    const tw_schedule *low = &lowest->schedule;
    if (low->smallest_by_rows < s->smallest_by_rows)
        s->smallest_by_rows = low->smallest_by_rows;
    if (low->smallest_budget < s->smallest_budget)
        s->smallest_budget = low->smallest_budget;
    join_pareto(low, s);
}

/* With candidates: the graph as it is, or the one that takes the least. */
static bool plan_either(tw_summing *s, tw_schedule *schedule, tw_diag *diag)
{
    const tw_compile_options *options = s->options;
    tw_compile_options silent = *options;
    tw_variant *plain = tw_alloc(s->graph->arena, sizeof *plain);
    tw_variant *lowest = tw_alloc(s->graph->arena, sizeof *lowest);
    tw_diag unheard = *diag;
    plan_variant(s, 0, diag, plain);
    silent.progress = NULL;
    unheard.warn = NULL; /* the same warnings again */
    s->options = &silent;
    find_lowest(s, &unheard, lowest);
    s->options = options;
    const tw_variant *best = is_better(lowest, plain, options->prefer) ? lowest : plain;
    take(s, best);
    *schedule = best->schedule;
    schedule->memories = &options->memories; /* not those of the silent ones */
    if (best == plain && plain->planned && lowest->planned)
        note_lowest(lowest, schedule);
    tw_diag said = best->diag;
    said.warn = diag->warn;
    said.warnings = plain->diag.warnings;
    *diag = said;
    return best->fits;
}

bool tw_plan_summed(tw_graph *graph, const tw_compile_options *options, tw_schedule *schedule,
                    tw_diag *diag)
{
    tw_summing *s = tw_alloc(graph->arena, sizeof *s); /* the nodes' attributes stay in it */
    *s = (tw_summing){.graph = graph, .options = options};
    if (graph->control_count == 0 && graph->node_count <= MOST_STEPS)
        find_candidates(s);
    if (s->count > 0 && !options->random_bands)
        return plan_either(s, schedule, diag);
    set_summed(s, (unsigned)options->random_bands & ((1u << s->count) - 1));
    return tw_plan(graph, options, schedule, diag);
}
