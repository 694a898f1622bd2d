/* Text IR to ONNX case, line by line. The text is what scripts/vectors/ write, in one form:
 *
 *     case "TITLE" oracle "..." rtol R atol A
 *     graph "g" {
 *       input  %x : TYPE
 *       const  %w : TYPE = [ELEMENTS]
 *       %y : TYPE, %z : TYPE = VOCABULARY.NAME (%x, _) {NAME=VALUE, NAME=%w}
 *       output %y
 *     }
 *     feed   %x = [ELEMENTS]
 *     expect %y = [ELEMENTS]
 */
#include "support/vocabulary_nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ctype.h>
#include <string.h>

#include "base/file.h"

typedef struct tw_translation {
    tw_arena *arena;
    const char *vocabulary;
    char *source;    /* of the case */
    const char *out; /* what is written so far */
} tw_translation;

static void add(tw_translation *t, const char *text)
{
    t->out = tw_format(t->arena, "%s%s", t->out, text);
}

static const char *piece(const tw_translation *t, const char *from, size_t bytes)
{
    return tw_strndup(t->arena, from, bytes);
}

/* Behind "WORD %NAME" at the beginning of a line of the case, or null. */
static const char *line_of(const tw_translation *t, const char *word, const char *name)
{
    const char *wanted = tw_format(t->arena, "%s %%%s ", word, name);
    for (const char *line = t->source; line; line = strchr(line, '\n')) {
        line += strspn(line, " \n");
        if (strncmp(line, wanted, strlen(wanted)) == 0)
            return line + strlen(wanted);
    }
    return NULL;
}

/* "[1, 2]" up to the end of the line, without brackets and commas. */
static const char *elements(const tw_translation *t, const char *list)
{
    const size_t bytes = strcspn(list, "\n");
    char *text = tw_strndup(t->arena, list, bytes);
    for (char *at = text; *at; at++)
        if (strchr("[],", *at))
            *at = ' ';
    return text + strspn(text, " ");
}

/* "TYPE" of ": TYPE, ..." or ": TYPE = ...". */
static const char *type_behind(const tw_translation *t, const char *text)
{
    text += strspn(text, ": ");
    const char *end = strchr(text, ']');
    assert_non_null(end);
    return piece(t, text, (size_t)(end - text) + 1);
}

static void add_tensor(tw_translation *t, const char *kind, const char *name, const char *type,
                       const char *list)
{
    add(t, tw_format(t->arena, "%s %s %s = %s\n", kind, name, type, elements(t, list)));
}

static void add_constant(tw_translation *t, const char *kind, const char *name, const char *value)
{
    const char *rest = line_of(t, "const ", value);
    assert_non_null(rest);
    add_tensor(t, kind, name, type_behind(t, rest), strchr(rest, '=') + 1);
}

/* ---- attributes ---- */

static bool is_real(const char *text, size_t bytes)
{
    size_t i = strcspn(text, ".e");
    return i < bytes;
}

/* In the words of onnx_case.h: iINT, fFLOAT, sTEXT, [INT,INT], FFLOAT,FLOAT, STEXT,TEXT. */
static const char *translate(const tw_translation *t, const char *value, size_t bytes)
{
    char *text = tw_alloc(t->arena, bytes + 2);
    size_t n = 0;
    if (strncmp(value, "true", 4) == 0 || strncmp(value, "false", 5) == 0)
        return *value == 't' ? "i1" : "i0";
    const bool list = *value == '[', words = value[list] == '"';
    const bool reals = !words && is_real(value, bytes);
    if (!list || words || reals)
        text[n++] = "isSfF"[words ? 1 + list : reals ? 3 + list : 0];
    for (size_t i = 0; i < bytes; i++)
        if (value[i] != '"' && value[i] != ' ' && !((words || reals) && strchr("[]", value[i])))
            text[n++] = value[i];
    text[n] = 0;
    return text;
}

/* Bytes of the value at `text`, up to the comma or brace behind it. */
static size_t length_of(const char *text)
{
    size_t n = *text == '[' ? strcspn(text, "]") + 1 : 0;
    return n + strcspn(text + n, ",}");
}

/* "{NAME=VALUE, ...}": numbers and texts behind the node, tensors on lines of their own. */
static void add_attributes(tw_translation *t, const char *text)
{
    const char *tensors = "", *before;
    while (*text && *text != '}' && *text != '\n') {
        text += strspn(text, "{, ");
        const size_t name = strcspn(text, "="), value = length_of(text + name + 1);
        const char *label = piece(t, text, name), *at = text + name + 1;
        if (*at == '%') {
            before = t->out;
            t->out = "";
            add_constant(t, "attribute", label, piece(t, at + 1, value - 1));
            tensors = tw_format(t->arena, "%s%s", tensors, t->out);
            t->out = before;
        } else {
            add(t, tw_format(t->arena, " %s=%s", label, translate(t, at, value)));
        }
        text = at + value;
    }
    add(t, "\n");
    add(t, tensors);
}

/* ---- nodes ---- */

/* "%a : TYPE, %b" up to `end`, or "(%a, _)": "a,b", "a,-"; "-" of none. */
static const char *names_of(const tw_translation *t, const char *from, const char *end)
{
    const char *names = "";
    for (const char *at = from; at < end; at++) {
        const size_t n =
            *at == '%' ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_WRBP0123456789") : 0;
        if (n || (*at == '_' && strchr(" (", at[-1])))
            names = tw_format(t->arena, "%s%s%s", names, *names ? "," : "",
                              n ? piece(t, at + 1, n) : "-");
        at += n;
    }
    return *names ? names : "-";
}

/* The constants among the operands become initializers. */
static void add_operands(tw_translation *t, const char *names)
{
    char *rest = tw_strdup(t->arena, names);
    for (char *name = strtok(rest, ","); name; name = strtok(NULL, ","))
        if (line_of(t, "const ", name) && !strstr(t->out, tw_format(t->arena, "const %s ", name)))
            add_constant(t, "const", name, name);
}

static void add_node(tw_translation *t, const char *line, const char *call)
{
    const char *open = strchr(call, '('), *close = strchr(open, ')');
    const char *op = call + strlen(t->vocabulary) + 1;
    const char *inputs = names_of(t, open, close);
    add(t, tw_format(t->arena, "node %s %s:%s -> %s",
                     piece(t, op, (size_t)(open - op) - strspn(open - 1, " ")), t->vocabulary,
                     inputs, names_of(t, line, call)));
    add_attributes(t, close + 1);
    add_operands(t, inputs);
}

/* ---- cases ---- */

/* "rtol R atol A" of the title's line; results without it are exact. */
static void add_slack(tw_translation *t, const char *title)
{
    const char *tolerance = strstr(title, " rtol "), *end = strchr(title, '\n');
    if (!tolerance || tolerance > end) {
        add(t, "slack 0 0\n");
        return;
    }
    tolerance += 6;
    const char *atol = strstr(tolerance, "atol ") + 5;
    add(t, tw_format(t->arena, "slack %s %s\n", piece(t, tolerance, strcspn(tolerance, " ")),
                     piece(t, atol, strcspn(atol, "\n"))));
}

static const char *type_of(const tw_translation *t, const char *name)
{
    const char *rest = strstr(t->source, tw_format(t->arena, "%%%s : ", name));
    assert_non_null(rest);
    return type_behind(t, rest + strlen(name) + 3);
}

/* Inputs and results as the models have them, in order. */
static void add_values(tw_translation *t, const char *word, const char *kind)
{
    const char *wanted = tw_format(t->arena, "\n%s %%", word);
    for (const char *at = strstr(t->source, wanted); at; at = strstr(at, wanted)) {
        at += strlen(wanted);
        const char *name = piece(t, at, strcspn(at, " "));
        add_tensor(t, kind, name, type_of(t, name), strchr(at, '=') + 1);
    }
}

static const char *translate_case(tw_translation *t)
{
    const char *title = strchr(t->source, '"') + 1;
    const char *prefix = tw_format(t->arena, "= %s.", t->vocabulary);
    t->out = tw_format(t->arena, "%s\nopset 17\n", piece(t, title, strcspn(title, "\"")));
    add_slack(t, title);
    for (const char *call = strstr(t->source, prefix); call; call = strstr(call + 1, prefix)) {
        const char *line = call;
        while (line[-1] != '\n')
            line--;
        add_node(t, line, call + 2);
    }
    add_values(t, "feed  ", "in");
    add_values(t, "expect", "out");
    return t->out;
}

tw_onnx_case_texts tw_vocabulary_nodes(tw_arena *arena, const char *path, const char *vocabulary)
{
    tw_onnx_case_texts texts = {NULL, 0};
    tw_diag diag = {0};
    int capacity = 0;
    void *data;
    size_t bytes;
    assert_true(tw_read_file(arena, path, 1 << 26, &data, &bytes, &diag));
    for (char *at = strstr(data, "\ncase "), *next; at; at = next) {
        next = strstr(at + 1, "\ncase ");
        const size_t length = next ? (size_t)(next - at) : strlen(at);
        tw_translation t = {arena, vocabulary, tw_strndup(arena, at + 1, length - 1), ""};
        if (strstr(t.source, " quant("))
            continue;
        tw_grow(arena, &texts.text, texts.count, &capacity, sizeof *texts.text);
        texts.text[texts.count++] = translate_case(&t);
    }
    return texts;
}
