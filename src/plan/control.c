/* What branches and loops mean for the life of values. In: the graph's control entries, by node. Out:
 * the schedule's, by step, and the answers of control.h. */
#include "plan/control.h"

#include <string.h>

#include "plan/ends.h"

void tw_plan_controls(tw_schedule *s)
{
    const tw_graph *g = s->graph;
    s->control_count = g->control_count;
    if (!g->control_count)
        return;
    s->controls = tw_copy(s->arena, g->controls, sizeof *g->controls * (size_t)g->control_count);
    s->maker = tw_alloc_array(s->arena, (size_t)g->value_count + 1, sizeof *s->maker);
    for (int v = 0; v < g->value_count; v++) {
        g->values[v]->index = v;
        s->maker[v] = -1;
    }
    int step = 0, entry = 0;
    for (int n = 0; n <= g->node_count; n++) {
        for (; entry < g->control_count && g->controls[entry].at == n; entry++)
            s->controls[entry].at = step;
        if (n == g->node_count)
            break;
        const tw_node *node = g->nodes[n];
        for (int i = 0; i < node->out_count; i++)
            if (node->out[i])
                s->maker[node->out[i]->index] =
                    node->op->kind == TW_VIEW ? tw_maker_of(s, node->in[0]) : step;
        step += node->op->kind != TW_VIEW;
    }
}

/* Entry i opens a branch or loop: the steps of all of it. */
static bool range_of(const tw_schedule *s, int i, int *first, int *last)
{
    const tw_control *e = &s->controls[i];
    if (e->kind != TW_CONTROL_IF && e->kind != TW_CONTROL_LOOP)
        return false;
    *first = e->at;
    *last = s->controls[s->controls[e->partner].partner].at - 1;
    return true;
}

bool tw_is_controlled(const tw_schedule *s, int step)
{
    int first, last;
    const tw_node *node = s->steps[step].node;
    if (!s->control_count)
        return false;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && (node->out[i]->into || node->out[i]->is_target))
            return true;
    for (int i = 0; i < s->control_count; i++)
        if (range_of(s, i, &first, &last) && first <= step && step <= last)
            return true;
    return false;
}

int tw_live_until(const tw_schedule *s, int maker, int reader)
{
    int first, last, until = reader;
    for (int i = 0; i < s->control_count; i++)
        if (s->controls[i].kind == TW_CONTROL_LOOP && range_of(s, i, &first, &last) &&
            first <= reader && reader <= last && (maker < first || maker > last) && until < last)
            until = last;
    return until;
}

bool tw_is_awaited(const tw_schedule *s, int step)
{
    for (int i = 0; i < s->control_count; i++)
        if (s->controls[i].kind == TW_CONTROL_AWAIT && s->controls[i].at == step)
            return true;
    return false;
}

bool tw_is_kept(const tw_schedule *s, const tw_value *value)
{
    bool waits = false, output = false;
    for (int i = 0; i < s->control_count; i++)
        waits |= s->controls[i].kind == TW_CONTROL_AWAIT;
    for (int i = 0; waits && value && i < s->graph->output_count; i++)
        output |= tw_view_root(s->graph->outputs[i]) == value && s->graph->outputs[i] != s->drained;
    return output;
}

int tw_maker_of(const tw_schedule *s, const tw_value *value)
{
    return s->maker ? s->maker[value->index] : -1;
}
