/* ops: the operators, as tables made from the ledgers. */
#include <stdio.h>
#include <string.h>

#include "backends/backend.h"
#include "graph/graph.h"
#include "import/onnx/onnx.h"
#include "import/tflite/tflite.h"
#include "ops/op.h"
#include "output.h"
#include "vector_index.h"

/* One line of a table. Lists are space-separated. */
typedef struct tw_row {
    const char *name, *becomes, *types, *limits;
    const tw_opdef *op; /* the first of what it becomes */
} tw_row;

typedef struct tw_table {
    const char *system;
    tw_row *rows;
    int count, capacity;
} tw_table;

/* ---- rows ---- */

static const char *signature_name(uint32_t signature)
{
    static const char *const names[TW_SIGNATURE_LIMIT] = {
#define NAME(name, value) [value] = #name,
        TW_SIGNATURE_LIST(NAME)
#undef NAME
    };
    const char *name = signature < TW_SIGNATURE_LIMIT ? names[signature] : NULL;
    return name ? name : "unknown";
}

/* The type signatures of the operator's kernels; "any" for what moves or renames bytes. */
static const char *types_of(tw_arena *arena, const tw_opdef *op)
{
    const char *types = "";
    if (op->kind == TW_VIEW)
        return "any";
    for (const tw_kernel *const *k = op->kernels; k && *k; k++) {
        const char *name = signature_name((*k)->id & 255u);
        types = tw_format(arena, "%s%s%s", types, *types ? " " : "", name);
    }
    if (op->kind == TW_LUT) /* by table */
        types = tw_format(arena, "%s s8", types);
    return types;
}

static void add_row(tw_arena *arena, tw_table *table, tw_row row)
{
    tw_grow(arena, &table->rows, table->count, &table->capacity, sizeof *table->rows);
    table->rows[table->count++] = row;
}

static void list_ir(tw_arena *arena, tw_table *table)
{
    for (int i = 0; i < tw_op_count; i++) {
        const tw_opdef *op = tw_ops[i];
        add_row(
            arena, table,
            (tw_row){op->name, op->name, types_of(arena, op), op->limits ? op->limits : "", op});
    }
}

static void list_onnx(tw_arena *arena, tw_table *table)
{
    tw_onnx_row row;
    for (int i = 0; tw_onnx_row_at(i, &row); i++) {
        const char *first = tw_strndup(arena, row.becomes, strcspn(row.becomes, " "));
        const tw_opdef *op = tw_op_by_name(first);
        const char *name = tw_format(arena, "%s%s%s", row.domain, *row.domain ? "." : "", row.name);
        add_row(arena, table,
                (tw_row){name, row.becomes, op ? types_of(arena, op) : "",
                         row.limits ? row.limits : "", op});
    }
}

static void list_tflite(tw_arena *arena, tw_table *table)
{
    tw_tfl_row row;
    for (int i = 0; tw_tfl_row_at(i, &row); i++) {
        const char *becomes = row.import && row.becomes ? row.becomes : "";
        const char *first = tw_strndup(arena, becomes, strcspn(becomes, " "));
        const tw_opdef *op = tw_op_by_name(first);
        const char *limits = row.limits ? row.limits : "";
        add_row(arena, table,
                (tw_row){tw_strdup(arena, row.name), becomes, op ? types_of(arena, op) : "",
                         row.import ? limits : "not supported", op});
    }
}

/* The vocabularies. */
static const struct tw_system {
    const char *name, *title, *about;
    void (*list)(tw_arena *arena, tw_table *table);
} systems[] = {
    {"ir", NULL, NULL, list_ir},
    {"onnx", "ONNX",
     "Names without a domain belong to the standard operators. What an operator becomes depends "
     "on its attributes and\non where it stands; transposes around convolutions vanish in the "
     "layout pass.",
     list_onnx},
    {"tflite", "TensorFlow Lite",
     "Builtin operators of the schema, and custom operators by their own name.", list_tflite},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };
#define SYSTEM_NAMES "ir|onnx|tflite"

/* Who runs it: the portable kernels run whatever has kernels; what has none is aliased or lowered. */
static const char *backend_answer(const tw_row *row, const tw_backend *backend)
{
    if (!row->op || row->op->kind == TW_HOST)
        return "none";
    return backend == tw_backends[0] || tw_backend_has(backend, row->op) ? "native" : "fallback";
}

static const char *bands_of(const tw_row *row)
{
    if (!row->op)
        return "no";
    return row->op->kind == TW_VIEW ? "aliased" : row->op->kind == TW_HOST ? "lowered" : "yes";
}

/* ---- JSON ---- */

static json_t *json_words(const char *words)
{
    json_t *array = json_array();
    while (*words) {
        size_t n = strcspn(words, " ");
        if (n)
            json_array_append_new(array, json_stringn(words, n));
        words += n + (words[n] == ' ');
    }
    return array;
}

/* The vector files in which any of the IR operators occurs. */
static json_t *json_tests(const char *becomes)
{
    json_t *array = json_array();
    for (size_t i = 0; i < tw_vector_index_count; i++) {
        const char *at = becomes, *name = tw_vector_index[i].operator_name;
        while (*at) {
            size_t n = strcspn(at, " ");
            if (n == strlen(name) && memcmp(at, name, n) == 0)
                json_array_append_new(array, json_string(tw_vector_index[i].file));
            at += n + (at[n] == ' ');
        }
    }
    return array;
}

static json_t *json_row(const tw_table *table, const tw_row *row)
{
    json_t *one = json_object(), *backends = json_object();
    for (int i = 0; i < tw_backend_count; i++)
        json_object_set_new(backends, tw_backends[i]->name,
                            json_string(backend_answer(row, tw_backends[i])));
    json_object_set_new(one, "name", json_string(row->name));
    json_object_set_new(one, "system", json_string(table->system));
    json_object_set_new(one, "becomes", json_words(row->becomes));
    json_object_set_new(one, "types", json_words(row->types));
    json_object_set_new(one, "bands", json_string(bands_of(row)));
    json_object_set_new(one, "backends", backends);
    json_object_set_new(one, "fallback", json_string("reference"));
    json_object_set_new(one, "limits", json_string(row->limits));
    json_object_set_new(one, "tests", json_tests(row->becomes));
    return one;
}

/* ---- text and Markdown ---- */

static void print_text(const tw_table *table)
{
    for (int i = 0; i < table->count; i++) {
        const tw_row *row = &table->rows[i];
        bool same = strcmp(row->name, row->becomes) == 0;
        printf("%-24s %-32s %-24s %s\n", row->name, same ? "" : row->becomes, row->types,
               row->limits);
    }
}

/* Text within a table cell. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
}

static void print_default(const tw_attribute *a)
{
    bool list = a->kind == TW_ATTRIBUTE_INTS || a->kind == TW_ATTRIBUTE_FLOATS;
    const char *at = a->meaning;
    if (list) {
        fputs("[]", stdout);
    } else if (a->kind == TW_ATTRIBUTE_ENUM) {
        for (int i = 0; i < (int)a->initial; i++)
            at += strcspn(at, "|: ") + 1;
        printf("%.*s", (int)strcspn(at, "|: "), at);
    } else if (a->kind == TW_ATTRIBUTE_DTYPE) {
        fputs(tw_dtype_name((tw_dtype)a->initial), stdout);
    } else {
        printf("%g", a->initial);
    }
}

static void print_attributes(const tw_opdef *op)
{
    for (int i = 0; i < op->attribute_count; i++) {
        const tw_attribute *a = &op->attributes[i];
        printf("%s`%s`=", i ? ", " : "", a->name);
        print_default(a);
    }
}

static void print_ir_markdown(const tw_table *table)
{
    static const struct {
        tw_op_kind kind;
        const char *title, *about;
    } kinds[] = {
        {TW_MATH, "Arithmetic", "Kernels of their own for each type."},
        {TW_LUT, "Functions of one value",
         "One float expression each; int8 by a table of 256 bytes computed from the same "
         "expression, so all of them run in s8 too."},
        {TW_MOVE, "Moves", "Bytes only; one kernel for all types."},
        {TW_VIEW, "Views", "The same bytes under another shape; no kernel runs."},
        {TW_HOST, "Lowered while compiling", "Folded or rewritten before planning."},
    };
    puts("## The IR\n\nTypes are the kernels' signatures: `s8` is int8 with scales (TFLite "
         "arithmetic), `s8x` and `s16x` plain\nintegers, `any` every type.");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        printf("\n### %s\n\n%s\n\n| operator | formula | types | attributes | limits |\n"
               "|---|---|---|---|---|\n",
               kinds[k].title, kinds[k].about);
        for (int i = 0; i < table->count; i++) {
            const tw_row *row = &table->rows[i];
            if (row->op->kind != kinds[k].kind)
                continue;
            printf("| %s | ", row->name);
            print_cell(row->op->formula ? row->op->formula : "");
            printf(" | %s | ", row->types);
            print_attributes(row->op);
            fputs(" | ", stdout);
            print_cell(row->limits);
            puts(" |");
        }
    }
}

static void print_foreign_markdown(const tw_table *table, const struct tw_system *system)
{
    printf("\n## %s\n\n%s\n\n| operator | becomes | limits |\n|---|---|---|\n", system->title,
           system->about);
    for (int i = 0; i < table->count; i++) {
        const tw_row *row = &table->rows[i];
        bool refused = strcmp(row->limits, "not supported") == 0;
        printf("| %s | %s | ", row->name,
               *row->becomes ? row->becomes : (refused ? "" : "constants"));
        print_cell(row->limits);
        puts(" |");
    }
}

static void print_markdown(const tw_table *table, const struct tw_system *system)
{
    if (system->title)
        print_foreign_markdown(table, system);
    else
        print_ir_markdown(table);
}

/* ---- the command ---- */

static tw_table list(tw_cli *cli, int system)
{
    tw_table table = {.system = systems[system].name};
    systems[system].list(cli->arena, &table);
    return table;
}

/* The page docs/operators.md: every vocabulary. */
static void print_page(tw_cli *cli)
{
    puts("# Operators\n\nMade by `tilewright ops --md` from the ledgers; not edited by hand.\n");
    for (int i = 0; i < SYSTEMS; i++) {
        tw_table table = list(cli, i);
        print_markdown(&table, &systems[i]);
    }
}

static bool run(tw_cli *cli)
{
    int system = 0;
    if (!cli_choice(cli, TW_OPTION_system, SYSTEM_NAMES, &system))
        return false;
    if (cli_has(cli, TW_OPTION_md) && cli->json_wanted)
        return cli_usage(cli, "--md and --json exclude each other");
    if (cli_has(cli, TW_OPTION_md) && !cli_has(cli, TW_OPTION_system)) {
        print_page(cli);
        return true;
    }
    tw_table table = list(cli, system);
    if (cli_has(cli, TW_OPTION_md)) {
        print_markdown(&table, &systems[system]);
    } else if (cli->json_wanted) {
        json_decref(cli->json);
        cli->json = json_array();
        for (int i = 0; i < table.count; i++)
            json_array_append_new(cli->json, json_row(&table, &table.rows[i]));
    } else {
        print_text(&table);
    }
    return true;
}

static const tw_option_id options[] = {TW_OPTION_system, TW_OPTION_json, TW_OPTION_md,
                                       TW_OPTION_COUNT};

const tw_command tw_command_ops = {
    .name = "ops",
    .summary = "list the operators, of the IR or of a vocabulary that is imported",
    .synopsis = "",
    .about = "Lists each operator, the IR operators it becomes, the types that have kernels, and "
             "its limits. With --md and no --system, prints the page docs/operators.md.",
    .examples = "  tilewright ops\n"
                "  tilewright ops --system onnx\n"
                "  tilewright ops --json | jq '.[] | select(.name == \"Conv\")'\n",
    .options = options,
    .least_operands = 0,
    .most_operands = 0,
    .run = run,
};
