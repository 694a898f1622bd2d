/* analyze --trace: every firing of a run, held against the plan: rows in order, none twice, none left
 * out, no more than the step's band. */
#include "trace.h"

#include <stdio.h>

#include "base/diag.h"
#include "host/session.h"
#include "report.h"

typedef struct cli_tracer {
    const tw_session *session;
    int64_t *next;  /* by step: the row that comes next */
    uint32_t wrong; /* step whose rows came otherwise, or UINT32_MAX */
    bool quiet;
} cli_tracer;

/* Rows that the step makes, or takes where it accumulates. */
static int32_t extent_of(const tw_model *m, uint32_t step, uint32_t axis)
{
    const tw_plan_step *s = &m->steps[step];
    const tw_plan_operand *o = &m->operands[s->first_operand];
    const tw_tensor *t = &m->tensors[o[s->input_count].tensor];
    for (uint32_t i = 0; i < s->input_count; i++)
        if (o[i].rows == TW_ROWS_ACCUMULATED)
            t = &m->tensors[o[i].tensor];
    return axis < t->rank ? t->dim[axis] : 1;
}

static int on_firing(void *user, tw_context *context, const tw_firing *f)
{
    cli_tracer *t = user;
    const tw_session *s = t->session;
    char name[CLI_VISIBLE];
    if (f->row != t->next[f->step] || (uint32_t)f->rows > s->model.steps[f->step].band)
        t->wrong = f->step;
    t->next[f->step] += f->rows;
    if (!t->quiet)
        printf("%6u  step %3u  rows %4d to %4d  %s\n", context->firings, f->step, f->row,
               f->row + f->rows - 1, cli_visible(s->step_names[f->step], name));
    return t->wrong != UINT32_MAX;
}

static bool is_complete(cli_tracer *t)
{
    const tw_model *m = &t->session->model;
    for (uint32_t g = 0; g < m->segment_count; g++)
        for (uint32_t i = 0; i < m->segments[g].step_count; i++) {
            uint32_t step = m->segments[g].first_step + i;
            if (t->next[step] != extent_of(m, step, m->segments[g].axis)) {
                t->wrong = step;
                return false;
            }
        }
    return true;
}

bool cli_trace(tw_cli *cli, const tw_compiled *compiled)
{
    tw_session session;
    cli_tracer tracer = {&session, NULL, UINT32_MAX, cli->json_wanted};
    bool ok = tw_session_open(&session, compiled->plan, compiled->plan_bytes, &cli->diag);
    if (ok) {
        tracer.next = tw_alloc_array(session.arena, (size_t)session.model.step_count + 1,
                                     sizeof *tracer.next);
        tw_set_hook(&session.context, on_firing, &tracer);
        ok = tw_session_run(&session, &cli->diag);
    }
    if (ok && !is_complete(&tracer))
        ok = tw_fail(&cli->diag, TW_CODE_FAILED, session.step_names[tracer.wrong], NULL,
                     "its rows were not computed as the plan says");
    if (ok && cli->json_wanted) {
        json_t *trace = json_object();
        json_object_set_new(trace, "firings", json_integer(session.context.firings));
        json_object_set_new(trace, "moved", json_integer(session.context.moved));
        json_object_set_new(cli->json, "trace", trace);
    } else if (ok) {
        printf("%u calls, %u bytes moved; every row once, in order, in bands as planned\n",
               session.context.firings, session.context.moved);
    }
    tw_session_close(&session);
    return ok;
}
