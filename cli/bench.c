/* bench: how long a plan's runs take on this machine, and which steps take it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "output.h"
#include "profile.h"
#include "streams.h"

/* Runs go on until both are reached: enough of them for a median, and long enough for the clock. */
enum { LEAST_RUNS = 11, MOST_RUNS = 100000 };
static const double least_seconds = 1.0;

typedef struct tw_times {
    double *seconds; /* of each run */
    uint64_t runs;
    double total;
} tw_times;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Inputs are put in place before every run: their memory is the plan's to reuse. */
static bool run_once(tw_cli *cli, const cli_job *job, double *taken)
{
    cli_job_set_inputs(job, 0);
    double start = cli_seconds();
    if (!tw_session_run(job->session, &cli->diag))
        return false;
    *taken = cli_seconds() - start;
    return true;
}

static bool measure(tw_cli *cli, const cli_job *job, tw_times *times)
{
    uint64_t wanted = 0;
    double warm;
    if (!cli_whole(cli, TW_OPTION_steps, 1, MOST_RUNS, &wanted) || !run_once(cli, job, &warm))
        return false;
    uint64_t most = wanted ? wanted : MOST_RUNS;
    times->seconds = tw_alloc_array(cli->arena, (size_t)most, sizeof *times->seconds);
    while (times->runs < most &&
           (wanted || times->runs < LEAST_RUNS || times->total < least_seconds)) {
        cli_progress(NULL, "running",
                     wanted ? (double)times->runs / (double)wanted : times->total / least_seconds);
        if (!run_once(cli, job, &times->seconds[times->runs]))
            return false;
        times->total += times->seconds[times->runs++];
    }
    cli_progress_end();
    qsort(times->seconds, (size_t)times->runs, sizeof *times->seconds, compare);
    return true;
}

/* A second pass with a clock between steps, which the first is not to pay for. */
static bool profile_steps(tw_cli *cli, const cli_job *job, uint64_t runs, cli_profile *profile)
{
    tw_set_hook(&job->session->context, cli_profile_hook, profile);
    for (uint64_t i = 0; i < runs; i++) {
        cli_job_set_inputs(job, 0);
        profile->last = cli_seconds();
        if (!tw_session_run(job->session, &cli->diag))
            return false;
    }
    return true;
}

static void report(tw_cli *cli, const tw_session *session, const tw_times *times,
                   const cli_profile *profile, uint64_t profiled)
{
    const double least = times->seconds[0] * 1e6, most = times->seconds[times->runs - 1] * 1e6;
    const double median = times->seconds[times->runs / 2] * 1e6;
    uint64_t work = 0;
    char grouped[32];
    for (uint32_t i = 0; i < session->model.step_count; i++)
        work += session->model.steps[i].work;
    json_object_set_new(cli->json, "runs", json_integer((json_int_t)times->runs));
    json_object_set_new(cli->json, "time_us", json_real(median));
    json_object_set_new(cli->json, "least_us", json_real(least));
    json_object_set_new(cli->json, "most_us", json_real(most));
    json_object_set_new(cli->json, "work", json_integer((json_int_t)work));
    json_object_set_new(cli->json, "memory", cli_json_memory(&session->model));
    json_object_set_new(cli->json, "steps", cli_json_profile(profile, profiled));
    if (cli->json_wanted)
        return;
    printf("%.1f us a run (median of %" PRIu64 "; least %.1f, most %.1f)\n", median, times->runs,
           least, most);
    printf("%s operations a run, %.2f billion a second\n\n", cli_grouped(work, grouped),
           (double)work / (median * 1e3));
    cli_print_profile(profile, profiled);
}

static bool bench(tw_cli *cli, tw_session *session)
{
    tw_times times = {NULL, 0, 0};
    cli_job job = cli_job_new(cli, session, 1);
    if (!cli_job_bind(cli, &job))
        return false;
    cli_job_fill_random(cli, &job, 1);
    if (!measure(cli, &job, &times))
        return false;
    uint64_t profiled = times.runs < LEAST_RUNS ? times.runs : LEAST_RUNS;
    cli_profile profile = cli_profile_new(cli, session);
    if (!profile_steps(cli, &job, profiled, &profile))
        return false;
    report(cli, session, &times, &profile, profiled);
    return true;
}

static bool run(tw_cli *cli)
{
    return cli_on_model(cli, bench);
}

static const tw_option_id options[] = {
    TW_OPTION_input,        TW_OPTION_steps,       TW_OPTION_memory,         TW_OPTION_input_shape,
    TW_OPTION_signature,    TW_OPTION_stream,      TW_OPTION_stream_padding, TW_OPTION_io_layout,
    TW_OPTION_input_rows,   TW_OPTION_output_rows, TW_OPTION_backend,        TW_OPTION_prefer,
    TW_OPTION_no_recompute, TW_OPTION_constant,    TW_OPTION_state,          TW_OPTION_random_bands,
    TW_OPTION_json,         TW_OPTION_COUNT};

const tw_command tw_command_bench = {
    .name = "bench",
    .summary = "time a plan or a model on this machine, step by step",
    .synopsis = "PLAN|MODEL",
    .about =
        "Runs the plan, with the kernels that the device runs, for about a second (or --steps "
        "times) and "
        "prints the median, and what each step took of it. Inputs that are not given are random. "
        "This machine is not the device: use it to compare plans, and steps with each other.",
    .examples = "  tilewright bench model.twp\n"
                "  tilewright bench model.onnx -m 64K --prefer memory\n"
                "  tilewright bench model.onnx --json | jq .time_us\n",
    .options = options,
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
