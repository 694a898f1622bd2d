/* The printer of the text IR. What is printed reads back bit for bit: names are quoted where they
 * hold unusual characters, floats are as short as their bits allow. */
#include "graph/print.h"

#include <math.h>
#include <string.h>

#include "base/locale.h"
#include "base/map.h"
#include "graph/number.h"
#include "import/tensor_file.h"
#include "ops/op.h"

typedef struct tw_printer {
    const tw_graph *graph;
    FILE *file;
    const char *side_folder; /* or null */
    int64_t inline_limit;    /* elements */
    bool sketch;             /* data beyond the limit is left out */
    tw_diag *diag;
    int constants; /* printed so far */
    int depth;     /* bodies around what is printed */
} tw_printer;

/* ---- names and numbers ---- */

static void print_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c == '\n' || c == '\t')
            fputs(c == '\n' ? "\\n" : "\\t", file);
        else if (c < 32 || c > 126)
            fprintf(file, "\\x%02x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static bool is_plain(const char *name)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$/:-";
    return *name && name[strspn(name, plain)] == 0;
}

static void print_value_name(FILE *file, const tw_value *value)
{
    if (!value) {
        fputc('_', file);
    } else if (is_plain(value->name)) {
        fprintf(file, "%%%s", value->name);
    } else {
        fputc('%', file);
        print_string(file, value->name);
    }
}

static void print_number(FILE *file, tw_dtype dtype, const void *element)
{
    char text[TW_NUMBER_TEXT];
    tw_number_print(dtype, element, text);
    fputs(text, file);
}

static void print_list(FILE *file, tw_dtype dtype, const void *elements, int64_t count)
{
    size_t bytes = tw_dtype_bytes(dtype);
    fputc('[', file);
    for (int64_t i = 0; i < count; i++) {
        if (i)
            fputs(i % 16 ? ", " : ",\n    ", file);
        print_number(file, dtype, (const char *)elements + (size_t)i * bytes);
    }
    fputc(']', file);
}

/* ---- types ---- */

static bool all_equal(const int32_t *numbers, int count)
{
    for (int i = 1; i < count; i++)
        if (numbers[i] != numbers[0])
            return false;
    return true;
}

static void print_type(FILE *file, const tw_value *value)
{
    char text[96];
    const tw_quant *quant = &value->quant;
    tw_shape_text(&value->shape, text, sizeof text);
    fprintf(file, " : %s", text);
    if (quant->count == 0)
        return;
    fputs(" quant(scale=", file);
    if (quant->count == 1)
        print_number(file, TW_F32, quant->scale);
    else
        print_list(file, TW_F32, quant->scale, quant->count);
    fputs(", zero=", file);
    if (all_equal(quant->zero_point, quant->count))
        print_number(file, TW_S32, quant->zero_point);
    else
        print_list(file, TW_S32, quant->zero_point, quant->count);
    if (quant->count > 1)
        fprintf(file, ", axis=%d", quant->axis);
    fputc(')', file);
}

/* ---- constants ---- */

/* GRAPH.VALUE.npy, with harmless characters only. Where some had to go, the constant's number
 * behind a '~', which no plain name holds, keeps file names apart, as it does those of bodies. */
static char *side_name(const tw_printer *printer, tw_arena *arena, const tw_value *value)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    enum { LONGEST = 80 };
    char *graph = tw_format(arena, "%.*s", LONGEST, printer->graph->name);
    char *name = tw_format(arena, "%.*s", LONGEST, value->name);
    bool changed = printer->depth > 0 || strcmp(name, value->name) != 0;
    for (size_t at; name[at = strspn(name, plain)]; changed = true)
        name[at] = '_';
    for (size_t at; graph[at = strspn(graph, plain)];)
        graph[at] = '_';
    if (graph[0] == '.')
        graph[0] = '_';
    return changed ? tw_format(arena, "%s.%s~%d.npy", graph, name, printer->constants)
                   : tw_format(arena, "%s.%s.npy", graph, name);
}

static bool print_side_file(const tw_printer *printer, const tw_value *value, const void *data)
{
    tw_arena *arena = tw_arena_new();
    char *name = side_name(printer, arena, value);
    char *path = tw_format(arena, "%s/%s", printer->side_folder, name);
    bool ok = tw_npy_write(path, &value->shape, data, printer->diag);
    fputs("file ", printer->file);
    print_string(printer->file, name);
    tw_arena_free(arena);
    return ok;
}

static void start_line(const tw_printer *printer)
{
    for (int i = 0; i <= printer->depth; i++)
        fputs("  ", printer->file);
}

/* A constant or, with what it starts as (null: zero bytes), a state. */
static bool print_data(tw_printer *printer, const char *word, const tw_value *value,
                       const void *data)
{
    FILE *file = printer->file;
    int64_t elements = tw_shape_elements(&value->shape);
    start_line(printer);
    fprintf(file, "%-6s ", word);
    print_value_name(file, value);
    print_type(file, value);
    fputs(data ? " = " : "", file);
    printer->constants++;
    if (!data)
        ;
    else if (elements <= printer->inline_limit)
        print_list(file, value->shape.dtype, data, elements);
    else if (printer->sketch)
        fprintf(file, "[...]");
    else if (!print_side_file(printer, value, data))
        return false;
    fputc('\n', file);
    return true;
}

/* ---- nodes ---- */

static bool is_default(const tw_attribute *attribute, const void *field)
{
    int32_t word;
    memcpy(&word, field, sizeof word); /* of a list: its count */
    switch (attribute->kind) {
    case TW_ATTRIBUTE_FLOAT: {
        float initial = (float)attribute->initial;
        int32_t bits;
        memcpy(&bits, &initial, sizeof bits);
        return word == bits;
    }
    case TW_ATTRIBUTE_INTS:
    case TW_ATTRIBUTE_FLOATS: return word == 0;
    default: return word == (int32_t)attribute->initial;
    }
}

/* The name in "a|b|c: meaning" at the position, or its number. */
static void print_enum(FILE *file, const tw_attribute *attribute, int32_t value)
{
    const char *at = attribute->meaning;
    for (int32_t i = 0; i < value && at; i++) {
        at += strcspn(at, "|: ");
        at = *at == '|' ? at + 1 : NULL;
    }
    if (at && value >= 0)
        fprintf(file, "%.*s", (int)strcspn(at, "|: "), at);
    else
        fprintf(file, "%d", (int)value);
}

void tw_attribute_print(FILE *file, const tw_attribute *attribute, const void *field)
{
    int32_t word;
    const tw_ints *ints = field;
    const tw_floats *floats = field;
    memcpy(&word, field, sizeof word);
    fprintf(file, "%s=", attribute->name);
    switch (attribute->kind) {
    case TW_ATTRIBUTE_INT:
    case TW_ATTRIBUTE_BOOL: fprintf(file, "%d", (int)word); break;
    case TW_ATTRIBUTE_ENUM: print_enum(file, attribute, word); break;
    case TW_ATTRIBUTE_DTYPE: fputs(tw_dtype_name((tw_dtype)word), file); break;
    case TW_ATTRIBUTE_FLOAT: print_number(file, TW_F32, field); break;
    case TW_ATTRIBUTE_INTS: print_list(file, TW_S32, ints->v, ints->count); break;
    case TW_ATTRIBUTE_FLOATS: print_list(file, TW_F32, floats->v, floats->count); break;
    }
}

static void print_attributes(FILE *file, const tw_node *node)
{
    int printed = 0;
    for (int i = 0; i < node->op->attribute_count; i++) {
        const tw_attribute *attribute = &node->op->attributes[i];
        const char *field = (const char *)node->attributes + attribute->offset;
        if (is_default(attribute, field))
            continue;
        fputs(printed++ ? ", " : " {", file);
        tw_attribute_print(file, attribute, field);
    }
    if (printed)
        fputc('}', file);
}

/* What the parser would call the node when nothing is said. */
static const char *implied_name(const tw_node *node)
{
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i])
            return node->out[i]->name;
    return node->op->name;
}

static bool print_body(tw_printer *printer, const tw_graph *body);

static bool print_node(tw_printer *printer, const tw_node *node)
{
    FILE *file = printer->file;
    start_line(printer);
    for (int i = 0; i < node->out_count; i++) {
        fputs(i ? ", " : "", file);
        print_value_name(file, node->out[i]);
        if (node->out[i])
            print_type(file, node->out[i]);
    }
    fprintf(file, " = %s ", node->op->name);
    if (strcmp(node->name, implied_name(node)) != 0) {
        print_string(file, node->name);
        fputc(' ', file);
    }
    fputc('(', file);
    for (int i = 0; i < node->in_count; i++) {
        fputs(i ? ", " : "", file);
        print_value_name(file, node->in[i]);
    }
    fputc(')', file);
    print_attributes(file, node);
    if (node->clamp.low != -INFINITY || node->clamp.high != INFINITY) {
        fputs(" clamp(", file);
        print_number(file, TW_F32, &node->clamp.low);
        fputs(", ", file);
        print_number(file, TW_F32, &node->clamp.high);
        fputc(')', file);
    }
    fputc('\n', file);
    for (int i = 0; i < node->op->bodies; i++)
        if (!print_body(printer, node->body[i]))
            return false;
    return true;
}

/* ---- the graph ---- */

/* input %x : type, or output %y */
static void print_line(const tw_printer *printer, const char *word, const tw_value *value)
{
    start_line(printer);
    fprintf(printer->file, "%-6s ", word);
    print_value_name(printer->file, value);
    if (*word == 'i')
        print_type(printer->file, value);
    fputc('\n', printer->file);
}

static void print_next(const tw_printer *printer, const tw_state *state)
{
    start_line(printer);
    fputs("next   ", printer->file);
    print_value_name(printer->file, state->current);
    fputs(" = ", printer->file);
    print_value_name(printer->file, state->next);
    fputc('\n', printer->file);
}

static bool print_graph(tw_printer *printer)
{
    FILE *file = printer->file;
    const tw_graph *graph = printer->graph;
    fputs("graph ", file);
    print_string(file, graph->name);
    fputs(" {\n", file);
    for (int i = 0; i < graph->input_count; i++)
        print_line(printer, "input", graph->inputs[i]);
    for (int i = 0; i < graph->state_count; i++)
        if (!print_data(printer, "state", graph->states[i].current, graph->states[i].initial))
            return false;
    for (int i = 0; i < graph->value_count; i++)
        if (graph->values[i]->data &&
            !print_data(printer, "const", graph->values[i], graph->values[i]->data))
            return false;
    for (int i = 0; i < graph->node_count; i++)
        if (!graph->nodes[i]->removed && !print_node(printer, graph->nodes[i]))
            return false;
    for (int i = 0; i < graph->output_count; i++)
        print_line(printer, "output", graph->outputs[i]);
    for (int i = 0; i < graph->state_count; i++)
        if (graph->states[i].next)
            print_next(printer, &graph->states[i]);
    return true;
}

/* The graphs of a node stand under it, a step to the right. */
static bool print_body(tw_printer *printer, const tw_graph *body)
{
    const tw_graph *around = printer->graph;
    start_line(printer);
    fputs("  ", printer->file);
    printer->graph = body;
    printer->depth += 2;
    bool ok = print_graph(printer);
    printer->depth -= 2;
    printer->graph = around;
    start_line(printer);
    fputs("  }\n", printer->file);
    return ok;
}

static bool print_whole(tw_printer *printer)
{
    bool ok = print_graph(printer);
    fputs("}\n", printer->file);
    return ok && (!ferror(printer->file) || tw_fail(printer->diag, TW_CODE_FAILED, NULL, NULL,
                                                    "the text of the graph cannot be written"));
}

bool tw_text_print(const tw_graph *graph, FILE *file, const char *side_folder, tw_diag *diag)
{
    tw_printer printer = {graph, file, side_folder, side_folder ? TW_PRINT_INLINE : INT64_MAX,
                          false, diag, 0,           0};
    tw_locale locale = tw_locale_enter();
    bool ok = print_whole(&printer);
    tw_locale_leave(locale);
    return ok;
}

bool tw_text_sketch(const tw_graph *graph, FILE *file, int most, tw_diag *diag)
{
    tw_printer printer = {graph, file, NULL, most, true, diag, 0, 0};
    tw_locale locale = tw_locale_enter();
    bool ok = print_whole(&printer);
    tw_locale_leave(locale);
    return ok;
}
