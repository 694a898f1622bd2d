/* What each target makes of a plan that serves several: the part of the report that needs the plan. */
#include "emit/emit.h"
#include "emit/select.h"
#include "host/session.h"

/* targets: as the plan lists them, without the portable kernels; target 0 is those. */
static bool report_target(tw_session *session, const tw_plan_target *targets, int t,
                          tw_report_target *row, tw_diag *diag)
{
    const tw_model *model = &session->model;
    const tw_plan_target *target = t > 0 ? &targets[t - 1] : NULL;
    const void *plan;
    row->native = target ? (int)target->natives : (int)model->step_count;
    row->fallback = (int)model->step_count - row->native;
    row->scratch = target ? target->scratch : 0;
    return tw_select_plan(session->arena, model, target, &plan, &row->flash, diag);
}

bool tw_report_targets(const tw_schedule *schedule, const void *plan, uint32_t bytes,
                       tw_report *report, tw_diag *diag)
{
    const int count = schedule->target_count;
    tw_report_target *rows = tw_alloc_array(schedule->arena, (size_t)count, sizeof *rows);
    tw_session session;
    bool ok = tw_session_open(&session, plan, bytes, diag);
    uint32_t listed = 0;
    const tw_plan_target *targets =
        ok ? tw_plan_items(&session.model, TW_SECTION_TARGETS, sizeof *targets, &listed) : NULL;
    for (int i = 0; i < count && ok; i++) {
        rows[i].name = schedule->targets[i].text;
        ok = report_target(&session, targets, i, &rows[i], diag);
    }
    tw_session_close(&session);
    report->targets = rows;
    report->target_count = count;
    return ok;
}
