/* inspect: what a model or a plan holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "graph/print.h"
#include "import/import.h"
#include "model.h"
#include "ops/op.h"
#include "output.h"

/* ---- models ---- */

static json_t *json_values(tw_value *const *values, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        const tw_value *v = values[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(v->name));
        json_object_set_new(one, "dtype", json_string(tw_dtype_name(v->shape.dtype)));
        json_object_set_new(one, "shape", cli_json_shape(v->shape.rank, v->shape.dim));
        if (v->quant.count == 1) {
            json_object_set_new(one, "scale", json_real((double)v->quant.scale[0]));
            json_object_set_new(one, "zero_point", json_integer(v->quant.zero_point[0]));
        }
        json_array_append_new(array, one);
    }
    return array;
}

/* How often each operator occurs: {name: count}. */
static json_t *json_operators(const tw_graph *graph)
{
    json_t *counts = json_object();
    for (int i = 0; i < graph->node_count; i++) {
        const char *name = graph->nodes[i]->op->name;
        json_int_t before = json_integer_value(json_object_get(counts, name));
        json_object_set_new(counts, name, json_integer(before + 1));
    }
    return counts;
}

/* Signatures, metadata: [{kind, text}]. */
static json_t *json_notes(const tw_graph *graph)
{
    json_t *array = json_array();
    for (int i = 0; i < graph->note_count; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "kind", json_string(graph->notes[i].kind));
        json_object_set_new(one, "text", cli_json_text(graph->notes[i].text));
        json_array_append_new(array, one);
    }
    return array;
}

static void set_model_json(const tw_graph *graph, const char *format, json_t *object)
{
    uint64_t parameters = 0;
    for (int i = 0; i < graph->value_count; i++)
        if (graph->values[i]->data)
            parameters += (uint64_t)tw_shape_elements(&graph->values[i]->shape);
    json_object_set_new(object, "kind", json_string("model"));
    json_object_set_new(object, "format", cli_json_text(format));
    json_object_set_new(object, "model", cli_json_text(graph->name));
    json_object_set_new(object, "inputs", json_values(graph->inputs, graph->input_count));
    json_object_set_new(object, "outputs", json_values(graph->outputs, graph->output_count));
    json_object_set_new(object, "notes", json_notes(graph));
    json_object_set_new(object, "nodes", json_integer(graph->node_count));
    json_object_set_new(object, "parameters", json_integer((json_int_t)parameters));
    json_object_set_new(object, "macs", json_integer((json_int_t)tw_graph_macs(graph)));
    json_object_set_new(object, "operators", json_operators(graph));
}

/* "  input   x            f32 1x3x32x32  scale 0.5 zero 3" for each of a JSON array of tensors. */
static void print_tensors(const char *role, const json_t *tensors)
{
    size_t i;
    const json_t *one;
    json_array_foreach((json_t *)(uintptr_t)tensors, i, one)
    {
        const json_t *shape = json_object_get(one, "shape"), *scale = json_object_get(one, "scale");
        int32_t dim[TW_MAX_RANK] = {0};
        char text[80], name[CLI_VISIBLE];
        for (size_t k = 0; k < json_array_size(shape) && k < TW_MAX_RANK; k++)
            dim[k] = (int32_t)json_integer_value(json_array_get(shape, k));
        printf("%-8s %-24s %-4s %s", role,
               cli_visible(json_string_value(json_object_get(one, "name")), name),
               json_string_value(json_object_get(one, "dtype")),
               cli_shape_text((int)json_array_size(shape), dim, text));
        if (scale)
            printf("  scale %.9g zero %" JSON_INTEGER_FORMAT, json_real_value(scale),
                   json_integer_value(json_object_get(one, "zero_point")));
        putchar('\n');
    }
}

static void print_notes(const json_t *notes)
{
    size_t i;
    const json_t *one;
    json_array_foreach((json_t *)(uintptr_t)notes, i, one)
    {
        char text[CLI_VISIBLE];
        printf("%s %s\n", json_string_value(json_object_get(one, "kind")),
               cli_visible(json_string_value(json_object_get(one, "text")), text));
    }
}

static void print_model(const json_t *object)
{
    char a[32], b[32], model[CLI_VISIBLE];
    const char *name;
    json_t *count;
    printf("%s (%s): %" JSON_INTEGER_FORMAT " nodes, %s parameters, %s multiply-accumulates\n",
           cli_visible(json_string_value(json_object_get(object, "model")), model),
           json_string_value(json_object_get(object, "format")),
           json_integer_value(json_object_get(object, "nodes")),
           cli_grouped((uint64_t)json_integer_value(json_object_get(object, "parameters")), a),
           cli_grouped((uint64_t)json_integer_value(json_object_get(object, "macs")), b));
    print_tensors("input", json_object_get(object, "inputs"));
    print_tensors("output", json_object_get(object, "outputs"));
    json_object_foreach(json_object_get(object, "operators"), name, count)
    {
        printf("%6" JSON_INTEGER_FORMAT "x  %s\n", json_integer_value(count), name);
    }
    print_notes(json_object_get(object, "notes"));
}

/* The text IR to a file with its side files, to a pipe whole, to a terminal without large data. */
static bool print_ir(tw_cli *cli, const tw_graph *graph)
{
    enum { MOST_ELEMENTS = 8 };
    const char *path = cli_value(cli, TW_OPTION_out);
    if (!path)
        return cli_terminal_of_stdout().is_terminal
                   ? tw_text_sketch(graph, stdout, MOST_ELEMENTS, &cli->diag)
                   : tw_text_print(graph, stdout, NULL, &cli->diag);
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    if (!file)
        return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL, "no memory left to print the graph");
    bool ok = tw_text_print(graph, file, tw_path_folder(cli->arena, path), &cli->diag);
    ok = fclose(file) == 0 && ok;
    ok = ok && tw_write_file_atomic(path, text, bytes, &cli->diag);
    free(text);
    return ok;
}

static bool inspect_model(tw_cli *cli, const char *path)
{
    tw_compile_options options;
    const char *format = "";
    if (!cli_compile_options(cli, &options) || !cli_model_ends(cli, path, &options))
        return false;
    const tw_import_options import = tw_import_options_of(&options);
    tw_graph *graph = tw_import(cli->arena, path, &import, &format, &cli->diag);
    if (!graph)
        return false;
    cli->diag.file[0] = 0;
    set_model_json(graph, format, cli->json);
    if (cli_has(cli, TW_OPTION_ir))
        return print_ir(cli, graph);
    if (!cli->json_wanted)
        print_model(cli->json);
    return true;
}

/* ---- plans ---- */

static json_t *json_plan_tensor(tw_cli *cli, const tw_session *session, bool output, uint32_t i)
{
    const tw_tensor *t =
        output ? tw_output_tensor(&session->model, i) : tw_input_tensor(&session->model, i);
    json_t *one = json_object();
    json_object_set_new(one, "name", cli_json_text(cli_tensor_name(cli, session, output, i)));
    json_object_set_new(one, "dtype", json_string(tw_dtype_name((tw_dtype)t->dtype)));
    json_object_set_new(one, "shape", cli_json_shape(t->rank, t->dim));
    if (t->scale > 0) {
        json_object_set_new(one, "scale", json_real((double)t->scale));
        json_object_set_new(one, "zero_point", json_integer(t->zero_point));
    }
    return one;
}

static json_t *json_plan_steps(const tw_session *session)
{
    json_t *array = json_array();
    const tw_model *m = &session->model;
    for (uint32_t i = 0; i < m->step_count; i++) {
        const tw_opdef *op = tw_op_by_code(m->steps[i].operator_code);
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(session->step_names[i]));
        json_object_set_new(one, "operator", json_string(op ? op->name : "unknown"));
        json_object_set_new(one, "band_rows", json_integer(m->steps[i].band));
        json_object_set_new(one, "scratch", json_integer(m->steps[i].scratch_bytes));
        json_object_set_new(one, "work", json_integer((json_int_t)m->steps[i].work));
        json_array_append_new(array, one);
    }
    return array;
}

static void set_plan_json(tw_cli *cli, const tw_session *session, json_t *object)
{
    const tw_plan_header *h = session->model.header;
    json_t *inputs = json_array(), *outputs = json_array();
    char sha[65] = "";
    for (uint32_t i = 0; i < session->model.input_count; i++)
        json_array_append_new(inputs, json_plan_tensor(cli, session, false, i));
    for (uint32_t i = 0; i < session->model.output_count; i++)
        json_array_append_new(outputs, json_plan_tensor(cli, session, true, i));
    for (int i = 0; i < 32; i++)
        snprintf(sha + 2 * i, 3, "%02x", h->source_sha256[i]);
    json_object_set_new(object, "kind", json_string("plan"));
    json_object_set_new(object, "format", json_pack("[ii]", (int)h->major, (int)h->minor));
    json_object_set_new(object, "model", cli_json_text(session->model_name));
    json_object_set_new(object, "source_format", cli_json_text(session->format));
    json_object_set_new(object, "source_sha256", json_string(sha));
    json_object_set_new(object, "options", cli_json_text(session->options));
    json_object_set_new(object, "bytes", json_integer(h->bytes));
    json_object_set_new(object, "constants", json_integer(session->model.constants_bytes));
    json_object_set_new(object, "memory", cli_json_memory(&session->model));
    json_object_set_new(object, "work", json_integer((json_int_t)h->work));
    json_object_set_new(object, "inputs", inputs);
    json_object_set_new(object, "outputs", outputs);
    json_object_set_new(object, "segments", json_integer(session->model.segment_count));
    json_object_set_new(object, "steps", json_plan_steps(session));
}

static void print_plan(const tw_session *session, const json_t *object)
{
    const tw_plan_header *h = session->model.header;
    size_t i;
    json_t *step;
    char a[32], b[32], name[CLI_VISIBLE];
    printf("plan of %s (%s), format %u.%u, %s bytes, of which constants %s\n",
           *session->model_name ? cli_visible(session->model_name, name) : "a stripped model",
           *session->format ? session->format : "origin not recorded", h->major, h->minor,
           cli_grouped(h->bytes, a), cli_grouped(session->model.constants_bytes, b));
    printf("source   sha256 %s\n", json_string_value(json_object_get(object, "source_sha256")));
    if (*session->options)
        printf("options  %s\n", cli_visible(session->options, name));
    printf("RAM      %s bytes",
           cli_grouped((uint64_t)h->activations + h->scratch + h->state + h->context, a));
    printf(" (activations %s", cli_grouped(h->activations, a));
    printf(", scratch %s", cli_grouped(h->scratch, a));
    printf(", state %s", cli_grouped(h->state, a));
    printf(", context %s)\n", cli_grouped(h->context, a));
    print_tensors("input", json_object_get(object, "inputs"));
    print_tensors("output", json_object_get(object, "outputs"));
    json_array_foreach(json_object_get(object, "steps"), i, step)
    {
        printf("%4zu  %-28s %-17s work %s\n", i,
               cli_visible(json_string_value(json_object_get(step, "name")), name),
               json_string_value(json_object_get(step, "operator")),
               cli_grouped((uint64_t)json_integer_value(json_object_get(step, "work")), a));
    }
}

static bool inspect_plan(tw_cli *cli, const char *path)
{
    cli_model model;
    if (cli_has(cli, TW_OPTION_ir))
        return cli_usage(cli, "%.200s is a plan; the text IR is of models", path);
    bool ok = cli_model_open(cli, path, NULL, &model);
    if (ok) {
        set_plan_json(cli, &model.session, cli->json);
        if (!cli->json_wanted)
            print_plan(&model.session, cli->json);
    }
    cli_model_close(&model);
    return ok;
}

static bool run(tw_cli *cli)
{
    const char *path = cli->operands[0];
    if (cli_has(cli, TW_OPTION_ir) && cli->json_wanted)
        return cli_usage(cli, "--ir and --json exclude each other");
    if (cli_has(cli, TW_OPTION_out) && !cli_has(cli, TW_OPTION_ir))
        return cli_usage(cli, "-o goes with --ir");
    return cli_is_plan(path) ? inspect_plan(cli, path) : inspect_model(cli, path);
}

static const tw_option_id options[] = {
    TW_OPTION_ir,       TW_OPTION_out,  TW_OPTION_input_shape, TW_OPTION_signature,
    TW_OPTION_constant, TW_OPTION_json, TW_OPTION_COUNT};

const tw_command tw_command_inspect = {
    .name = "inspect",
    .summary = "show what a model or a plan holds",
    .synopsis = "MODEL|PLAN",
    .about = "Prints inputs, outputs, operators and sizes. With --ir, prints the imported graph in "
             "the text IR, which compiles like a model; on a terminal, large constants are left "
             "out.",
    .examples = "  tilewright inspect model.onnx\n"
                "  tilewright inspect model.onnx --ir -o model.twir\n"
                "  tilewright inspect model.twp --json\n",
    .options = options,
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
