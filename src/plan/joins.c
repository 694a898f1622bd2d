/* Tensors inside others. In: segments and windows. Out: the joins that count. A value lies inside another
 * with the other's strides, so that every kernel that touches it must take those; the operator that joins
 * or cuts then finds each element where it is to be and moves nothing. */
#include "plan/joins.h"

#include <string.h>

#include "plan/control.h"
#include "plan/ends.h"
#include "plan/overlap.h"

const tw_join *tw_join_of(const tw_schedule *s, const tw_value *v)
{
    const tw_join *join = s->joins ? &s->joins[v->index] : NULL;
    return join && join->whole && s->steps[join->step].joined ? join : NULL;
}

/* ---- what could be joined ---- */

/* Values that must stay as they are, by index. */
static bool *find_fixed(const tw_schedule *s, tw_arena *arena)
{
    const tw_graph *g = s->graph;
    bool *fixed = tw_alloc_array(arena, (size_t)g->value_count + 1, sizeof *fixed);
    for (int i = 0; i < g->value_count; i++) {
        const tw_value *v = g->values[i];
        const tw_window *w = &s->windows[i];
        fixed[i] |= v->data || v->is_state || tw_is_slow(s, v) || w->rows || w->over || w->bed ||
                    tw_is_kept(s, v);
        if (w->over)
            fixed[w->over->index] = true;
        if (w->bed)
            fixed[w->bed->index] = true;
    }
    return fixed;
}

/* Values that are views or of which there are views: these know no strides. */
static bool *find_viewed(const tw_schedule *s, tw_arena *arena)
{
    const tw_graph *g = s->graph;
    bool *viewed = tw_alloc_array(arena, (size_t)g->value_count + 1, sizeof *viewed);
    for (int n = 0; n < g->node_count; n++)
        if (g->nodes[n]->op->kind == TW_VIEW)
            viewed[g->nodes[n]->in[0]->index] = viewed[g->nodes[n]->out[0]->index] = true;
    return viewed;
}

static bool is_whole(const tw_schedule *s, const tw_step *step)
{
    return s->segments[step->segment].step_count == 1 && !s->segments[step->segment].columns &&
           step->band >= step->extent;
}

/* The box of a whole: its offset and, where it has gaps, strides. */
static tw_join box_of(const tw_schedule *s, int step, const tw_value *whole, const tw_value *box,
                      const int32_t *begin)
{
    const tw_shape *shape = &whole->shape;
    tw_join join = {whole, step, 0, NULL};
    int32_t *stride = tw_alloc_array(s->arena, TW_MAX_RANK, sizeof *stride);
    bool gaps = false;
    int64_t next = 1, dense = 1;
    for (int k = shape->rank - 1; k >= 0; k--) {
        stride[k] = (int32_t)next;
        join.offset += begin[k] * next;
        gaps |= box->shape.dim[k] != 1 && next != dense;
        next *= shape->dim[k];
        dense *= box->shape.dim[k];
    }
    join.offset *= tw_dtype_bytes(shape->dtype);
    join.stride = gaps ? stride : NULL;
    return join;
}

/* Who may not lie where, while candidates are collected. */
typedef struct tw_collection {
    tw_schedule *schedule;
    const bool *fixed, *viewed;
    bool *holds; /* by value: something lies inside it */
} tw_collection;

static bool may_lie_inside(const tw_collection *c, const tw_value *v, const tw_join *join)
{
    return v->producer && v->producer->op->kind != TW_VIEW && !c->fixed[v->index] &&
           !c->viewed[v->index] && !v->is_output && !c->holds[v->index] &&
           !c->schedule->joins[v->index].whole && tw_shape_bytes(&v->shape) > 0 &&
           tw_state_written(c->schedule->graph, v) < 0 && join->whole != v;
}

static bool may_hold(const tw_collection *c, const tw_value *v)
{
    return !c->fixed[v->index] && tw_view_root(v) == v && !c->schedule->joins[v->index].whole &&
           tw_state_written(c->schedule->graph, v) < 0;
}

/* All inputs in the output, or the output in its input. */
static bool collect_step(tw_collection *c, int index)
{
    tw_schedule *s = c->schedule;
    const tw_node *node = s->steps[index].node;
    tw_join found[TW_MAX_OPERANDS];
    for (int i = 0; i < node->in_count; i++) {
        tw_part part = {0};
        if (!node->in[i] || !node->op->part(node, i, &part))
            return false;
        const tw_value *whole = part.of_input ? node->in[i] : node->out[0];
        const tw_value *inside = part.of_input ? node->out[0] : node->in[i];
        found[i] = box_of(s, index, whole, inside, part.begin);
        if (!may_hold(c, whole) || !may_lie_inside(c, inside, &found[i]))
            return false;
        for (int k = 0; k < i; k++)
            if (node->in[k] == node->in[i])
                return false;
    }
    for (int i = 0; i < node->in_count; i++) {
        const tw_value *inside = found[i].whole == node->out[0] ? node->in[i] : node->out[0];
        s->joins[inside->index] = found[i];
        c->holds[found[i].whole->index] = true;
    }
    return true;
}

/* Joins whose strides a kernel does not take are taken back. */
static void refuse_strides(tw_schedule *s)
{
    for (int i = 0; i < s->step_count; i++) {
        const tw_node *node = s->steps[i].node;
        if (tw_step_takes(s, &s->steps[i]))
            continue;
        for (int k = 0; k < node->in_count + node->out_count; k++) {
            const tw_value *v = k < node->in_count ? node->in[k] : node->out[k - node->in_count];
            const tw_join *join = v ? tw_join_of(s, v) : NULL;
            if (join && join->stride)
                s->steps[join->step].joined = false;
        }
    }
}

static int collect(tw_schedule *s)
{
    tw_arena *arena = tw_arena_new();
    int count = 0;
    size_t values = (size_t)s->graph->value_count + 1;
    tw_collection c = {s, find_fixed(s, arena), find_viewed(s, arena),
                       tw_alloc_array(arena, values, sizeof(bool))};
    s->joins = tw_alloc_array(s->arena, values, sizeof *s->joins);
    for (int i = 0; i < s->step_count; i++) {
        const tw_step *step = &s->steps[i];
        s->steps[i].joined = step->node->op->part && step->node->out_count == 1 &&
                             is_whole(s, step) && collect_step(&c, i);
        count += s->steps[i].joined;
    }
    if (count)
        refuse_strides(s);
    tw_arena_free(arena);
    return count;
}

/* ---- which of them count ---- */

static uint32_t peak(tw_schedule *s)
{
    tw_plan_buffers(s, true);
    tw_plan_overlaps(s);
    return tw_live_peak(s, false, NULL);
}

static bool any_part(const tw_schedule *s)
{
    for (int i = 0; i < s->step_count; i++)
        if (s->steps[i].node->op->part)
            return true;
    return false;
}

/* What is made inside another keeps all of the other from then on: each join that costs more than it saves
 * is dropped, and all of them where none is better. */
void tw_plan_joins(tw_schedule *s)
{
    enum { MOST_WORK = 1 << 20 };
    /* A part that is made once may be joined in every round of a loop: not together with those. */
    if (s->control_count || !any_part(s) || collect(s) == 0)
        return;
    uint32_t least = peak(s);
    int64_t work = 0;
    for (int i = 0; i < s->step_count && work < MOST_WORK; i++) {
        if (!s->steps[i].joined)
            continue;
        s->steps[i].joined = false;
        work += s->step_count;
        uint32_t without = peak(s);
        s->steps[i].joined = without >= least;
        least = without < least ? without : least;
    }
    tw_arena *arena = tw_arena_new();
    bool *joined = tw_alloc_array(arena, (size_t)s->step_count + 1, sizeof *joined);
    for (int i = 0; i < s->step_count; i++) {
        joined[i] = s->steps[i].joined;
        s->steps[i].joined = false;
    }
    if (peak(s) >= least)
        for (int i = 0; i < s->step_count; i++)
            s->steps[i].joined = joined[i];
    tw_arena_free(arena);
}
