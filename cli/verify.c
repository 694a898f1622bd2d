/* verify: does the compiled model compute what it should? The expected values come from a test
 * folder, from files, or from another plan or model. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/compare.h"
#include "import/tensor_file.h"
#include "model.h"
#include "output.h"
#include "per_node.h"
#include "streams.h"
#include "testcase.h"

/* What has been compared so far. Kept over the data sets of a folder. */
typedef struct tw_verdict {
    tw_tolerance tolerance;
    const char **names; /* of outputs */
    tw_difference *differences;
    tw_shape *shapes;
    uint32_t count;
    bool failed;
    char message[512];      /* the first failure */
    char node[256], op[64]; /* of the first tensor that differs, where that is known */
} tw_verdict;

static bool prepare_verdict(tw_cli *cli, tw_verdict *verdict)
{
    *verdict = (tw_verdict){.tolerance = {1e-3, 1e-7, 0}};
    return cli_real(cli, TW_OPTION_rtol, &verdict->tolerance.rtol) &&
           cli_real(cli, TW_OPTION_atol, &verdict->tolerance.atol) &&
           cli_whole(cli, TW_OPTION_lsb, 0, UINT32_MAX, &verdict->tolerance.lsb);
}

static void prepare_outputs(tw_cli *cli, tw_verdict *verdict, const tw_session *session)
{
    uint32_t count = session->model.output_count;
    if (verdict->names)
        return;
    verdict->count = count;
    verdict->names = tw_alloc_array(cli->arena, count + 1, sizeof *verdict->names);
    verdict->differences = tw_alloc_array(cli->arena, count + 1, sizeof *verdict->differences);
    verdict->shapes = tw_alloc_array(cli->arena, count + 1, sizeof *verdict->shapes);
    for (uint32_t i = 0; i < count; i++) {
        const tw_tensor *t = tw_output_tensor(&session->model, i);
        verdict->names[i] = tw_strdup(cli->arena, cli_tensor_name(cli, session, true, i));
        verdict->differences[i] = tw_no_difference();
        verdict->shapes[i] = tw_shape_of((tw_dtype)t->dtype, t->rank, t->dim);
    }
}

/* "[1,5,3]" of a flat index, with the step in front where there are several. */
static void index_text(const tw_shape *shape, int64_t index, uint64_t steps, char *text,
                       size_t bytes)
{
    int64_t elements = tw_shape_elements(shape);
    size_t n = 0;
    if (steps > 1)
        n += (size_t)snprintf(text, bytes, "step %" PRId64 " ", elements ? index / elements : 0);
    cli_place(shape, elements ? index % elements : 0, text + n, bytes - n);
}

static void fail_verdict(tw_verdict *verdict, const char *text)
{
    if (!verdict->failed)
        snprintf(verdict->message, sizeof verdict->message, "%s", text);
    verdict->failed = true;
}

/* Runs [from, from + steps) of output i against as many expected tensors; those that yield nothing yet are
 * left out. */
static void compare_runs(const tw_verdict *verdict, const cli_job *job, uint32_t i,
                         const uint8_t *want, uint64_t steps)
{
    const tw_shape *shape = &verdict->shapes[i];
    const size_t bytes = tw_shape_bytes(shape);
    const int64_t elements = tw_shape_elements(shape);
    const uint64_t from = job->steps - steps;
    for (uint64_t s = 0; s < steps; s++)
        if (!job->is_silent[from + s])
            tw_compare(shape->dtype, elements, job->outputs[i] + (from + s) * bytes,
                       want + s * bytes, &verdict->tolerance, (int64_t)s * elements,
                       &verdict->differences[i]);
}

/* Compare output i of a job with `steps` expected tensors: all of them, or the last ones. */
static void compare_output(tw_cli *cli, tw_verdict *verdict, const cli_job *job, uint32_t i,
                           const uint8_t *want, uint64_t steps)
{
    const tw_shape *shape = &verdict->shapes[i];
    int64_t elements = tw_shape_elements(shape) * (int64_t)steps, before;
    char place[96];
    tw_difference *d = &verdict->differences[i];
    before = d->differing;
    compare_runs(verdict, job, i, want, steps);
    if (d->differing == before || before)
        return;
    index_text(shape, d->first, steps, place, sizeof place);
    fail_verdict(verdict,
                 tw_format(cli->arena,
                           "output %.80s: %" PRId64 " of %" PRId64
                           " values differ beyond the tolerance; the first, at %s, is %.9g where "
                           "%.9g is expected",
                           verdict->names[i], d->differing, elements, place, d->got, d->want));
}

/* JSON has no infinity. */
static json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_string("inf");
}

/* Runs that yield nothing yet have nothing to compare; some run must have. */
static bool run_job(tw_cli *cli, cli_job *job)
{
    if (!cli_job_run(cli, job))
        return false;
    if (job->silent == job->steps)
        return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                       "none of %llu runs yields anything yet, so nothing is compared; give more "
                       "steps",
                       (unsigned long long)job->steps);
    if (job->silent) {
        json_object_set_new(cli->json, "silent", json_integer((json_int_t)job->silent));
        if (!cli->json_wanted)
            printf("%llu of %llu runs yield nothing yet and are not compared\n",
                   (unsigned long long)job->silent, (unsigned long long)job->steps);
    }
    return true;
}

/* ---- test folders ---- */

static int find_fixture(const cli_fixture *fixtures, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (*name && strcmp(fixtures[i].name, name) == 0)
            return i;
    return -1;
}

/* For each input (or output) of the plan, the fixture that belongs to it: by name where every one
 * is found by name, else by position. */
static bool match_fixtures(tw_cli *cli, const tw_session *session, bool output,
                           const cli_fixture *fixtures, int count, int **match)
{
    uint32_t own = output ? session->model.output_count : session->model.input_count;
    const char **names = output ? session->output_names : session->input_names;
    const char *what = output ? "outputs" : "inputs";
    int *found = *match = tw_alloc_array(cli->arena, own + 1, sizeof *found);
    bool named = true;
    for (uint32_t i = 0; i < own; i++) {
        found[i] = find_fixture(fixtures, count, names[i]);
        named = named && found[i] >= 0;
    }
    if (named)
        return true;
    if ((int)own != count)
        return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                       "the model has %u %s and the test %d, under other names", own, what, count);
    for (uint32_t i = 0; i < own; i++)
        found[i] = (int)i;
    return true;
}

static bool check_shape(tw_cli *cli, const cli_fixture *fixture, const tw_tensor *tensor,
                        const char *what)
{
    tw_shape own = tw_shape_of((tw_dtype)tensor->dtype, tensor->rank, tensor->dim);
    char have[96], want[96];
    if (tw_shape_equal(&own, &fixture->shape) ||
        (fixture->any_shape && own.dtype == fixture->shape.dtype &&
         tw_shape_elements(&own) == tw_shape_elements(&fixture->shape)))
        return true;
    tw_shape_text(&own, have, sizeof have);
    tw_shape_text(&fixture->shape, want, sizeof want);
    return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                   "%s %.80s of the model is %s, of the test %s", what, fixture->name, have, want);
}

static bool bind_inputs(tw_cli *cli, const cli_testcase *one, cli_job *job, const int *match)
{
    for (uint32_t i = 0; i < job->session->model.input_count; i++) {
        const cli_fixture *fixture = &one->inputs[match[i]];
        if (!check_shape(cli, fixture, tw_input_tensor(&job->session->model, i), "input"))
            return false;
        if (fixture->data && fixture->steps != 1 && fixture->steps != one->steps)
            return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                           "input %.80s has %llu tensors for %llu steps", fixture->name,
                           (unsigned long long)fixture->steps, (unsigned long long)one->steps);
        job->inputs[i] = (cli_stream){fixture->data, fixture->steps};
    }
    return true;
}

static uint32_t position(const int *match, uint32_t count, int fixture)
{
    uint32_t i = 0;
    while (i < count && match[i] != fixture)
        i++;
    return i;
}

static bool bind_links(tw_cli *cli, const cli_testcase *one, cli_job *job, const int *in,
                       const int *out)
{
    cli_link *links = tw_alloc_array(cli->arena, (size_t)one->link_count + 1, sizeof *links);
    const tw_model *model = &job->session->model;
    for (int i = 0; i < one->link_count; i++) {
        links[i].input = position(in, model->input_count, one->links[i].input);
        links[i].output = position(out, model->output_count, one->links[i].output);
        if (links[i].input == model->input_count || links[i].output == model->output_count)
            return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                           "a state of the test is not among the model's inputs and outputs");
    }
    job->links = links;
    job->link_count = one->link_count;
    return true;
}

static bool verify_case(tw_cli *cli, const cli_testcase *one, tw_session *session,
                        tw_verdict *verdict)
{
    int *in, *out;
    cli_job job = cli_job_new(cli, session, one->steps);
    prepare_outputs(cli, verdict, session);
    if (!match_fixtures(cli, session, false, one->inputs, one->input_count, &in) ||
        !match_fixtures(cli, session, true, one->outputs, one->output_count, &out) ||
        !bind_inputs(cli, one, &job, in) || !bind_links(cli, one, &job, in, out))
        return false;
    for (uint32_t i = 0; i < session->model.output_count; i++)
        if (!check_shape(cli, &one->outputs[out[i]], tw_output_tensor(&session->model, i),
                         "output"))
            return false;
    if (!run_job(cli, &job))
        return false;
    for (uint32_t i = 0; i < session->model.output_count; i++) {
        const cli_fixture *want = &one->outputs[out[i]];
        if (want->data && want->steps <= one->steps)
            compare_output(cli, verdict, &job, i, want->data, want->steps);
    }
    return true;
}

/* The inputs of a data set, for the importer: their extents, and what they hold where it may take
 * that. data: of those too that are not the same at every step. */
static tw_offered_input *offer(tw_cli *cli, const cli_testcase *one, bool data)
{
    tw_offered_input *offered =
        tw_alloc_array(cli->arena, (size_t)one->input_count + 1, sizeof *offered);
    for (int i = 0; i < one->input_count; i++) {
        const cli_fixture *f = &one->inputs[i];
        if (f->any_shape) /* it offers nothing */
            continue;
        offered[i] =
            (tw_offered_input){.name = f->name, .dtype = f->shape.dtype, .rank = f->shape.rank};
        offered[i].fixed = f->constant;
        offered[i].data = data || f->constant ? f->data : NULL;
        memcpy(offered[i].dim, f->shape.dim, sizeof offered[i].dim);
    }
    return offered;
}

/* Data that cannot be read may belong to a model that cannot be compiled: then that is the news. */
static bool read_folder(tw_cli *cli, const tw_compile_options *options, cli_testdir *dir)
{
    cli_model model;
    if (cli_testdir_read(cli, cli->operands[0], dir))
        return true;
    if (cli->diag.code == TW_CODE_UNSUPPORTED || !dir->model)
        return false;
    tw_diag about_data = cli->diag;
    cli->diag = (tw_diag){.warn = about_data.warn};
    cli_model_open(cli, dir->model, options, &model);
    cli_model_close(&model);
    if (cli->diag.code != TW_CODE_UNSUPPORTED)
        cli->diag = about_data;
    return false;
}

static bool verify_folder(tw_cli *cli, tw_verdict *verdict)
{
    cli_testdir dir;
    tw_compile_options options;
    bool ok = cli_compile_options(cli, &options) && read_folder(cli, &options, &dir);
    for (int i = 0; ok && i < dir.count; i++) {
        cli_model model;
        options.offered = offer(cli, &dir.cases[i], dir.offers);
        options.offered_count = dir.cases[i].input_count;
        ok = cli_model_open(cli, dir.model, &options, &model) &&
             verify_case(cli, &dir.cases[i], &model.session, verdict);
        cli_progress_end();
        cli_model_close(&model);
    }
    return ok;
}

/* ---- files, or another model ---- */

static bool expect_files(tw_cli *cli, const cli_job *job, tw_verdict *verdict)
{
    const char **files;
    if (!cli_bind_files(cli, TW_OPTION_expect, job->session, true, &files))
        return false;
    for (uint32_t i = 0; i < job->session->model.output_count; i++) {
        cli_stream want;
        if (!files[i])
            continue;
        if (!cli_read_stream(cli, files[i], tw_output_tensor(&job->session->model, i), job->steps,
                             &want))
            return false;
        compare_output(cli, verdict, job, i, want.data, want.steps);
    }
    return true;
}

/* The other model, compiled for plenty of memory and in whole tensors. */
static bool open_other(tw_cli *cli, cli_model *other)
{
    tw_compile_options options;
    memset(other, 0, sizeof *other);
    if (!cli_compile_options(cli, &options))
        return false;
    tw_memories_default(&options.memories);
    options.random_bands = 0;
    cli->diag.file[0] = 0;
    bool ok = cli_model_open(cli, cli_value(cli, TW_OPTION_against), &options, other);
    cli_progress_end();
    return ok;
}

static bool check_alike(tw_cli *cli, const tw_model *a, const tw_model *b)
{
    if (a->input_count != b->input_count || a->output_count != b->output_count)
        return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                       "the two models have %u and %u inputs, %u and %u outputs; they must be "
                       "alike",
                       a->input_count, b->input_count, a->output_count, b->output_count);
    for (uint32_t i = 0; i < a->input_count + a->output_count; i++) {
        bool out = i >= a->input_count;
        uint32_t k = out ? i - a->input_count : i;
        const tw_tensor *s = out ? tw_output_tensor(a, k) : tw_input_tensor(a, k);
        const tw_tensor *t = out ? tw_output_tensor(b, k) : tw_input_tensor(b, k);
        if (!tw_same_shape(s, t) || s->dtype != t->dtype)
            return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                           "%s %u differs between the two models in type or shape",
                           out ? "output" : "input", k);
    }
    return true;
}

/* Run the other model on the same inputs; its outputs are the expected ones. */
static bool expect_model(tw_cli *cli, const cli_job *job, tw_verdict *verdict)
{
    cli_model other;
    const tw_model *own = &job->session->model;
    bool ok = open_other(cli, &other) && check_alike(cli, own, &other.session.model);
    if (ok) {
        cli_job mirror = cli_job_new(cli, &other.session, job->steps);
        memcpy(mirror.inputs, job->inputs, sizeof *job->inputs * own->input_count);
        mirror.links = job->links;
        mirror.link_count = job->link_count;
        ok = cli_job_run(cli, &mirror);
        for (uint64_t s = 0; ok && s < job->steps; s++)
            if (job->is_silent[s] != mirror.is_silent[s])
                fail_verdict(verdict, tw_format(cli->arena,
                                                "one of the two yields nothing in run "
                                                "%llu, where the other does",
                                                (unsigned long long)s));
        for (uint32_t i = 0; ok && i < own->output_count; i++)
            compare_output(cli, verdict, job, i, mirror.outputs[i], job->steps);
    }
    cli_model_close(&other);
    return ok;
}

/* Inputs that nobody gave, from the folder where it has them. */
static bool inputs_from(tw_cli *cli, const char *folder, cli_job *job)
{
    for (uint32_t i = 0; i < job->session->model.input_count; i++) {
        const char *name = cli_tensor_name(cli, job->session, false, i);
        const char *file = job->inputs[i].data ? NULL : cli_tensor_file(cli, folder, name);
        if (file && !cli_read_stream(cli, file, tw_input_tensor(&job->session->model, i),
                                     job->steps, &job->inputs[i]))
            return false;
    }
    return true;
}

/* The outputs that the folder has are the expected ones. */
static bool expect_folder(tw_cli *cli, const char *folder, const cli_job *job, tw_verdict *verdict)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < job->session->model.output_count; i++) {
        const char *file = cli_tensor_file(cli, folder, verdict->names[i]);
        cli_stream want;
        if (!file)
            continue;
        if (!cli_read_stream(cli, file, tw_output_tensor(&job->session->model, i), job->steps,
                             &want))
            return false;
        compare_output(cli, verdict, job, i, want.data, want.steps);
        found++;
    }
    return found || cli_has(cli, TW_OPTION_per_node) ||
           tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                   "%.200s has a file for none of the outputs; the first one's would be %.80s.npy",
                   folder, verdict->names[0]);
}

/* The first tensor that differs says more than the outputs, which differ because of it. */
static bool verify_nodes(tw_cli *cli, const cli_job *job, tw_verdict *verdict)
{
    cli_parting parting;
    if (!cli_verify_per_node(cli, job, cli_value(cli, TW_OPTION_against), &verdict->tolerance,
                             &parting))
        return false;
    json_object_set_new(cli->json, "tensors", json_integer((json_int_t)parting.tensors));
    if (!parting.tensors)
        return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                       "%.200s has a file for none of the model's tensors",
                       cli_value(cli, TW_OPTION_against));
    if (!cli->json_wanted)
        printf("%" PRIu64 " tensors compared\n", parting.tensors);
    if (!parting.found)
        return true;
    const tw_difference *d = &parting.difference;
    json_t *first = json_object();
    json_object_set_new(first, "tensor", cli_json_text(parting.tensor));
    json_object_set_new(first, "node", cli_json_text(parting.node));
    json_object_set_new(first, "operator", cli_json_text(parting.op));
    json_object_set_new(first, "index", cli_json_text(parting.place));
    json_object_set_new(first, "got", json_number(d->got));
    json_object_set_new(first, "want", json_number(d->want));
    json_object_set_new(cli->json, "first_difference", first);
    verdict->failed = true;
    snprintf(verdict->node, sizeof verdict->node, "%s", parting.node);
    snprintf(verdict->op, sizeof verdict->op, "%s", parting.op);
    snprintf(verdict->message, sizeof verdict->message,
             "tensor %.80s is the first that differs: %" PRId64 " of %" PRId64
             " values; at %s it is %.9g where %.9g is expected",
             parting.tensor, d->differing, parting.elements, parting.place, d->got, d->want);
    return true;
}

static bool check_options(tw_cli *cli)
{
    bool against = cli_has(cli, TW_OPTION_against), per_node = cli_has(cli, TW_OPTION_per_node);
    if (!against && !cli_has(cli, TW_OPTION_expect))
        return cli_usage(cli,
                         "say what is expected: --expect [NAME=]FILE or --against PLAN|MODEL|DIR");
    if (!per_node)
        return true;
    if (!against)
        return cli_usage(cli, "--per-node needs --against MODEL|DIR");
    if (cli_has(cli, TW_OPTION_steps) || cli_has(cli, TW_OPTION_feed))
        return cli_usage(cli, "--per-node looks at one step, without --steps and --feed");
    if (cli_is_plan(cli->operands[0]) || cli_is_plan(cli_value(cli, TW_OPTION_against)))
        return cli_usage(cli, "--per-node needs models: a plan has no other tensors than its own");
    return true;
}

static bool verify_model(tw_cli *cli, tw_verdict *verdict)
{
    cli_model model;
    uint64_t steps = 1;
    const char *against = cli_value(cli, TW_OPTION_against);
    bool folder = against && cli_is_folder(against);
    if (!check_options(cli))
        return false;
    if (!cli_whole(cli, TW_OPTION_steps, 1, CLI_MAX_STEPS, &steps))
        return false;
    bool ok = cli_model_open(cli, cli->operands[0], NULL, &model);
    cli_progress_end();
    if (ok) {
        cli_job job = cli_job_new(cli, &model.session, steps);
        prepare_outputs(cli, verdict, &model.session);
        ok = cli_job_bind(cli, &job) && (!folder || inputs_from(cli, against, &job));
        if (ok && against && !folder && !cli_has(cli, TW_OPTION_input))
            cli_job_fill_random(cli, &job, 1);
        ok = ok && run_job(cli, &job) && expect_files(cli, &job, verdict) &&
             (!folder || expect_folder(cli, against, &job, verdict)) &&
             (!against || folder || expect_model(cli, &job, verdict)) &&
             (!cli_has(cli, TW_OPTION_per_node) || verify_nodes(cli, &job, verdict));
    }
    cli_model_close(&model);
    return ok;
}

/* ---- the command ---- */

static void report(tw_cli *cli, const tw_verdict *verdict, const char *result, const char *message)
{
    json_t *outputs = json_array();
    for (uint32_t i = 0; i < verdict->count; i++) {
        const tw_difference *d = &verdict->differences[i];
        char name[CLI_VISIBLE];
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(verdict->names[i]));
        json_object_set_new(one, "max_abs", json_number(d->max_abs));
        json_object_set_new(one, "max_rel", json_number(d->max_rel));
        json_object_set_new(
            one, "max_ulp",
            json_integer((json_int_t)(d->max_ulp > INT64_MAX ? INT64_MAX : d->max_ulp)));
        json_object_set_new(one, "differing", json_integer(d->differing));
        json_array_append_new(outputs, one);
        if (!cli->json_wanted)
            printf("%s: max abs %.3g, max rel %.3g, max ulp %" PRIu64 ", %" PRId64
                   " beyond the tolerance\n",
                   cli_visible(verdict->names[i], name), d->max_abs, d->max_rel, d->max_ulp,
                   d->differing);
    }
    json_object_set_new(cli->json, "result", json_string(result));
    json_object_set_new(cli->json, "outputs", outputs);
    json_object_set_new(cli->json, "message", cli_json_text(message));
    if (!cli->json_wanted)
        printf("%s\n", result);
}

static bool run(tw_cli *cli)
{
    tw_verdict verdict;
    if (!prepare_verdict(cli, &verdict))
        return false;
    bool folder = cli_is_folder(cli->operands[0]) && !cli_is_saved_model(cli->operands[0]);
    if (folder && (cli_has(cli, TW_OPTION_input) || cli_has(cli, TW_OPTION_expect) ||
                   cli_has(cli, TW_OPTION_against) || cli_has(cli, TW_OPTION_steps) ||
                   cli_has(cli, TW_OPTION_feed) || cli_has(cli, TW_OPTION_per_node)))
        return cli_usage(cli, "a test folder brings its own inputs, outputs and steps");
    bool ok = folder ? verify_folder(cli, &verdict) : verify_model(cli, &verdict);
    if (cli->diag.code == TW_CODE_USAGE)
        return false;
    if (ok && verdict.failed) {
        snprintf(cli->diag.file, sizeof cli->diag.file, "%s", cli->operands[0]);
        ok = tw_fail(&cli->diag, TW_CODE_FAILED, verdict.node, verdict.op, "%s", verdict.message);
    }
    report(cli, &verdict,
           ok                                      ? "pass"
           : cli->diag.code == TW_CODE_UNSUPPORTED ? "unsupported"
                                                   : "fail",
           cli->diag.message);
    return ok;
}

static const tw_option_id options[] = {
    TW_OPTION_input,     TW_OPTION_expect,       TW_OPTION_against,      TW_OPTION_per_node,
    TW_OPTION_steps,     TW_OPTION_feed,         TW_OPTION_rtol,         TW_OPTION_atol,
    TW_OPTION_lsb,       TW_OPTION_state,        TW_OPTION_memory,       TW_OPTION_input_shape,
    TW_OPTION_signature, TW_OPTION_constant,     TW_OPTION_stream,       TW_OPTION_stream_padding,
    TW_OPTION_io_layout, TW_OPTION_input_rows,   TW_OPTION_output_rows,  TW_OPTION_backend,
    TW_OPTION_prefer,    TW_OPTION_no_recompute, TW_OPTION_random_bands, TW_OPTION_loop_limit,
    TW_OPTION_json,      TW_OPTION_COUNT};

const tw_command tw_command_verify = {
    .name = "verify",
    .summary = "compare what a model computes with what it should",
    .synopsis = "TESTDIR|MODEL|PLAN",
    .about =
        "Compiles and runs the model and compares its outputs. TESTDIR is an ONNX test-case "
        "folder (model.onnx, test_data_set_0/input_0.pb, ...) or a folder with a model and "
        "io.tsv (tab-separated: role in|out|const|state, name, dtype, shape, steps, file). A "
        "value passes when |got - expected| <= atol + rtol * |expected|; NaN equals NaN; "
        "integers and booleans must be equal. With --per-node the model is compiled up to each of "
        "its tensors in turn, until one differs.",
    .examples = "  tilewright verify testdata/test_softmax_axis_1\n"
                "  tilewright verify model.onnx --input x.npy --expect y.npy --rtol 1e-4\n"
                "  tilewright verify model.onnx -m 64K --random-bands 1 --against model.onnx\n"
                "  tilewright verify vad.onnx --state stateN=state --steps 156 --input x.bin "
                "--expect y.bin\n"
                "  tilewright verify model.onnx --against tensors/ --per-node\n",
    .options = options,
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
