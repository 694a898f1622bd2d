/* Files to inputs, runs, outputs to files. */
#include "streams.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "graph/number.h"
#include "host/compare.h"
#include "import/tensor_file.h"
#include "model.h"
#include "output.h"

static tw_shape shape_of(const tw_tensor *tensor)
{
    return tw_shape_of((tw_dtype)tensor->dtype, tensor->rank, tensor->dim);
}

/* ---- names ---- */

static uint32_t tensor_count(const tw_session *session, bool output)
{
    return output ? session->model.output_count : session->model.input_count;
}

bool cli_find_named(tw_cli *cli, const tw_session *session, bool output, const char *text,
                    uint32_t *index, const char **rest)
{
    for (uint32_t i = 0; i < tensor_count(session, output); i++) {
        const char *name = cli_tensor_name(cli, session, output, i);
        size_t n = strlen(name);
        if (strncmp(text, name, n) == 0 && text[n] == '=') {
            *index = i;
            *rest = text + n + 1;
            return true;
        }
    }
    return false;
}

static const char *all_names(tw_cli *cli, const tw_session *session, bool output)
{
    const char *names = "";
    for (uint32_t i = 0; i < tensor_count(session, output) && strlen(names) < 300; i++)
        names = tw_format(cli->arena, "%s%s%s", names, *names ? ", " : "",
                          cli_tensor_name(cli, session, output, i));
    return names;
}

static bool find_by_name(tw_cli *cli, const tw_session *session, bool output, const char *name,
                         uint32_t *index)
{
    for (uint32_t i = 0; i < tensor_count(session, output); i++)
        if (strcmp(cli_tensor_name(cli, session, output, i), name) == 0) {
            *index = i;
            return true;
        }
    return cli_usage(cli, "no %s is called %.80s; there are: %s", output ? "output" : "input", name,
                     all_names(cli, session, output));
}

bool cli_bind_files(tw_cli *cli, tw_option_id option, const tw_session *session, bool output,
                    const char ***files)
{
    const tw_option_values *given = &cli->options[option];
    const char *what = output ? "output" : "input";
    uint32_t count = tensor_count(session, output), index, next = 0;
    const char **bound = tw_alloc_array(cli->arena, (size_t)count + 1, sizeof *bound);
    *files = bound;
    for (int i = 0; i < given->count; i++) {
        const char *path;
        if (!cli_find_named(cli, session, output, given->values[i], &index, &path))
            continue;
        if (bound[index])
            return cli_usage(cli, "%s %.80s is given twice", what,
                             cli_tensor_name(cli, session, output, index));
        bound[index] = path;
    }
    for (int i = 0; i < given->count; i++) {
        const char *path = given->values[i];
        if (cli_find_named(cli, session, output, path, &index, &path))
            continue;
        while (next < count && bound[next])
            next++;
        if (next == count)
            return cli_usage(cli, "%.100s has no %s left to go with; there %s: %s", path, what,
                             count == 1 ? "is" : "are", all_names(cli, session, output));
        bound[next] = path;
    }
    return true;
}

/* ---- files ---- */

/* Is `got` the tensor itself, or `steps` of them along a leading axis? */
static bool shape_fits(const tw_shape *got, const tw_shape *want, uint64_t steps)
{
    if (tw_shape_equal(got, want))
        return true;
    tw_shape one = *got;
    if (got->dtype != want->dtype || got->rank != want->rank + 1 || (uint64_t)got->dim[0] != steps)
        return false;
    one.rank = want->rank;
    memcpy(one.dim, got->dim + 1, sizeof *one.dim * (size_t)want->rank);
    return tw_shape_equal(&one, want);
}

bool cli_read_stream(tw_cli *cli, const char *path, const tw_tensor *tensor, uint64_t steps,
                     cli_stream *stream)
{
    tw_shape want = shape_of(tensor);
    tw_tensor_data file;
    char got_text[96], want_text[96];
    size_t one = tw_shape_bytes(&want);
    if (!tw_tensor_read(cli->arena, path, &want, &file, &cli->diag))
        return false;
    tw_shape_text(&want, want_text, sizeof want_text);
    if (!shape_fits(&file.shape, &want, steps)) { /* never of a raw file: that has no shape */
        tw_shape_text(&file.shape, got_text, sizeof got_text);
        snprintf(cli->diag.file, sizeof cli->diag.file, "%s", path);
        return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                       "the file holds %s where %s is needed; convert it, or compile the model "
                       "with --input-shape",
                       got_text, want_text);
    }
    stream->data = file.data;
    stream->steps = one ? file.bytes / one : 1;
    if (stream->steps == 1 || stream->steps == steps)
        return true;
    snprintf(cli->diag.file, sizeof cli->diag.file, "%s", path);
    return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                   "the file holds %llu tensors of %s for %llu steps; give one, or one for each "
                   "step (--steps %llu)",
                   (unsigned long long)stream->steps, want_text, (unsigned long long)steps,
                   (unsigned long long)stream->steps);
}

static bool ends_in(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

bool cli_write_stream(tw_cli *cli, const char *path, const tw_tensor *tensor, uint64_t steps,
                      const uint8_t *data)
{
    tw_shape shape = shape_of(tensor);
    size_t bytes = tw_shape_bytes(&shape) * (size_t)steps;
    if (ends_in(path, ".pb"))
        return cli_usage(cli, "%.100s: outputs are written as .npy or .bin", path);
    if (!ends_in(path, ".npy"))
        return tw_write_file_atomic(path, data, bytes, &cli->diag);
    if (steps > 1) {
        if (shape.rank == TW_MAX_RANK || steps > INT32_MAX || bytes > INT32_MAX)
            return cli_usage(cli, "%.100s: %llu steps do not fit one .npy; write a .bin", path,
                             (unsigned long long)steps);
        memmove(shape.dim + 1, shape.dim, sizeof *shape.dim * (size_t)shape.rank);
        shape.dim[0] = (int32_t)steps;
        shape.rank++;
    }
    return tw_npy_write(path, &shape, data, &cli->diag);
}

void cli_print_values(const tw_tensor *tensor, const uint8_t *data)
{
    enum { MOST = 12 };
    char text[TW_NUMBER_TEXT];
    tw_dtype dtype = (tw_dtype)tensor->dtype;
    uint32_t each = tw_dtype_bytes(dtype), count = tw_tensor_bytes(tensor) / each;
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        tw_number_print(dtype, data + i * each, text);
        printf(" %s", text);
    }
    printf("%s\n", count > MOST ? " ..." : "");
}

/* ---- jobs ---- */

cli_job cli_job_new(tw_cli *cli, tw_session *session, uint64_t steps)
{
    cli_job job = {.session = session, .steps = steps};
    job.inputs = tw_alloc_array(cli->arena, session->model.input_count + 1, sizeof *job.inputs);
    job.outputs = tw_alloc_array(cli->arena, session->model.output_count + 1, sizeof *job.outputs);
    return job;
}

static bool bind_links(tw_cli *cli, cli_job *job)
{
    const tw_option_values *given = &cli->options[TW_OPTION_feed];
    cli_link *links = tw_alloc_array(cli->arena, (size_t)given->count + 1, sizeof *links);
    for (int i = 0; i < given->count; i++) {
        const char *input;
        if (!cli_find_named(cli, job->session, true, given->values[i], &links[i].output, &input))
            return cli_usage(cli, "--feed %.80s: write OUT=IN; the outputs are: %s",
                             given->values[i], all_names(cli, job->session, true));
        if (!find_by_name(cli, job->session, false, input, &links[i].input))
            return false;
        tw_shape from = shape_of(tw_output_tensor(&job->session->model, links[i].output));
        tw_shape to = shape_of(tw_input_tensor(&job->session->model, links[i].input));
        if (!tw_shape_equal(&from, &to))
            return cli_usage(cli, "--feed %.80s: the two differ in type or shape",
                             given->values[i]);
    }
    job->links = links;
    job->link_count = given->count;
    return true;
}

bool cli_job_bind(tw_cli *cli, cli_job *job)
{
    const char **files;
    if (!cli_bind_files(cli, TW_OPTION_input, job->session, false, &files) || !bind_links(cli, job))
        return false;
    for (uint32_t i = 0; i < job->session->model.input_count; i++)
        if (files[i] && !cli_read_stream(cli, files[i], tw_input_tensor(&job->session->model, i),
                                         job->steps, &job->inputs[i]))
            return false;
    return true;
}

static bool is_float(tw_dtype dtype)
{
    return dtype == TW_F32 || dtype == TW_F16 || dtype == TW_BF16 || dtype == TW_F64;
}

/* Of an input that says how many tokens come: the most that may; 0: it says nothing such. */
static uint32_t most_tokens(const tw_model *model, uint32_t input)
{
    for (uint32_t i = 0; i < model->position_count; i++)
        if (model->positions[i].count == model->inputs[input])
            return model->positions[i].tokens;
    return 0;
}

void cli_job_fill_random(tw_cli *cli, cli_job *job, uint64_t seed)
{
    for (uint32_t i = 0; i < job->session->model.input_count; i++) {
        const tw_tensor *tensor = tw_input_tensor(&job->session->model, i);
        tw_dtype dtype = (tw_dtype)tensor->dtype;
        uint32_t bytes = tw_tensor_bytes(tensor), each = tw_dtype_bytes(dtype);
        if (job->inputs[i].data)
            continue;
        uint8_t *data = tw_alloc(cli->arena, bytes);
        for (uint32_t at = 0; at < bytes; at += each) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t bits = seed ^ seed >> 32;
            if (is_float(dtype))
                tw_number_store(dtype, (double)(seed >> 11) * 0x1p-52 - 1, data + at);
            else if (dtype == TW_BOOL)
                data[at] = bits & 1;
            else
                memcpy(data + at, &bits, each); /* the lower bytes, on a little-endian host */
        }
        const uint32_t most = most_tokens(&job->session->model, i);
        if (most)
            memcpy(data, &most, sizeof most);
        job->inputs[i] = (cli_stream){data, 1};
    }
}

/* Every input has a source. A link's input starts at zero. */
bool cli_job_complete(tw_cli *cli, cli_job *job)
{
    const tw_model *model = &job->session->model;
    for (int i = 0; i < job->link_count; i++)
        if (!job->inputs[job->links[i].input].data)
            job->inputs[job->links[i].input] = (cli_stream){
                tw_alloc(cli->arena, tw_tensor_bytes(tw_input_tensor(model, job->links[i].input))),
                1};
    for (uint32_t i = 0; i < model->input_count; i++)
        if (!job->inputs[i].data)
            return cli_usage(cli, "input %.80s has no data; add --input [NAME=]FILE",
                             cli_tensor_name(cli, job->session, false, i));
    return true;
}

/* Linked inputs come from the step before, the others from their streams. */
const uint8_t *cli_job_input(const cli_job *job, uint32_t index, uint64_t step)
{
    const tw_model *model = &job->session->model;
    const uint32_t bytes = tw_tensor_bytes(tw_input_tensor(model, index));
    const cli_stream *stream = &job->inputs[index];
    const uint8_t *data = stream->steps > 1 ? stream->data + step * bytes : stream->data;
    for (int k = 0; k < job->link_count && step > 0; k++)
        if (job->links[k].input == index)
            data = job->outputs[job->links[k].output] + (step - 1) * bytes;
    return data;
}

void cli_job_set_inputs(const cli_job *job, uint64_t step)
{
    const tw_model *model = &job->session->model;
    for (uint32_t i = 0; i < model->input_count; i++)
        tw_scatter(tw_input_tensor(model, i), tw_session_input(job->session, i),
                   cli_job_input(job, i, step));
}

static void get_outputs(cli_job *job, uint64_t step)
{
    const tw_model *model = &job->session->model;
    for (uint32_t i = 0; i < model->output_count; i++) {
        const tw_tensor *tensor = tw_output_tensor(model, i);
        tw_gather(tensor, tw_session_output(job->session, i),
                  job->outputs[i] + step * tw_tensor_bytes(tensor));
    }
}

bool cli_job_run(tw_cli *cli, cli_job *job)
{
    const tw_model *model = &job->session->model;
    if (!cli_job_complete(cli, job))
        return false;
    for (uint32_t i = 0; i < model->output_count; i++) {
        uint64_t bytes = job->steps * tw_tensor_bytes(tw_output_tensor(model, i));
        if (bytes > UINT32_MAX)
            return cli_usage(cli, "%llu steps of output %.80s are more than 4 GB; run fewer",
                             (unsigned long long)job->steps,
                             cli_tensor_name(cli, job->session, true, i));
        job->outputs[i] = tw_alloc(cli->arena, bytes);
    }
    job->is_silent = tw_alloc_array(cli->arena, (size_t)job->steps, sizeof *job->is_silent);
    for (uint64_t step = 0; step < job->steps; step++) {
        cli_job_set_inputs(job, step);
        double start = cli_seconds();
        if (job->starting)
            *job->starting = start;
        if (!tw_session_run(job->session, &cli->diag))
            return false;
        job->seconds += cli_seconds() - start;
        job->is_silent[step] = job->session->status != TW_OK;
        if (job->is_silent[step])
            job->silent++;
        else
            get_outputs(job, step);
    }
    return true;
}
