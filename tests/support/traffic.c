/* Measured traffic against the predicted. */
#include "support/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int on_firing(void *user, tw_context *context, const tw_firing *firing)
{
    tw_test_traffic *t = user;
    (void)context;
    tw_traffic_add(t->model, firing, &t->step[firing->step]);
    t->calls[firing->step]++;
    return 0;
}

void tw_test_measure(tw_session *session, tw_test_traffic *traffic)
{
    size_t steps = (size_t)session->model.step_count + 1;
    traffic->model = &session->model;
    traffic->step = tw_alloc_array(session->arena, steps, sizeof *traffic->step);
    traffic->calls = tw_alloc_array(session->arena, steps, sizeof *traffic->calls);
    tw_set_hook(&session->context, on_firing, traffic);
}

void tw_test_expect_traffic(const tw_test_traffic *traffic, const tw_report *report,
                            const char *what)
{
    uint64_t slow_read = 0, slow_written = 0;
    assert_int_equal(report->step_count, traffic->model->step_count);
    for (int i = 0; i < report->step_count; i++) {
        const tw_report_step *s = &report->steps[i];
        if (s->calls != traffic->calls[i])
            fail_msg("step %d (%s) is called %u times, %u were predicted:\n%s", i, s->operator_name,
                     traffic->calls[i], s->calls, what);
        for (int r = 0; r < TW_MAX_REGIONS; r++) {
            const uint64_t read = traffic->step[i].read[r], written = traffic->step[i].written[r];
            if (read != s->traffic.read[r] || written != s->traffic.written[r])
                fail_msg(
                    "step %d (%s) reads %llu and writes %llu bytes of memory %d, %llu and %llu "
                    "were predicted:\n%s",
                    i, s->operator_name, (unsigned long long)read, (unsigned long long)written, r,
                    (unsigned long long)s->traffic.read[r],
                    (unsigned long long)s->traffic.written[r], what);
        }
        slow_read += traffic->step[i].read[TW_REGION_SLOW];
        slow_written += traffic->step[i].written[TW_REGION_SLOW];
    }
    assert_int_equal(slow_read, report->slow.traffic_read);
    assert_int_equal(slow_written, report->slow.traffic_written);
}
