/* Ends of a network that go by rows. In: the graph, the steps, the options' names. Out: the schedule's `fed` and
 * `drained`, or the refusal. */
#include "plan/by_rows.h"

#include <string.h>

#include "base/diag.h"
#include "plan/control.h"
#include "plan/ends.h"

/* Does the node read the input, or make the output, that goes by rows? */
static bool is_by_rows(const tw_schedule *s, const tw_node *node)
{
    bool by_rows = false;
    for (int i = 0; i < node->in_count; i++)
        by_rows |= s->fed && node->in[i] && tw_view_root(node->in[i]) == s->fed;
    for (int i = 0; i < node->out_count; i++)
        by_rows |= s->drained && node->out[i] == s->drained;
    return by_rows;
}

bool tw_refuse_by_rows(const tw_compile_options *options, tw_diag *diag)
{
    if (options->input_rows)
        return tw_fail(
            diag, TW_CODE_UNSUPPORTED, options->input_rows, NULL,
            "the input cannot be taken by rows: an operator needs it whole, or those that "
            "read it cannot roll together; leave --input-rows out");
    return tw_fail(
        diag, TW_CODE_UNSUPPORTED, options->output_rows, NULL,
        "the output cannot be given by rows: what makes it and what else reads it cannot "
        "roll together; leave --output-rows out");
}

/* Rows of its own that a step makes: not a reshape of another tensor's, not a state, not an input. */
static bool has_rows_of_its_own(const tw_graph *g, const tw_value *output)
{
    return tw_view_root(output) == output && output->producer && tw_state_written(g, output) < 0;
}

bool tw_find_by_rows(tw_schedule *s, const tw_compile_options *options, tw_diag *diag)
{
    const tw_graph *g = s->graph;
    for (int i = 0; options->input_rows && i < g->input_count; i++)
        if (strcmp(g->inputs[i]->name, options->input_rows) == 0)
            s->fed = g->inputs[i];
    for (int i = 0; options->output_rows && i < g->output_count; i++)
        if (strcmp(g->outputs[i]->name, options->output_rows) == 0)
            s->drained = g->outputs[i];
    if (options->input_rows && !s->fed)
        return tw_fail(diag, TW_CODE_USAGE, options->input_rows, NULL,
                       "the model has no input of this name to take by rows; they are listed by: "
                       "tilewright inspect MODEL");
    if (options->output_rows && !s->drained)
        return tw_fail(diag, TW_CODE_USAGE, options->output_rows, NULL,
                       "the model has no output of this name to give by rows; they are listed by: "
                       "tilewright inspect MODEL");
    if (s->drained && !has_rows_of_its_own(g, s->drained))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, options->output_rows, NULL,
                       "this output is another tensor in another shape, or a state: its rows are "
                       "not made one by one; leave --output-rows out");
    for (int i = 0; i < s->step_count; i++)
        if (tw_is_controlled(s, i) && is_by_rows(s, s->steps[i].node))
            return tw_refuse_by_rows(options, diag);
    return true;
}

/* Does the step take the value's rows one by one, wherever it reads it? */
static bool takes_rows(const tw_step *step, const tw_value *v)
{
    for (int i = 0; i < step->node->in_count; i++) {
        const tw_value *in = step->node->in[i];
        if (in && tw_view_root(in) == v && (in != v || step->map[i].rows == TW_ROWS_WHOLE))
            return false;
    }
    return true;
}

static bool makes_rows(const tw_step *step)
{
    return !step->accumulates && step->extent > 1;
}

static bool touches(const tw_node *node, const tw_value *v)
{
    bool touched = false;
    for (int i = 0; i < node->in_count; i++)
        touched |= node->in[i] && tw_view_root(node->in[i]) == v;
    for (int i = 0; i < node->out_count; i++)
        touched |= node->out[i] == v;
    return touched;
}

bool tw_may_go_by_rows(const tw_schedule *s, const tw_value *end)
{
    int touched = 0;
    if (end->producer && !has_rows_of_its_own(s->graph, end))
        return false;
    for (int i = 0; i < s->step_count; i++) {
        const tw_step *step = &s->steps[i];
        if (!touches(step->node, end))
            continue;
        touched++;
        if (step->at_once || tw_is_controlled(s, i) || !takes_rows(step, end) ||
            (step->node == end->producer && !makes_rows(step)))
            return false;
    }
    return touched > 0;
}
