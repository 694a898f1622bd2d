/* analyze: what a plan for the model would take, without writing it. */
#include <string.h>

#include "model.h"
#include "report.h"
#include "trace.h"

static void print_report(const tw_report *r, FILE *file)
{
    cli_terminal terminal = cli_terminal_of_stdout();
    char a[32], b[32], name[CLI_VISIBLE];
    fprintf(file, "%s (%s): %d operators, %s parameters, %s multiply-accumulates a run\n\n",
            cli_visible(r->model_name, name), r->format, r->operators,
            cli_grouped(r->parameters, a), cli_grouped(r->macs, b));
    cli_report_totals(r, file);
    cli_report_traffic(r, file);
    cli_report_again(r, file);
    fprintf(file, "layer by layer, nothing in place: %s bytes; bound for this order: %s bytes\n",
            cli_grouped(r->layerwise, a), cli_grouped(r->bound, b));
    fprintf(file, "smallest budget that works: %s bytes; transposes: %d inside, %d at the ends\n",
            cli_grouped(r->smallest_budget, a), r->transposes, r->boundary_transposes);
    if (!r->fits)
        fputs("It does not fit; what is shown is the plan of least memory.\n", file);
    cli_report_float_steps(r, file);
    cli_report_limits(r, file);
    cli_report_states(r, file);
    cli_report_pareto(r, file);
    fputc('\n', file);
    cli_report_segments(r, file);
    fputc('\n', file);
    cli_report_drawing(r, &terminal, file);
    fputc('\n', file);
    cli_report_steps(r, &terminal, file);
}

static bool run(tw_cli *cli)
{
    tw_compile_options options;
    tw_compiled compiled;
    if (cli_is_plan(cli->operands[0]))
        return cli_usage(cli, "%.200s is a plan already; analyze the model, or inspect the plan",
                         cli->operands[0]);
    if (!cli_compile_options(cli, &options) || !cli_model_ends(cli, cli->operands[0], &options))
        return false;
    options.pareto = cli_has(cli, TW_OPTION_pareto);
    bool ok = tw_compile_file(cli->operands[0], &options, &compiled, &cli->diag);
    cli_progress_end();
    if (compiled.report.planned || ok) {
        cli_report_json(&compiled.report, cli->json);
        if (!cli->json_wanted)
            print_report(&compiled.report, stdout);
    }
    if (ok && cli_has(cli, TW_OPTION_trace))
        ok = cli_trace(cli, &compiled);
    tw_compiled_free(&compiled);
    return ok;
}

static const tw_option_id options[] = {
    TW_OPTION_memory,         TW_OPTION_input_shape, TW_OPTION_signature,    TW_OPTION_stream,
    TW_OPTION_stream_padding, TW_OPTION_io_layout,   TW_OPTION_input_rows,   TW_OPTION_output_rows,
    TW_OPTION_backend,        TW_OPTION_prefer,      TW_OPTION_no_recompute, TW_OPTION_json,
    TW_OPTION_random_bands,   TW_OPTION_pareto,      TW_OPTION_trace,        TW_OPTION_state,
    TW_OPTION_constant,       TW_OPTION_loop_limit,  TW_OPTION_COUNT};

const tw_command tw_command_analyze = {
    .name = "analyze",
    .summary = "say what memory, flash and work a plan would take, and draw it",
    .synopsis = "MODEL",
    .about = "Plans the model and reports the memory it takes (activations, scratch, state, "
             "context), the flash, what no plan could beat, and a drawing of every buffer over "
             "time. Exit status 1 when the budget of -m does not suffice.",
    .examples = "  tilewright analyze model.onnx\n"
                "  tilewright analyze model.onnx -m 64K --json | jq .memory.total\n"
                "  tilewright analyze model.onnx --pareto\n",
    .options = options,
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
