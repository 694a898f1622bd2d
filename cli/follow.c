/* Streaming. In: frames of one input, the other inputs from files that hold one tensor. Out: a line a run
 * and output, or one output's elements (--output), written at once, so that what reads the other end of a
 * pipe need not wait. */
#include "follow.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "frames.h"
#include "graph/number.h"
#include "host/compare.h"
#include "model.h"
#include "output.h"
#include "streams.h"

/* ---- which input ---- */

/* The input that --follow means: the one it names, else the one that nothing else is given for. */
static bool find_input(tw_cli *cli, const cli_job *job, uint32_t *index, const char **path)
{
    const char *text = cli_value(cli, TW_OPTION_follow);
    uint32_t open = 0;
    if (cli_find_named(cli, job->session, false, text, index, path))
        return !job->inputs[*index].data ||
               cli_usage(cli, "input %.80s has a file and is to be followed",
                         cli_tensor_name(cli, job->session, false, *index));
    *path = text;
    for (uint32_t i = 0; i < job->session->model.input_count; i++) {
        if (!job->inputs[i].data) {
            *index = i;
            open++;
        }
    }
    return open == 1 || cli_usage(cli,
                                  open == 0 ? "every input has a file; none is left to follow"
                                            : "%u inputs have no file; write --follow NAME=FILE",
                                  open);
}

/* ---- what a run yields ---- */

static json_t *json_values(const tw_tensor *tensor, const uint8_t *data)
{
    tw_dtype dtype = (tw_dtype)tensor->dtype;
    uint32_t each = tw_dtype_bytes(dtype), count = tw_tensor_bytes(tensor) / each;
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) {
        char text[TW_NUMBER_TEXT];
        tw_number_print(dtype, data + i * each, text);
        json_t *number =
            json_loads(text, JSON_DECODE_ANY, NULL); /* null: inf and nan have no JSON */
        json_array_append_new(array, number ? number : json_string(text));
    }
    return array;
}

/* Seconds from the stream's beginning to the frame's end, or, where nobody knows a rate, the run. */
static void print_moment(const cli_frames *frames, uint64_t run)
{
    const uint32_t fresh = frames->hop / frames->each;
    if (frames->rate)
        printf("%9.3f s  ", (double)(run + 1) * fresh / frames->rate);
    else
        printf("%9" PRIu64 "  ", run);
}

static void report_run(tw_cli *cli, const cli_job *job, const cli_frames *frames, uint64_t run)
{
    const tw_model *model = &job->session->model;
    json_t *outputs = json_object(), *line = json_object();
    char visible[CLI_VISIBLE];
    for (uint32_t i = 0; i < model->output_count; i++) {
        const tw_tensor *tensor = tw_output_tensor(model, i);
        const char *name = cli_tensor_name(cli, job->session, true, i);
        tw_gather(tensor, tw_session_output(job->session, i), job->outputs[i]);
        if (cli->json_wanted) {
            json_object_set_new(outputs, name, json_values(tensor, job->outputs[i]));
            continue;
        }
        print_moment(frames, run);
        printf("%s:", cli_visible(name, visible));
        cli_print_values(tensor, job->outputs[i]);
    }
    json_object_set_new(line, "run", json_integer((json_int_t)run));
    json_object_set_new(line, "outputs", outputs);
    if (cli->json_wanted) {
        json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        putchar('\n');
    }
    json_decref(line);
    fflush(stdout);
}

/* ---- raw, for the next in a pipe ---- */

/* Where --output says that elements go, in place of lines: one output, to a file or, as "-", standard
 * output. */
typedef struct cli_raw {
    FILE *file; /* null: lines are wanted */
    const char *path;
    uint32_t output;
} cli_raw;

static bool open_raw(tw_cli *cli, const tw_session *session, cli_raw *raw)
{
    const char **files;
    int count = 0;
    if (!cli_has(cli, TW_OPTION_output))
        return true;
    if (!cli_bind_files(cli, TW_OPTION_output, session, true, &files))
        return false;
    for (uint32_t i = 0; i < session->model.output_count; i++)
        if (files[i]) {
            raw->output = i;
            raw->path = files[i];
            count++;
        }
    if (count != 1)
        return cli_usage(cli, "with --follow one --output is written, raw and run after run");
    const bool standard = strcmp(raw->path, "-") == 0;
    if (standard && cli->json_wanted)
        return cli_usage(cli, "--json and --output - both want standard output");
    raw->file = standard ? stdout : fopen(raw->path, "wb");
    return raw->file || tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL, "%.300s: %s", raw->path,
                                strerror(errno));
}

static void write_raw(const cli_job *job, const cli_raw *raw)
{
    const tw_tensor *tensor = tw_output_tensor(&job->session->model, raw->output);
    tw_gather(tensor, tw_session_output(job->session, raw->output), job->outputs[raw->output]);
    fwrite(job->outputs[raw->output], 1, tw_tensor_bytes(tensor), raw->file);
    fflush(raw->file);
}

static bool close_raw(tw_cli *cli, const cli_raw *raw)
{
    bool bad = raw->file && ferror(raw->file);
    if (raw->file && raw->file != stdout)
        bad |= fclose(raw->file) != 0;
    return !bad ||
           tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL, "%.300s: not written", raw->path);
}

/* ---- the loop ---- */

static bool run_frames(tw_cli *cli, cli_job *job, cli_frames *frames, const cli_raw *raw,
                       uint64_t most, uint64_t *runs)
{
    bool more = true;
    for (*runs = 0; *runs < most && !ferror(stdout); ++*runs) {
        if (!cli_frames_next(cli, frames, &more))
            return false;
        if (!more)
            break;
        cli_job_set_inputs(job, 0);
        if (!tw_session_run(job->session, &cli->diag))
            return false;
        if (job->session->status != TW_OK) /* it yields nothing yet */
            continue;
        if (raw->file)
            write_raw(job, raw);
        else
            report_run(cli, job, frames, *runs);
    }
    return true;
}

bool cli_follow(tw_cli *cli, tw_session *session)
{
    cli_frames frames = {0};
    cli_raw raw = {0};
    const char *path;
    uint32_t index = 0;
    uint64_t hop = 0, most = UINT64_MAX, runs = 0;
    cli_job job = cli_job_new(cli, session, 1);
    if (cli_has(cli, TW_OPTION_feed) || cli_has(cli, TW_OPTION_profile))
        return cli_usage(cli, "--follow goes without --profile; in place of --feed compile with "
                              "--state");
    if (!cli_whole(cli, TW_OPTION_steps, 1, UINT64_MAX, &most) ||
        !cli_whole(cli, TW_OPTION_hop, 1, UINT32_MAX, &hop) || !cli_job_bind(cli, &job) ||
        !find_input(cli, &job, &index, &path) || !open_raw(cli, session, &raw))
        return false;
    for (uint32_t i = 0; i < session->model.output_count; i++)
        job.outputs[i] =
            tw_alloc(cli->arena, tw_tensor_bytes(tw_output_tensor(&session->model, i)));
    cli->json_lines = true;
    bool ok = cli_frames_open(cli, path, tw_input_tensor(&session->model, index), hop, &frames);
    if (ok) {
        job.inputs[index] = (cli_stream){frames.frame, 1};
        ok = cli_job_complete(cli, &job) && run_frames(cli, &job, &frames, &raw, most, &runs);
    }
    json_object_set_new(cli->json, "runs", json_integer((json_int_t)runs));
    json_object_set_new(cli->json, "memory", cli_json_memory(&session->model));
    json_object_set_new(cli->json, "dropped_bytes", json_integer((json_int_t)frames.dropped));
    cli_frames_close(&frames);
    return close_raw(cli, &raw) && ok;
}
