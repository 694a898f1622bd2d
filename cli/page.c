/* report: one HTML file that shows a plan: memory over time, segments, traffic, what every step costs. The
 * report's JSON is put into a page that draws it (cli/page/); the file asks for nothing outside itself. */
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "host/plan_report.h"
#include "model.h"
#include "report.h"

/* Text of the page in which no character can begin markup. */
static void put_text(const char *text, FILE *file)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        default: fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
        }
}

/* The name as it stands in a title: UTF-8 whatever it is. */
static void put_title(const char *name, FILE *file)
{
    json_t *text = cli_json_text(name);
    put_text(json_string_value(text), file);
    json_decref(text);
}

/* JSON in which no text can end the script element it stands in: ASCII, with < and & escaped, which
 * occur in strings alone. */
static bool put_json(const json_t *object, FILE *file)
{
    char *text = json_dumps(object, JSON_ENSURE_ASCII | JSON_COMPACT | JSON_REAL_PRECISION(9));
    for (const char *c = text; c && *c; c++)
        if (*c == '<' || *c == '>' || *c == '&')
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    free(text);
    return text != NULL;
}

static bool put_page(const char *title, const json_t *object, FILE *file)
{
    bool ok = true;
    for (const char *c = cli_page_html; *c; c++) {
        if (strncmp(c, "@TITLE@", 7) == 0) {
            put_title(title, file);
            c += 6;
        } else if (strncmp(c, "@STYLE@", 7) == 0) {
            fputs(cli_page_css, file);
            c += 6;
        } else if (strncmp(c, "@DATA@", 6) == 0) {
            ok = put_json(object, file);
            c += 5;
        } else if (strncmp(c, "@SCRIPT@", 8) == 0) {
            fputs(cli_page_js, file);
            c += 7;
        } else {
            fputc(*c, file);
        }
    }
    return ok;
}

/* Without the folders: the same page wherever the file lies. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool write_page(tw_cli *cli, const tw_report *report, const char *options_text)
{
    const char *path = cli_value(cli, TW_OPTION_page);
    const char *title = *report->model_name ? report->model_name : "a network";
    char *text = NULL;
    size_t bytes = 0;
    json_t *object = json_object();
    FILE *file = open_memstream(&text, &bytes);
    cli_report_json(report, object);
    json_object_set_new(object, "file", cli_json_text(file_name(cli->operands[0])));
    json_object_set_new(object, "version", json_string(TW_VERSION));
    json_object_set_new(object, "options", cli_json_text(options_text));
    bool ok = file && put_page(title, object, file);
    if (file)
        ok = fclose(file) == 0 && ok;
    json_decref(object);
    if (!ok)
        tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL, "no memory left to write the page");
    if (ok)
        cli->diag.file[0] = 0; /* from here on the model is not to blame */
    ok = ok && tw_write_file_atomic(path, text, bytes, &cli->diag);
    free(text);
    if (ok) {
        json_object_set_new(cli->json, "page", cli_json_text(path));
        json_object_set_new(cli->json, "bytes", json_integer((json_int_t)bytes));
    }
    if (ok && !cli->json_wanted) {
        char grouped[32];
        printf("%s: %s bytes; open it in a browser\n", path, cli_grouped(bytes, grouped));
    }
    return ok;
}

static bool report_plan(tw_cli *cli)
{
    cli_model model;
    tw_report report;
    bool ok = cli_model_open(cli, cli->operands[0], NULL, &model) &&
              tw_report_of_plan(&model.session, &report, &cli->diag) &&
              write_page(cli, &report, model.session.options);
    cli_model_close(&model);
    return ok;
}

static bool report_model(tw_cli *cli)
{
    tw_compile_options options;
    tw_compiled compiled;
    if (!cli_compile_options(cli, &options) || !cli_model_ends(cli, cli->operands[0], &options))
        return false;
    options.pareto = true;
    bool ok = tw_compile_file(cli->operands[0], &options, &compiled, &cli->diag);
    cli_progress_end();
    const char *memory = cli_value(cli, TW_OPTION_memory);
    ok = ok && write_page(cli, &compiled.report, memory ? memory : "");
    tw_compiled_free(&compiled);
    return ok;
}

static bool run(tw_cli *cli)
{
    if (!cli_has(cli, TW_OPTION_page))
        return cli_usage(cli, "say where the page goes: -o FILE.html");
    return cli_is_plan(cli->operands[0]) ? report_plan(cli) : report_model(cli);
}

static const tw_option_id options[] = {
    TW_OPTION_page,        TW_OPTION_memory,         TW_OPTION_input_shape, TW_OPTION_signature,
    TW_OPTION_stream,      TW_OPTION_stream_padding, TW_OPTION_io_layout,   TW_OPTION_input_rows,
    TW_OPTION_output_rows, TW_OPTION_backend,        TW_OPTION_prefer,      TW_OPTION_no_recompute,
    TW_OPTION_state,       TW_OPTION_constant,       TW_OPTION_json,        TW_OPTION_COUNT};

const tw_command tw_command_report = {
    .name = "report",
    .summary = "show a plan as a page: memory over time, segments, traffic, time of every step",
    .synopsis = "MODEL|PLAN -o FILE.html",
    .about =
        "Writes one HTML file with all that analyze knows of the plan, drawn: it needs no network "
        "and "
        "no other file, and may be sent to whoever wants to see it. A model is planned with the "
        "options given; a plan is shown as it is, after one run on inputs of zero. The same "
        "model and options give the same file.",
    .examples = "  tilewright report model.onnx -m 64K -o model.html\n"
                "  tilewright report model.twp -o model.html\n",
    .options = options,
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
