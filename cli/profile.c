/* Time between firings, by step. */
#include "profile.h"

#include <inttypes.h>
#include <stdio.h>

#include "ops/op.h"
#include "output.h"

cli_profile cli_profile_new(tw_cli *cli, const tw_session *session)
{
    const size_t steps = session->model.step_count + (size_t)1;
    return (cli_profile){.session = session,
                         .seconds = tw_alloc_array(cli->arena, steps, sizeof(double)),
                         .firings = tw_alloc_array(cli->arena, steps, sizeof(uint64_t))};
}

int cli_profile_hook(void *user, tw_context *context, const tw_firing *firing)
{
    cli_profile *profile = user;
    double now = cli_seconds();
    (void)context;
    profile->seconds[firing->step] += now - profile->last;
    profile->firings[firing->step]++;
    profile->last = now;
    return 0;
}

json_t *cli_json_profile(const cli_profile *profile, uint64_t runs)
{
    const tw_session *session = profile->session;
    json_t *array = json_array();
    for (uint32_t i = 0; i < session->model.step_count; i++) {
        const tw_opdef *op = tw_op_by_code(session->model.steps[i].operator_code);
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(session->step_names[i]));
        json_object_set_new(one, "operator", json_string(op ? op->name : "unknown"));
        json_object_set_new(one, "time_us", json_real(profile->seconds[i] * 1e6 / (double)runs));
        json_object_set_new(one, "firings", json_integer((json_int_t)(profile->firings[i] / runs)));
        json_object_set_new(one, "work", json_integer((json_int_t)session->model.steps[i].work));
        json_array_append_new(array, one);
    }
    return array;
}

void cli_print_profile(const cli_profile *profile, uint64_t runs)
{
    const tw_session *session = profile->session;
    double total = 0;
    char work[32], name[CLI_VISIBLE];
    for (uint32_t i = 0; i < session->model.step_count; i++)
        total += profile->seconds[i];
    printf("step  %-26s %-17s %12s %6s %8s %14s\n", "name", "operator", "us a run", "%", "firings",
           "work");
    for (uint32_t i = 0; i < session->model.step_count; i++) {
        const tw_opdef *op = tw_op_by_code(session->model.steps[i].operator_code);
        printf("%4u  %-26.26s %-17s %12.1f %6.1f %8" PRIu64 " %14s\n", i,
               cli_visible(session->step_names[i], name), op ? op->name : "unknown",
               profile->seconds[i] * 1e6 / (double)runs,
               total > 0 ? 100 * profile->seconds[i] / total : 0, profile->firings[i] / runs,
               cli_grouped(session->model.steps[i].work, work));
    }
}
