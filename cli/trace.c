/* analyze --trace: every firing of a run, held against the plan: rows in order, none twice, none left
 * out, no more than the step's band, and of every memory as much read and written as was predicted. */
#include "trace.h"

#include <stdio.h>

#include "base/diag.h"
#include "host/session.h"
#include "host/traffic.h"
#include "report.h"
#include "runtime/rows.h"

typedef struct cli_tracer {
    const tw_session *session;
    int64_t *next;       /* by step: the row that comes next */
    int32_t *extent;     /* by step: its rows */
    uint32_t wrong;      /* step whose rows came otherwise, or UINT32_MAX */
    tw_traffic *traffic; /* by step */
    bool quiet;
} cli_tracer;

/* Rows (by columns: pixels) that the step makes, or takes where it accumulates. */
static int32_t extent_of(const tw_model *m, uint32_t step, const tw_plan_segment *g)
{
    const tw_plan_step *s = &m->steps[step];
    const tw_plan_operand *o = &m->operands[s->first_operand];
    const tw_tensor *t = &m->tensors[o[s->input_count].tensor];
    for (uint32_t i = 0; i < s->input_count; i++)
        if (o[i].rows == TW_ROWS_ACCUMULATED)
            t = &m->tensors[o[i].tensor];
    return tw_units(t, g);
}

static int on_firing(void *user, tw_context *context, const tw_firing *f)
{
    cli_tracer *t = user;
    const tw_session *s = t->session;
    char name[CLI_VISIBLE];
    if (f->row == 0 && t->next[f->step] == t->extent[f->step] && s->model.control_count)
        t->next[f->step] = 0; /* a loop's next round */
    if (f->row != t->next[f->step] || (uint32_t)f->rows > s->model.steps[f->step].band)
        t->wrong = f->step;
    t->next[f->step] += f->rows;
    tw_traffic_add(&s->model, f, &t->traffic[f->step]);
    if (!t->quiet)
        printf("%6u  step %3u  rows %4d to %4d  %s\n", context->firings, f->step, f->row,
               f->row + f->rows - 1, cli_visible(s->step_names[f->step], name));
    return t->wrong != UINT32_MAX;
}

static void measure(cli_tracer *t)
{
    const tw_model *m = &t->session->model;
    size_t steps = (size_t)m->step_count + 1;
    t->next = tw_alloc_array(t->session->arena, steps, sizeof *t->next);
    t->extent = tw_alloc_array(t->session->arena, steps, sizeof *t->extent);
    t->traffic = tw_alloc_array(t->session->arena, steps, sizeof *t->traffic);
    for (uint32_t g = 0; g < m->segment_count; g++)
        for (uint32_t i = 0; i < m->segments[g].step_count; i++) {
            uint32_t step = m->segments[g].first_step + i;
            t->extent[step] = extent_of(m, step, &m->segments[g]);
        }
}

/* A step of a branch or loop may not have run at all. */
static bool is_complete(cli_tracer *t)
{
    const tw_model *m = &t->session->model;
    for (uint32_t step = 0; step < m->step_count; step++)
        if (t->next[step] != t->extent[step] && (t->next[step] != 0 || !m->control_count)) {
            t->wrong = step;
            return false;
        }
    return true;
}

/* Did every step move what the planner said it would? */
static bool moved_as_predicted(tw_cli *cli, const cli_tracer *t, const tw_report *r)
{
    for (int i = 0; i < r->step_count; i++)
        if (!tw_traffic_equal(&t->traffic[i], &r->steps[i].traffic))
            return tw_fail(&cli->diag, TW_CODE_FAILED, r->steps[i].name, r->steps[i].operator_name,
                           "it read or wrote another number of bytes than was predicted");
    return true;
}

static bool trace(tw_cli *cli, cli_tracer *tracer, tw_session *session, const tw_report *report)
{
    measure(tracer);
    tw_set_hook(&session->context, on_firing, tracer);
    if (!tw_session_run(session, &cli->diag))
        return false;
    if (!is_complete(tracer))
        return tw_fail(&cli->diag, TW_CODE_FAILED, session->step_names[tracer->wrong], NULL,
                       "its rows were not computed as the plan says");
    /* How often steps of branches and loops run, nobody predicts. */
    return session->model.control_count != 0 || moved_as_predicted(cli, tracer, report);
}

bool cli_trace(tw_cli *cli, const tw_compiled *compiled)
{
    tw_session session;
    cli_tracer tracer = {.session = &session, .wrong = UINT32_MAX, .quiet = cli->json_wanted};
    bool ok = tw_session_open(&session, compiled->plan, compiled->plan_bytes, &cli->diag) &&
              trace(cli, &tracer, &session, &compiled->report);
    if (ok && cli->json_wanted) {
        tw_traffic measured = {{0}, {0}};
        for (uint32_t i = 0; i < session.model.step_count; i++)
            tw_traffic_sum(&tracer.traffic[i], &measured);
        json_t *trace = json_object();
        json_object_set_new(trace, "firings", json_integer(session.context.firings));
        json_object_set_new(trace, "moved", json_integer(session.context.moved));
        json_object_set_new(trace, "traffic", cli_json_traffic(&measured));
        json_object_set_new(cli->json, "trace", trace);
    } else if (ok) {
        printf(
            "%u calls, %u bytes moved; every row once, in order, in bands as planned; every memory "
            "read and written as predicted\n",
            session.context.firings, session.context.moved);
    }
    tw_session_close(&session);
    return ok;
}
