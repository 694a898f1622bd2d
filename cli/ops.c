/* ops: the operators, as tables made from the ledgers. */
#include <stdio.h>
#include <string.h>

#include "backends/backend.h"
#include "graph/graph.h"
#include "import/foreign/foreign.h"
#include "import/keras/keras.h"
#include "import/onnx/onnx.h"
#include "import/pytorch/torch.h"
#include "import/tensorflow/tensorflow.h"
#include "import/tflite/tflite.h"
#include "ops/op.h"
#include "output.h"
#include "vector_index.h"

/* One line of a table. Lists are space-separated. */
typedef struct tw_row {
    const char *name, *becomes, *types, *limits;
    const tw_opdef *op;     /* the first of what it becomes */
    const char *attributes; /* of a vocabulary's operator, as its ledger has them; else null */
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
    if (op->kind == TW_VIEW || op->kind == TW_HOST)
        return op->kind == TW_VIEW ? "any" : "f32";
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
        add_row(arena, table,
                (tw_row){.name = op->name,
                         .becomes = op->name,
                         .types = types_of(arena, op),
                         .limits = op->limits ? op->limits : "",
                         .op = op});
    }
}

/* A row of another system. types: null for those of the first operator that it becomes. */
static void add_foreign(tw_arena *arena, tw_table *table, tw_row row)
{
    row.op = tw_op_by_name(tw_strndup(arena, row.becomes, strcspn(row.becomes, " ")));
    if (!row.types)
        row.types = row.op ? types_of(arena, row.op) : "";
    add_row(arena, table, row);
}

static bool has_row(const tw_table *table, const char *name)
{
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return true;
    return false;
}

static void list_onnx(tw_arena *arena, tw_table *table)
{
    tw_onnx_row row;
    for (int i = 0; tw_onnx_row_at(i, &row); i++) {
        const char *name = tw_format(arena, "%s%s%s", row.domain, *row.domain ? "." : "", row.name);
        add_foreign(arena, table,
                    (tw_row){.name = name, .becomes = row.becomes, .limits = row.limits});
    }
    for (int i = 0; tw_onnx_standard_name(i); i++)
        if (!has_row(table, tw_onnx_standard_name(i)))
            add_foreign(arena, table,
                        (tw_row){.name = tw_onnx_standard_name(i),
                                 .becomes = "",
                                 .limits = "not supported"});
}

static void list_tflite(tw_arena *arena, tw_table *table)
{
    tw_tfl_row row;
    for (int i = 0; tw_tfl_row_at(i, &row); i++) {
        add_foreign(arena, table,
                    (tw_row){.name = tw_strdup(arena, row.name),
                             .becomes = row.import && row.becomes ? row.becomes : "",
                             .limits = !row.import  ? "not supported"
                                       : row.limits ? row.limits
                                                    : ""});
    }
}

/* Is the word one of the list's? */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at;) {
        const size_t n = strcspn(at, " ");
        if (n == length && memcmp(at, word, n) == 0)
            return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

/* Words of a list that the other does not have, behind it. */
static const char *join_words(tw_arena *arena, const char *list, const char *more)
{
    while (*more) {
        const size_t n = strcspn(more, " ");
        const char *word = tw_strndup(arena, more, n);
        if (n && !has_word(list, word))
            list = tw_format(arena, "%s%s%s", list, *list ? " " : "", word);
        more += n + (more[n] == ' ');
    }
    return list;
}

/* A name may have several rows, of which the first that the arguments fit is taken: one row here. */
static void list_pytorch(tw_arena *arena, tw_table *table)
{
    const tw_torch_row *row, *other;
    for (int i = 0; (row = tw_torch_row_at(i)) != NULL; i++) {
        const char *space = strstr(row->name, "::") ? "" : "aten::";
        const char *name = tw_format(arena, "%s%s", space, row->name);
        const char *becomes = "", *limits = "";
        for (int k = i; !has_row(table, name) && (other = tw_torch_row_at(k)) != NULL; k++) {
            if (strcmp(row->name, other->name) != 0)
                continue;
            becomes = join_words(arena, becomes, other->becomes);
            if (*other->limits && !strstr(limits, other->limits))
                limits = tw_format(arena, "%s%s%s", limits, *limits ? "; " : "", other->limits);
        }
        if (!has_row(table, name))
            add_foreign(arena, table, (tw_row){.name = name, .becomes = becomes, .limits = limits});
    }
}

/* Layers, and what is computed between them. */
static void list_keras(tw_arena *arena, tw_table *table)
{
    tw_kr_row row;
    for (int i = 0; tw_kr_row_at(i, &row); i++) {
        const char *op = row.op ? row.op : "";
        if (*op && !tw_op_by_name(op)) /* an activation's name */
            op = tw_kr_function_operator(op) ? tw_kr_function_operator(op) : "";
        add_foreign(
            arena, table,
            (tw_row){.name = tw_format(arena, "%s%s", row.functions ? "operations." : "", row.name),
                     .becomes = op,
                     .limits = row.import ? row.limits
                                          : tw_format(arena, "not supported: %s", row.limits)});
    }
}

static void list_tensorflow(tw_arena *arena, tw_table *table)
{
    tw_tf_row row;
    for (int i = 0; tw_tf_row_at(i, &row); i++)
        add_foreign(arena, table,
                    (tw_row){.name = tw_strdup(arena, row.name),
                             .becomes = row.becomes,
                             .limits = row.import ? row.limits
                                       : *row.limits
                                           ? tw_format(arena, "not supported: %s", row.limits)
                                           : "not supported"});
}

static void list_vocabulary(tw_arena *arena, tw_table *table)
{
    const tw_vocabulary *v = tw_vocabulary_by_name(table->system, strlen(table->system));
    for (int i = 0; i < v->count; i++)
        add_foreign(arena, table,
                    (tw_row){.name = v->rows[i].name,
                             .becomes = v->rows[i].becomes,
                             .types = v->rows[i].types,
                             .limits = v->rows[i].limits,
                             .attributes = v->rows[i].parameters});
}

/* The vocabularies. */
static const struct tw_system {
    const char *name, *title, *about;
    const char *nothing; /* what stands where an operator becomes none of the IR's */
    void (*list)(tw_arena *arena, tw_table *table);
} systems[] = {
    {"ir", NULL, NULL, NULL, list_ir},
    {"onnx", "ONNX",
     "Names without a domain belong to the standard operators. What an operator becomes depends "
     "on its attributes and\non where it stands; transposes around convolutions vanish in the "
     "layout pass.",
     "constants", list_onnx},
    {"tflite", "TensorFlow Lite",
     "Builtin operators of the schema, and custom operators by their own name.", "constants",
     list_tflite},
    {"pytorch", "PyTorch",
     "ATen operators of TorchScript modules and of exported programs, whatever their overload; "
     "`aten::relu_`, and every\nother name with an underscore behind it, works in place.",
     "no step of its own", list_pytorch},
    {"keras", "Keras",
     "Layers by their class. `operations.`: what stands between layers, under Keras 3's class of "
     "the operation;\nTensorFlow's functions in Keras 2 are read as these.",
     "no step of its own", list_keras},
    {"tensorflow", "TensorFlow", "Operators of SavedModels and of frozen graphs.",
     "no step of its own", list_tensorflow},
    {"mobilint", "Mobilint IR",
     "`mobilint.NAME` in the text IR, and ONNX nodes of domain `mobilint`. Stateful operators give "
     "the "
     "first of a\nsequence of calls.",
     "constants", list_vocabulary},
    {"qti_aisw", "qti_aisw",
     "Block operators: ONNX nodes of this domain, whatever the capitals of their names, and "
     "`qti_aisw.NAME` in the text\nIR. They give the first of a sequence of calls.",
     "constants", list_vocabulary},
    {"tigris", "TiGrIS", "`tigris.NAME` in the text IR.", "constants", list_vocabulary},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };
#define SYSTEM_NAMES "ir|onnx|tflite|pytorch|keras|tensorflow|mobilint|qti_aisw|tigris"

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

/* How a quantised network computes it: in int8 ("own"), in float32 between Dequantize and Quantize, or not at
 * all, where it is of plain integers. */
static const char *int8_of(const tw_row *row)
{
    if (has_word(row->types, "s8") || has_word(row->types, "any"))
        return "own";
    return has_word(row->types, "f32") ? "float32" : "none";
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

/* Does a name of the index, SYSTEM.REST, belong to the row? A domain of ONNX stands in front of the
 * row's name; models of TensorFlow Lite are named after it, and what is particular behind. */
static bool names_row(const tw_table *table, const tw_row *row, const char *name)
{
    const size_t system = strlen(table->system);
    const char *own = strrchr(row->name, '.') ? strrchr(row->name, '.') + 1 : row->name;
    if (strncmp(name, table->system, system) != 0 || name[system] != '.')
        return false;
    name += system + 1;
    const size_t length = strlen(own);
    const bool begins = strncmp(name, own, length) == 0;
    return begins &&
           (!name[length] || (name[length] == '_' && strcmp(table->system, "tflite") == 0));
}

/* The files of test data that name the row; of a system whose operators are the IR's under other
 * names, also those that name what it becomes. */
static json_t *json_tests(const tw_table *table, const tw_row *row)
{
    json_t *array = json_array();
    const char *last = "";
    for (size_t i = 0; i < tw_vector_index_count; i++) {
        const tw_vector_index_row *at = &tw_vector_index[i];
        if (!names_row(table, row, at->operator_name) &&
            (row->attributes || !has_word(row->becomes, at->operator_name)))
            continue;
        if (strcmp(last, at->file) != 0)
            json_array_append_new(array, json_string(at->file));
        last = at->file;
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
    if (row->attributes)
        json_object_set_new(one, "attributes", json_words(row->attributes));
    json_object_set_new(one, "becomes", json_words(row->becomes));
    json_object_set_new(one, "types", json_words(row->types));
    json_object_set_new(one, "int8", json_string(int8_of(row)));
    json_object_set_new(one, "bands", json_string(bands_of(row)));
    json_object_set_new(one, "backends", backends);
    json_object_set_new(one, "fallback", json_string("reference"));
    json_object_set_new(one, "limits", json_string(row->limits));
    json_object_set_new(one, "tests", json_tests(table, row));
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

/* The back ends that have kernels of their own for an operator; the rest fall back. */
static void print_natives(const tw_row *row)
{
    const char *between = "";
    for (int i = 1; i < tw_backend_count; i++)
        if (strcmp(backend_answer(row, tw_backends[i]), "native") == 0) {
            printf("%s%s", between, tw_backends[i]->name);
            between = ", ";
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
    puts(
        "## The IR\n\nTypes are the kernels' signatures: `s8` is int8 with scales (TFLite "
        "arithmetic), `s8x` and `s16x` plain\nintegers, `any` every type. Every operator has "
        "portable kernels; *native* names the back ends "
        "with\nkernels of their own, `codegen --explain` the reason where a step falls back.\n\n"
        "An operator of f32 without `s8` or `any` has no int8 form: a quantised network computes "
        "it in float32, dequantised\nbefore and quantised behind, and `compile` and `analyze` name "
        "it, as they name one whose int8 form does not take\nits scales or extents "
        "(`float_steps`; `int8` in `ops --json`).");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        printf("\n### %s\n\n%s\n\n| operator | formula | types | attributes | native | limits |\n"
               "|---|---|---|---|---|---|\n",
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
            print_natives(row);
            fputs(" | ", stdout);
            print_cell(row->limits);
            puts(" |");
        }
    }
}

/* NAME:KIND[?|=DEFAULT], space-separated, as code. */
static void print_parameters(const char *parameters)
{
    for (const char *at = parameters; *at;) {
        const size_t n = strcspn(at, " ");
        if (n)
            printf("%s`%.*s`", at == parameters ? "" : " ", (int)n, at);
        at += n + (at[n] == ' ');
    }
}

static void print_foreign_markdown(const tw_table *table, const struct tw_system *system)
{
    const bool vocabulary = table->count && table->rows[0].attributes;
    printf("\n## %s\n\n%s\n\n| operator | %sbecomes | %slimits |\n|---|%s---|%s---|\n",
           system->title, system->about, vocabulary ? "attributes | " : "",
           vocabulary ? "types | " : "", vocabulary ? "---|" : "", vocabulary ? "---|" : "");
    for (int i = 0; i < table->count; i++) {
        const tw_row *row = &table->rows[i];
        bool refused = strncmp(row->limits, "not supported", strlen("not supported")) == 0;
        printf("| %s | ", row->name);
        if (vocabulary) {
            print_parameters(row->attributes);
            fputs(" | ", stdout);
        }
        printf("%s | ", *row->becomes ? row->becomes : (refused ? "" : system->nothing));
        if (vocabulary)
            printf("%s | ", row->types);
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
