/* codegen: a plan out as C, with the runtime and the kernels it uses. */
#include <stdio.h>
#include <string.h>

#include "backends/backend.h"
#include "base/file.h"
#include "emit/firmware/firmware.h"
#include "emit/select.h"
#include "graph/graph.h"
#include "model.h"
#include "output.h"
#include "streams.h"
#include "testcase.h"

/* ---- what is asked for ---- */

/* "a/b.twp" to "b". */
static const char *stem_of(tw_cli *cli, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return tw_strndup(cli->arena, name, dot && dot != name ? (size_t)(dot - name) : strlen(name));
}

static bool choose_name(tw_cli *cli, tw_firmware_options *options)
{
    const char *given = cli_value(cli, TW_OPTION_name);
    options->name = given ? given : tw_firmware_name(cli->arena, stem_of(cli, cli->operands[0]));
    return !given || tw_firmware_name_is_safe(given) ||
           cli_usage(
               cli,
               "--name %.60s would not do in C: write a letter, then letters, digits and "
               "underscores, at most 48, and no keyword or name of the C library; %s would do",
               given, tw_firmware_name(cli->arena, given));
}

static bool choose_project(tw_cli *cli, tw_firmware_options *options)
{
    const char *given = cli_value(cli, TW_OPTION_project), *known, *all = "";
    options->project = given ? given : "cmake";
    for (int i = 0; tw_firmware_project(cli->arena, i, &known); i++) {
        if (strcmp(known, options->project) == 0)
            return true;
        all = tw_format(cli->arena, "%s%s%s", all, *all ? ", " : "", known);
    }
    return cli_usage(cli, "no project is called %.60s; there are: %s", options->project, all);
}

static bool choose(tw_cli *cli, tw_firmware_options *options)
{
    enum { LIBRARY, APP, DIRECT };
    int weights = 0, format = LIBRARY;
    uint64_t align = 16;
    if (!choose_name(cli, options) || !choose_project(cli, options) ||
        !cli_choice(cli, TW_OPTION_weights, "embed|extern", &weights) ||
        !cli_choice(cli, TW_OPTION_format, "library|app|direct", &format) ||
        !cli_whole(cli, TW_OPTION_align, 16, 4096, &align))
        return false;
    if ((align & (align - 1)) != 0)
        return cli_usage(cli, "--align %llu is no power of two", (unsigned long long)align);
    const bool vectors = cli_has(cli, TW_OPTION_vectors) || cli_has(cli, TW_OPTION_steps);
    if (format == LIBRARY && vectors)
        return cli_usage(cli, "--vectors and --steps are for a program: add --format app");
    if (format == DIRECT && weights == 1)
        return cli_usage(cli, "--weights extern needs a plan, which --format direct does without");
    if ((format == APP || vectors) && strcmp(options->project, "cmake") != 0)
        return cli_usage(cli, "the program is built by cmake or make: leave out --project %s",
                         options->project);
    options->external = weights == 1;
    options->direct = format == DIRECT;
    options->app = format == APP || vectors;
    options->align = (uint32_t)align;
    return true;
}

/* ---- whose kernels ---- */

/* Every target that the plan serves, for a message. */
static const char *served(tw_cli *cli, const tw_plan_target *targets, uint32_t count)
{
    const char *all = "reference";
    for (uint32_t i = 0; i < count; i++)
        all = tw_format(cli->arena, "%s,%.*s", all, TW_TARGET_TEXT - 1, targets[i].text);
    return all;
}

static bool refuse_target(tw_cli *cli, const char *wanted, const tw_plan_target *targets,
                          uint32_t count)
{
    const char *all = served(cli, targets, count);
    return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                   "the plan serves %s, not %s; compile it for that too: tilewright compile MODEL "
                   "--backend %s,%s -o %s",
                   all, wanted, all, wanted, cli->operands[0]);
}

/* The one of the plan's targets that --backend means; null: the portable kernels. */
static bool find_target(tw_cli *cli, const tw_model *model, const tw_plan_target **found)
{
    const char *wanted = cli_value(cli, TW_OPTION_backend);
    tw_target target;
    uint32_t count;
    const tw_plan_target *targets =
        tw_plan_items(model, TW_SECTION_TARGETS, sizeof *targets, &count);
    *found = NULL;
    if (!wanted)
        wanted = "reference";
    if (strchr(wanted, ','))
        return cli_usage(cli, "--backend %.60s: a firmware is for one back end", wanted);
    if (!tw_target_parse(cli->arena, wanted, strlen(wanted), &target, &cli->diag))
        return false;
    for (uint32_t i = 0; i < count && target.number != 0; i++) {
        if (targets[i].backend != target.number ||
            (strchr(wanted, ':') && targets[i].cpus != target.cpus))
            continue;
        if (*found)
            return cli_usage(cli, "the plan serves %s: say which processor, as in --backend %.*s",
                             served(cli, targets, count), TW_TARGET_TEXT - 1, targets[i].text);
        *found = &targets[i];
    }
    return *found || target.number == 0 || refuse_target(cli, wanted, targets, count);
}

/* The plan as that target's firmware has it. Close it either way. */
static bool open_selected(tw_cli *cli, const tw_session *session, const tw_plan_target *target,
                          tw_session *selected)
{
    const void *plan;
    uint32_t bytes;
    return tw_select_plan(cli->arena, &session->model, target, &plan, &bytes, &cli->diag) &&
           tw_session_open(selected, plan, bytes, &cli->diag);
}

/* ---- test vectors ---- */

/* The inputs of a test, by name, or else by position. */
static bool bind_case(tw_cli *cli, const cli_testcase *test, cli_job *job)
{
    const tw_session *session = job->session;
    for (uint32_t i = 0; i < session->model.input_count; i++) {
        const tw_tensor *t = tw_input_tensor(&session->model, i);
        const tw_shape want = tw_shape_of((tw_dtype)t->dtype, t->rank, t->dim);
        const cli_fixture *found = (int)i < test->input_count ? &test->inputs[i] : NULL;
        for (int k = 0; k < test->input_count; k++)
            if (strcmp(test->inputs[k].name, session->input_names[i]) == 0)
                found = &test->inputs[k];
        if (!found || !tw_shape_equal(&found->shape, &want))
            return tw_fail(&cli->diag, TW_CODE_FAILED, cli_tensor_name(cli, session, false, i),
                           NULL, "the test folder holds nothing of this input's type and shape");
        if (found->data)
            job->inputs[i] = (cli_stream){found->data, found->steps};
    }
    return true;
}

static bool read_case(tw_cli *cli, const char *folder, cli_testcase *test)
{
    cli_testdir dir;
    if (!cli_testdir_read(cli, folder, &dir))
        return false;
    if (dir.count == 0)
        return cli_usage(cli, "%.200s holds no test data", folder);
    *test = dir.cases[0];
    return true;
}

static void keep_vectors(tw_cli *cli, const cli_job *job, tw_firmware_options *options)
{
    const tw_model *model = &job->session->model;
    tw_firmware_vector *vectors = tw_alloc_array(cli->arena, (size_t)job->steps, sizeof *vectors);
    for (uint64_t v = 0; v < job->steps; v++) {
        const uint8_t **in = tw_alloc_array(cli->arena, model->input_count + 1, sizeof *in);
        const uint8_t **out = tw_alloc_array(cli->arena, model->output_count + 1, sizeof *out);
        for (uint32_t i = 0; i < model->input_count; i++)
            in[i] = cli_job_input(job, i, v);
        for (uint32_t i = 0; i < model->output_count; i++)
            out[i] = job->outputs[i] + v * tw_tensor_bytes(tw_output_tensor(model, i));
        vectors[v] = (tw_firmware_vector){in, out, job->is_silent[v]};
    }
    options->vectors = vectors;
    options->vector_count = (int)job->steps;
}

enum { MOST_VECTORS = 1000 };

/* Random numbers, over and over: three runs that yield something, and those that come before. */
static bool run_until_heard(tw_cli *cli, tw_session *session, cli_job *job)
{
    enum { HEARD = 3 };
    for (;;) {
        *job = cli_job_new(cli, session, job->steps);
        cli_job_fill_random(cli, job, 1);
        if (!cli_job_run(cli, job))
            return false;
        const uint64_t heard = job->steps - job->silent;
        const uint64_t wanted = heard ? job->silent + HEARD : 2 * job->steps;
        if (cli_has(cli, TW_OPTION_steps) || heard >= HEARD || job->steps == MOST_VECTORS)
            return true;
        job->steps = wanted < MOST_VECTORS ? wanted : MOST_VECTORS;
        tw_reset(&session->context);
    }
}

/* Run the plan here: what it gives is what the target must give. */
static bool make_vectors(tw_cli *cli, tw_session *session, tw_firmware_options *options)
{
    const char *folder = cli_value(cli, TW_OPTION_vectors);
    cli_testcase test = {.steps = 3};
    if (folder && !read_case(cli, folder, &test))
        return false;
    if (!cli_whole(cli, TW_OPTION_steps, 1, MOST_VECTORS, &test.steps))
        return false;
    cli_job job = cli_job_new(cli, session, test.steps < MOST_VECTORS ? test.steps : MOST_VECTORS);
    if (folder ? !bind_case(cli, &test, &job) || !cli_job_run(cli, &job)
               : !run_until_heard(cli, session, &job))
        return false;
    keep_vectors(cli, &job, options);
    return true;
}

/* ---- which kernel runs a step ---- */

static const char *backend_of(uint32_t kernel)
{
    const uint32_t index = kernel >> 24;
    return index < (uint32_t)tw_backend_count ? tw_backends[index]->name : "unknown";
}

/* One line, or object, a step: native, or why the portable kernel runs it. `of`: the plan that says
 * why. */
static void explain(tw_cli *cli, const tw_model *of, const tw_plan_target *target,
                    const tw_session *session)
{
    json_t *steps = json_array();
    char name[CLI_VISIBLE], why[CLI_VISIBLE];
    for (uint32_t i = 0; i < session->model.step_count; i++) {
        const tw_plan_step *s = &session->model.steps[i];
        const tw_kernel *kernel = session->model.kernels[s->kernel];
        const tw_opdef *op = tw_op_by_code(s->operator_code);
        const char *backend = backend_of(kernel->id), *c = tw_firmware_kernel_name(kernel);
        const tw_plan_variant *variant = target ? tw_plan_variant_of(of, target, i) : NULL;
        const bool native = !target || (variant && variant->kernel != TW_ABSENT);
        const char *reason = variant ? tw_plan_reason(of, variant) : "";
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(session->step_names[i]));
        json_object_set_new(one, "operator", json_string(op ? op->name : "unknown"));
        json_object_set_new(one, "kernel", json_string(c ? c : "unknown"));
        json_object_set_new(one, "backend", json_string(backend));
        json_object_set_new(one, "native", json_boolean(native));
        if (!native || *reason)
            json_object_set_new(one, native ? "remark" : "reason", cli_json_text(reason));
        json_array_append_new(steps, one);
        if (!cli->json_wanted)
            printf("%4u  %-26.26s %-17s %-28s %s%s%s\n", i,
                   cli_visible(session->step_names[i], name), op ? op->name : "unknown",
                   c ? c : "unknown",
                   native ? backend : "falls back: ", native && *reason ? ", " : "",
                   cli_visible(reason, why));
    }
    json_object_set_new(cli->json, "steps", steps);
}

/* ---- the command ---- */

static void report(tw_cli *cli, const tw_session *session, const tw_firmware_options *options,
                   const tw_firmware_report *made)
{
    const char *folder = cli_value(cli, TW_OPTION_folder);
    json_t *kernels = json_array(), *sources = json_array();
    char bytes[32];
    for (int i = 0; i < made->kernel_count; i++)
        json_array_append_new(kernels, json_string(made->kernels[i]));
    for (int i = 0; i < made->source_count; i++)
        json_array_append_new(sources, json_string(made->sources[i]));
    json_object_set_new(cli->json, "folder", cli_json_text(folder));
    json_object_set_new(cli->json, "name", json_string(options->name));
    json_object_set_new(cli->json, "project", json_string(options->project));
    json_object_set_new(cli->json, "files", json_integer(made->files));
    json_object_set_new(cli->json, "kernels", kernels);
    json_object_set_new(cli->json, "sources", sources);
    json_object_set_new(cli->json, "vectors", json_integer(options->vector_count));
    json_object_set_new(cli->json, "memory", cli_json_memory(&session->model));
    if (!cli->json_wanted)
        printf("%s: %d files, %s bytes of source; %d kernels; begin with src/%s.h\n", folder,
               made->files, cli_grouped(made->bytes, bytes), made->kernel_count, options->name);
}

/* `session` computes the test vectors, `selected` is what the firmware carries. */
static bool write(tw_cli *cli, tw_session *session, const tw_session *selected,
                  tw_firmware_options *options)
{
    tw_firmware_report made;
    if ((options->app && !make_vectors(cli, session, options)) ||
        !tw_firmware_write(selected, options, cli_value(cli, TW_OPTION_folder), &made, cli->arena,
                           &cli->diag))
        return false;
    report(cli, selected, options, &made);
    return true;
}

/* Espressif's processors are no Cortex-M. */
static bool project_can(tw_cli *cli, const tw_firmware_options *options)
{
    return strcmp(options->project, "esp-idf") != 0 ||
           strcmp(options->backend->name, "cmsis-nn") != 0 ||
           cli_usage(cli, "--project esp-idf: CMSIS-NN runs on Cortex-M; --backend esp-nn or "
                          "reference would do");
}

static bool generate(tw_cli *cli, tw_session *session, tw_firmware_options *options)
{
    const tw_plan_target *target;
    tw_session selected = {0};
    bool ok = find_target(cli, &session->model, &target) &&
              open_selected(cli, session, target, &selected);
    if (ok && cli_has(cli, TW_OPTION_explain))
        explain(cli, &session->model, target, &selected);
    options->backend = ok ? tw_backends[target ? target->backend : 0] : NULL;
    ok = ok && project_can(cli, options);
    if (ok && cli_has(cli, TW_OPTION_folder))
        ok = write(cli, session, &selected, options);
    tw_session_close(&selected);
    return ok;
}

/* A model is told from a file that cannot be read and from one that calls itself a plan. */
static bool is_plan(tw_cli *cli, const char *name)
{
    const char *path = cli->operands[0], *dot = strrchr(path, '.');
    void *data;
    size_t bytes;
    if (cli_is_plan(path))
        return true;
    if (!tw_read_file(cli->arena, path, INT32_MAX, &data, &bytes, &cli->diag))
        return false;
    snprintf(cli->diag.file, sizeof cli->diag.file, "%s", path);
    if (dot && strcmp(dot, ".twp") == 0)
        return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                       "the file does not begin as a plan does; compile the model again");
    return cli_usage(cli,
                     "%.200s is no plan; compile it first: tilewright compile %.200s -o %s.twp",
                     path, path, name);
}

static bool run(tw_cli *cli)
{
    tw_firmware_options options = {0};
    cli_model model;
    if (!cli_has(cli, TW_OPTION_folder) && !cli_has(cli, TW_OPTION_explain))
        return cli_usage(cli, "say where the firmware goes: -o DIR");
    if (cli_has(cli, TW_OPTION_folder) && !*cli_value(cli, TW_OPTION_folder))
        return cli_usage(cli, "-o names no folder");
    if (!choose(cli, &options))
        return false;
    if (!is_plan(cli, options.name))
        return false;
    bool ok = cli_model_open(cli, cli->operands[0], NULL, &model) &&
              generate(cli, &model.session, &options);
    cli_model_close(&model);
    return ok;
}

static const tw_option_id options[] = {TW_OPTION_folder,  TW_OPTION_format,  TW_OPTION_project,
                                       TW_OPTION_backend, TW_OPTION_name,    TW_OPTION_weights,
                                       TW_OPTION_align,   TW_OPTION_vectors, TW_OPTION_steps,
                                       TW_OPTION_explain, TW_OPTION_json,    TW_OPTION_COUNT};

const tw_command tw_command_codegen = {
    .name = "codegen",
    .summary = "write a plan as C that a firmware project takes in",
    .synopsis = "PLAN -o DIR",
    .about =
        "Writes a folder: NAME.h and NAME.c with the sizes as constants, init, run and the "
        "inputs and outputs by name; the plan as a constant array; the runtime's sources and only "
        "the kernels that the plan uses; and build files. The C is C99 and C++17, without "
        "warnings, and takes nothing from a heap. --format app adds a program that runs test "
        "vectors on the target, compares every byte with what this machine computed and says "
        "what memory and time it took. --format direct needs no plan at run time: a readable "
        "function a "
        "step and a segment, with every band written out, and the memory as one array; --steps or "
        "--vectors adds the program to it.",
    .examples =
        "  tilewright codegen model.twp -o firmware/model\n"
        "  tilewright codegen model.twp --format app -o trial && make -C trial run\n"
        "  tilewright codegen model.twp --project esp-idf --weights extern -o components/model\n",
    .options = options,
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
