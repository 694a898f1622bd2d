/* compile: model in, plan out. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "graph/print.h"
#include "model.h"
#include "report.h"

/* The stages met, and the one to print. */
typedef struct tw_dumper {
    tw_cli *cli;
    const char *wanted; /* "list": names only */
    bool found;
    const char *stages;
} tw_dumper;

static void dump(void *user, const char *stage, const tw_graph *graph)
{
    enum { MOST_ELEMENTS = 8 };
    tw_dumper *dumper = user;
    tw_diag diag = {0};
    dumper->stages =
        tw_format(dumper->cli->arena, "%s%s%s", dumper->stages, *dumper->stages ? ", " : "", stage);
    cli_progress_end();
    if (strcmp(dumper->wanted, "list") == 0)
        printf("%s\n", stage);
    else if (strcmp(dumper->wanted, stage) == 0)
        tw_text_sketch(graph, stdout, MOST_ELEMENTS, &diag);
    else
        return;
    dumper->found = true;
}

static bool write_plan(tw_cli *cli, const char *path, const tw_compiled *compiled)
{
    char bytes[32];
    cli->diag.file[0] = 0; /* from here on the model is not to blame */
    if (!tw_write_file_atomic(path, compiled->plan, compiled->plan_bytes, &cli->diag))
        return false;
    cli_report_json(&compiled->report, cli->json);
    json_object_set_new(cli->json, "plan", cli_json_text(path));
    json_object_set_new(cli->json, "bytes", json_integer(compiled->plan_bytes));
    if (!cli->json_wanted) {
        printf("%s: %s bytes\n", path, cli_grouped(compiled->plan_bytes, bytes));
        cli_report_totals(&compiled->report, stdout);
        cli_report_rolling(&compiled->report, stdout);
        cli_report_again(&compiled->report, stdout);
        cli_report_float_steps(&compiled->report, stdout);
    }
    return true;
}

static bool run(tw_cli *cli)
{
    tw_compile_options options;
    tw_compiled compiled;
    const char *path = cli_value(cli, TW_OPTION_plan);
    tw_dumper dumper = {cli, cli_value(cli, TW_OPTION_dump), false, ""};
    if (cli_is_plan(cli->operands[0]))
        return cli_usage(cli, "%.200s is a plan already", cli->operands[0]);
    if (!path && !dumper.wanted)
        return cli_usage(cli, "say where the plan goes: -o PLAN");
    if (dumper.wanted && cli->json_wanted)
        return cli_usage(cli, "--dump prints text; leave out --json");
    if (!cli_compile_options(cli, &options) || !cli_model_ends(cli, cli->operands[0], &options))
        return false;
    if (dumper.wanted) {
        options.dump = dump;
        options.dump_user = &dumper;
    }
    bool ok = tw_compile_file(cli->operands[0], &options, &compiled, &cli->diag);
    cli_progress_end();
    if (compiled.report.planned)
        cli_report_json(&compiled.report, cli->json);
    if (ok && dumper.wanted && !dumper.found)
        ok = cli_usage(cli, "no stage is called %.60s; they are: %.600s", dumper.wanted,
                       dumper.stages);
    ok = ok && (!path || write_plan(cli, path, &compiled));
    tw_compiled_free(&compiled);
    return ok;
}

static const tw_option_id options[] = {
    TW_OPTION_plan,        TW_OPTION_memory,         TW_OPTION_input_shape, TW_OPTION_signature,
    TW_OPTION_stream,      TW_OPTION_stream_padding, TW_OPTION_io_layout,   TW_OPTION_input_rows,
    TW_OPTION_output_rows, TW_OPTION_backend,        TW_OPTION_prefer,      TW_OPTION_no_recompute,
    TW_OPTION_strip,       TW_OPTION_dump,           TW_OPTION_json,        TW_OPTION_random_bands,
    TW_OPTION_state,       TW_OPTION_constant,       TW_OPTION_loop_limit,  TW_OPTION_COUNT};

const tw_command tw_command_compile = {
    .name = "compile",
    .summary = "turn a model into a plan that fits a memory budget",
    .synopsis = "MODEL -o PLAN",
    .about =
        "Imports the model, normalises it, decides where every byte lives and writes the "
        "plan. MODEL is an ONNX, TensorFlow Lite, PyTorch, Keras or TensorFlow model, a "
        "SavedModel's "
        "folder among them, or a network in the text IR, told by its content. The "
        "same model and options give the same bytes. When the budget is too small, the message "
        "names the operator, its bytes and the smallest budget that works, and no file is "
        "written.",
    .examples = "  tilewright compile model.onnx -m 64K -o model.twp\n"
                "  tilewright compile model.onnx --input-shape x:1x3x96x96 -o model.twp\n"
                "  tilewright compile model.onnx --dump import\n",
    .options = options,
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
