/* run: execute a plan or a model on the host, with the objects that the device runs. */
#include <inttypes.h>
#include <stdio.h>

#include "follow.h"
#include "model.h"
#include "ops/op.h"
#include "output.h"
#include "profile.h"
#include "streams.h"

/* ---- results ---- */

static void report_outputs(tw_cli *cli, const cli_job *job)
{
    const tw_session *session = job->session;
    json_t *outputs = json_array();
    char shape[80], visible[CLI_VISIBLE];
    for (uint32_t i = 0; i < session->model.output_count; i++) {
        const tw_tensor *t = tw_output_tensor(&session->model, i);
        const char *name = cli_tensor_name(cli, session, true, i);
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(name));
        json_object_set_new(one, "dtype", json_string(tw_dtype_name((tw_dtype)t->dtype)));
        json_object_set_new(one, "shape", cli_json_shape(t->rank, t->dim));
        json_array_append_new(outputs, one);
        if (cli->json_wanted)
            continue;
        if (session->status != TW_OK)
            continue;
        printf("%s %s %s:", cli_visible(name, visible), tw_dtype_name((tw_dtype)t->dtype),
               cli_shape_text(t->rank, t->dim, shape));
        cli_print_values(t, job->outputs[i] + (job->steps - 1) * tw_tensor_bytes(t));
    }
    json_object_set_new(cli->json, "outputs", outputs);
    json_object_set_new(cli->json, "memory", cli_json_memory(&session->model));
    json_object_set_new(cli->json, "steps", json_integer((json_int_t)job->steps));
    json_object_set_new(cli->json, "time_us", json_real(job->seconds * 1e6 / (double)job->steps));
    json_object_set_new(cli->json, "status", json_string(tw_status_text(session->status)));
    if (job->silent)
        json_object_set_new(cli->json, "steps_without_output",
                            json_integer((json_int_t)job->silent));
    if (job->silent && !cli->json_wanted)
        printf("%llu of %llu runs yield nothing yet: their outputs are zeros in files\n",
               (unsigned long long)job->silent, (unsigned long long)job->steps);
    if (!cli->json_wanted)
        printf("%.1f us a run\n", job->seconds * 1e6 / (double)job->steps);
}

static bool write_outputs(tw_cli *cli, const cli_job *job, const char **files)
{
    for (uint32_t i = 0; i < job->session->model.output_count; i++)
        if (files[i] && !cli_write_stream(cli, files[i], tw_output_tensor(&job->session->model, i),
                                          job->steps, job->outputs[i]))
            return false;
    return true;
}

/* ---- the command ---- */

static bool run_session(tw_cli *cli, tw_session *session)
{
    uint64_t steps = 1;
    const char **files;
    if (cli_has(cli, TW_OPTION_follow))
        return cli_follow(cli, session);
    cli_profile profile = cli_profile_new(cli, session);
    if (!cli_whole(cli, TW_OPTION_steps, 1, CLI_MAX_STEPS, &steps))
        return false;
    cli_job job = cli_job_new(cli, session, steps);
    if (!cli_job_bind(cli, &job) || !cli_bind_files(cli, TW_OPTION_output, session, true, &files))
        return false;
    if (cli_has(cli, TW_OPTION_profile)) {
        tw_set_hook(&session->context, cli_profile_hook, &profile);
        job.starting = &profile.last;
    }
    if (!cli_job_run(cli, &job) || !write_outputs(cli, &job, files))
        return false;
    report_outputs(cli, &job);
    if (cli_has(cli, TW_OPTION_profile)) {
        json_object_set_new(cli->json, "profile", cli_json_profile(&profile, steps));
        if (!cli->json_wanted)
            cli_print_profile(&profile, steps);
    }
    return true;
}

static bool run(tw_cli *cli)
{
    return cli_on_model(cli, run_session);
}

static const tw_option_id options[] = {
    TW_OPTION_input,       TW_OPTION_output,       TW_OPTION_steps,        TW_OPTION_feed,
    TW_OPTION_follow,      TW_OPTION_hop,          TW_OPTION_profile,      TW_OPTION_memory,
    TW_OPTION_input_shape, TW_OPTION_signature,    TW_OPTION_stream,       TW_OPTION_stream_padding,
    TW_OPTION_io_layout,   TW_OPTION_input_rows,   TW_OPTION_output_rows,  TW_OPTION_backend,
    TW_OPTION_prefer,      TW_OPTION_no_recompute, TW_OPTION_random_bands, TW_OPTION_state,
    TW_OPTION_constant,    TW_OPTION_loop_limit,   TW_OPTION_json,         TW_OPTION_COUNT};

const tw_command tw_command_run = {
    .name = "run",
    .summary = "execute a plan or a model on this machine",
    .synopsis = "PLAN|MODEL",
    .about =
        "Runs the plan with the kernels that the device runs; a model is compiled first. Every "
        "input needs a file or, over several steps, an output fed back to it. Outputs are "
        "printed in short, and written where --output says.",
    .examples =
        "  tilewright run model.twp --input x.npy --output y.npy\n"
        "  tilewright run model.onnx --input image=cat.bin --profile\n"
        "  tilewright run cell.twp --steps 50 --input x.bin --feed h_out=h_in --output y.bin\n"
        "  tilewright run cell.onnx --steps 50 --input x.bin --state h_out=h_in --output y.bin\n"
        "  arecord -q -r 16000 -f S16_LE -t wav | tilewright run vad.twp --follow - --hop 512\n",
    .options = options,
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
