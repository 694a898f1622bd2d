/* Models and plans, opened as the command line says. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "output.h"
#include "streaming.h"

/* NAME:1x3x224x224, NAME:none, or the extents alone for the first input. */
static bool parse_shape(tw_cli *cli, const char *text, tw_input_shape *shape)
{
    const char *colon = strrchr(text, ':');
    const char *at = colon ? colon + 1 : text;
    *shape =
        (tw_input_shape){.name = tw_strndup(cli->arena, text, colon ? (size_t)(colon - text) : 0)};
    if (colon && strcmp(at, "none") == 0) {
        shape->rank = -1;
        return true;
    }
    for (;;) {
        char *end;
        unsigned long extent = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || extent > INT32_MAX || shape->rank == TW_MAX_RANK ||
            (*end && *end != 'x'))
            return cli_usage(cli,
                             "--input-shape %.100s: write NAME:1x3x224x224, at most %d extents "
                             "below 2^31",
                             text, TW_MAX_RANK);
        shape->dim[shape->rank++] = (int32_t)extent;
        if (!*end)
            return true;
        at = end + 1;
    }
}

static bool parse_shapes(tw_cli *cli, tw_compile_options *options)
{
    const tw_option_values *given = &cli->options[TW_OPTION_input_shape];
    tw_input_shape *shapes = tw_alloc_array(cli->arena, (size_t)given->count + 1, sizeof *shapes);
    for (int i = 0; i < given->count; i++)
        if (!parse_shape(cli, given->values[i], &shapes[i]))
            return false;
    options->input_shapes = shapes;
    options->input_shape_count = given->count;
    return true;
}

bool cli_compile_options(tw_cli *cli, tw_compile_options *options)
{
    int layout = TW_IO_KEEP, prefer = TW_PREFER_BALANCED;
    uint64_t loop_limit = 0;
    const char *memory = cli_value(cli, TW_OPTION_memory);
    tw_compile_options_default(options);
    options->backends = cli_value(cli, TW_OPTION_backend);
    options->signature = cli_value(cli, TW_OPTION_signature);
    options->input_rows = cli_value(cli, TW_OPTION_input_rows);
    options->output_rows = cli_value(cli, TW_OPTION_output_rows);
    options->strip = cli_has(cli, TW_OPTION_strip);
    options->no_recompute = cli_has(cli, TW_OPTION_no_recompute);
    options->progress = cli_progress;
    if ((memory && !tw_parse_memories(memory, &options->memories, &cli->diag)) ||
        !parse_shapes(cli, options) || !cli_stream_option(cli, options) ||
        !cli_choice(cli, TW_OPTION_io_layout, "keep|nhwc", &layout) ||
        !cli_choice(cli, TW_OPTION_prefer, "balanced|memory|speed", &prefer) ||
        !cli_whole(cli, TW_OPTION_random_bands, 1, UINT64_MAX, &options->random_bands) ||
        !cli_whole(cli, TW_OPTION_loop_limit, 1, INT32_MAX, &loop_limit))
        return false;
    if (loop_limit)
        options->loop_limit = (uint32_t)loop_limit;
    options->io_layout = (tw_io_layout)layout;
    options->prefer = (tw_prefer)prefer;
    return true;
}

bool cli_is_plan(const char *path)
{
    uint32_t magic = 0;
    FILE *file = fopen(path, "rb");
    bool read = file && fread(&magic, sizeof magic, 1, file) == 1;
    if (file)
        fclose(file);
    return read && magic == TW_PLAN_MAGIC;
}

static bool open_plan(tw_cli *cli, const char *path, cli_model *model)
{
    void *bytes;
    size_t count;
    if (cli_has(cli, TW_OPTION_state) || cli_has(cli, TW_OPTION_constant) ||
        cli_has(cli, TW_OPTION_stream))
        return cli_usage(
            cli,
            "%.200s is a plan already, its ends are fixed; give --state, --constant and --stream "
            "when it is compiled",
            path);
    return tw_read_file(cli->arena, path, INT32_MAX, &bytes, &count, &cli->diag) &&
           tw_session_open(&model->session, bytes, count, &cli->diag);
}

static bool open_model(tw_cli *cli, const char *path, const tw_compile_options *options,
                       cli_model *model)
{
    tw_compile_options own;
    if (!options && (!cli_compile_options(cli, &own) || !cli_model_ends(cli, path, &own)))
        return false;
    return tw_compile_file(path, options ? options : &own, &model->compiled, &cli->diag) &&
           tw_session_open(&model->session, model->compiled.plan, model->compiled.plan_bytes,
                           &cli->diag);
}

bool cli_model_open(tw_cli *cli, const char *path, const tw_compile_options *options,
                    cli_model *model)
{
    memset(model, 0, sizeof *model);
    bool ok =
        cli_is_plan(path) ? open_plan(cli, path, model) : open_model(cli, path, options, model);
    if (!ok && !cli->diag.file[0])
        snprintf(cli->diag.file, sizeof cli->diag.file, "%s", path);
    return ok;
}

void cli_model_close(cli_model *model)
{
    tw_session_close(&model->session);
    tw_compiled_free(&model->compiled);
}

bool cli_on_model(tw_cli *cli, bool (*work)(tw_cli *cli, tw_session *session))
{
    cli_model model;
    bool ok = cli_model_open(cli, cli->operands[0], NULL, &model);
    cli_progress_end();
    ok = ok && work(cli, &model.session);
    cli_model_close(&model);
    return ok;
}

json_t *cli_json_memory(const tw_model *model)
{
    const tw_plan_header *h = model->header;
    json_t *memory = json_object();
    uint64_t total = (uint64_t)h->activations + h->scratch + h->state + h->context;
    json_object_set_new(memory, "total", json_integer((json_int_t)total));
    json_object_set_new(memory, "activations", json_integer(h->activations));
    json_object_set_new(memory, "scratch", json_integer(h->scratch));
    json_object_set_new(memory, "state", json_integer(h->state));
    json_object_set_new(memory, "context", json_integer(h->context));
    return memory;
}

const char *cli_tensor_name(tw_cli *cli, const tw_session *session, bool output, uint32_t index)
{
    const char *const *names =
        (const char *const *)(output ? session->output_names : session->input_names);
    const char *name = names ? names[index] : "";
    return *name ? name : tw_format(cli->arena, "%s %u", output ? "output" : "input", index);
}
