/* An input by rows, copied where it is held anyway: held.h. */
#include "plan/held.h"

#include <string.h>

#include "ops/ledger.h"
#include "plan/summed.h"

/* Is at least half of the input in its window? */
static bool is_held(const tw_schedule *s)
{
    if (!s->smallest_budget || !s->fed || s->fed->is_output || s->control_count)
        return false;
    const int buffer = s->places[s->fed->index].buffer;
    return buffer >= 0 && s->buffers[buffer].bytes >= tw_shape_bytes(&s->fed->shape) / 2;
}

/* The graph with a copy of the input that every reader reads instead; null, said, where it cannot be made. */
static tw_graph *copy_input(const tw_graph *graph, const char *name, tw_diag *diag)
{
    tw_graph *g = tw_graph_copy(graph, graph->arena);
    for (int i = 0; i < g->input_count; i++) {
        tw_value *x = g->inputs[i];
        if (strcmp(x->name, name) != 0)
            continue;
        tw_node *copy =
            tw_graph_node(g, tw_op_by_code(TW_OPCODE_copy), x->name, &x, 1, 1, NULL, NULL, diag);
        if (!copy)
            return NULL;
        copy->out[0]->quant = x->quant;
        tw_graph_replace(g, x, copy->out[0]);
        copy->in[0] = x;
    }
    return tw_graph_sweep(g, diag) ? g : NULL;
}

bool tw_plan_held(tw_graph *graph, const tw_compile_options *options, tw_schedule *s, tw_diag *diag)
{
    tw_diag why = *diag;
    bool fits = tw_plan_summed(graph, options, s, &why);
    if (options->input_rows && !options->random_bands && is_held(s)) {
        tw_schedule held;
        tw_diag unheard = *diag;
        unheard.warn = NULL; /* the same warnings again */
        tw_graph *copied = copy_input(s->graph, options->input_rows, &unheard);
        const bool does = copied && tw_plan_summed(copied, options, &held, &unheard);
        const bool less = copied && held.smallest_budget &&
                          held.smallest_budget < s->smallest_budget && (does || !fits);
        const uint32_t smallest = less ? held.smallest_budget : s->smallest_budget;
        if (less && (!fits || (options->prefer != TW_PREFER_SPEED && held.total < s->total))) {
            *s = held;
            fits = does;
            unheard.warn = why.warn;
            unheard.warnings = why.warnings;
            why = unheard;
        }
        s->smallest_budget = smallest < s->smallest_budget ? smallest : s->smallest_budget;
    }
    *diag = why;
    return fits;
}
