/* Every attribute that ONNX has of an operator that is imported (tests/data/onnx-schemas.txt, from the
 * published schemas) is either exercised, with another value than its default, by a model of tests/data/onnx-*.txt
 * that test_onnx_opsets runs, or refused by name. So is every attribute that the operator does not have: one of
 * another version, and one of no version. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/import.h"
#include "import/onnx/onnx.h"
#include "support/onnx_case.h"

static tw_arena *arena;
static int failures;

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    failures++;
}

/* --- the schemas ------------------------------------------------------------------------------- */

typedef struct tw_schema_attribute {
    const char *name, *fallback; /* "" for none */
    char type;
} tw_schema_attribute;

/* One version of an operator; the versions of one stand one behind the other. */
typedef struct tw_schema {
    const char *op;
    long since, until; /* opsets: from, and before */
    tw_schema_attribute attributes[TW_ONNX_CASE_MOST];
    int attribute_count;
} tw_schema;

static tw_schema *schemas;
static int schema_count;

/* NAME:TYPE=DEFAULT */
static tw_schema_attribute read_attribute(char *word)
{
    char *colon = strchr(word, ':');
    assert_non_null(colon);
    *colon = 0;
    assert_int_equal(colon[2], '=');
    return (tw_schema_attribute){word, colon + 3, colon[1]};
}

static void read_schemas(void)
{
    tw_diag diag = {0};
    void *data;
    size_t bytes;
    int capacity = 0;
    assert_true(tw_read_file(arena, "tests/data/onnx-schemas.txt", 1 << 20, &data, &bytes, &diag));
    for (char *line = data, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        char *op = *line == '#' ? NULL : strtok(line, " ");
        if (!op)
            continue;
        tw_schema s = {.op = op, .since = strtol(strtok(NULL, " "), NULL, 10), .until = LONG_MAX};
        for (char *word = strtok(NULL, " "); word; word = strtok(NULL, " ")) {
            assert_true(s.attribute_count < TW_ONNX_CASE_MOST);
            s.attributes[s.attribute_count++] = read_attribute(word);
        }
        if (schema_count && strcmp(schemas[schema_count - 1].op, op) == 0)
            schemas[schema_count - 1].until = s.since;
        tw_grow(arena, &schemas, schema_count, &capacity, sizeof *schemas);
        schemas[schema_count++] = s;
    }
    assert_true(schema_count > 600);
}

static const tw_schema_attribute *find_attribute(const tw_schema *s, const char *name)
{
    for (int i = 0; i < s->attribute_count; i++)
        if (strcmp(s->attributes[i].name, name) == 0)
            return &s->attributes[i];
    return NULL;
}

/* --- the models -------------------------------------------------------------------------------- */

/* A node of a model: its operator, and where its line lies in the model's text. */
typedef struct tw_place {
    const char *op, *text, *line;
    long opset;
} tw_place;

static tw_place *places;
static int place_count, place_capacity;

/* "node OP [DOMAIN:]INPUTS -> .." */
static void add_place(const char *text, const char *line, long opset)
{
    size_t op = strcspn(line + 5, " "), inputs = strcspn(line + 6 + op, " ");
    const char *colon = memchr(line + 6 + op, ':', inputs);
    const char *name = tw_strndup(arena, line + 5, op);
    if (colon) {
        name = tw_format(arena, "%.*s.%s", (int)(colon - (line + 6 + op)), line + 6 + op, name);
        opset = 1;
    }
    tw_grow(arena, &places, place_count, &place_capacity, sizeof *places);
    places[place_count++] = (tw_place){name, text, line, opset};
}

static void read_models(void)
{
    static const char *const files[] = {"opsets",     "versions",  "index", "windows",
                                        "attributes", "reference", "types"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        tw_onnx_case_texts texts =
            tw_onnx_case_file(arena, tw_format(arena, "tests/data/onnx-%s.txt", files[f]));
        for (int i = 0; i < texts.count; i++) {
            const char *text = texts.text[i], *opset = strstr(text, "\nopset ");
            assert_non_null(opset);
            for (const char *at = strstr(text, "\nnode "); at; at = strstr(at + 1, "\nnode "))
                add_place(text, at + 1, strtol(opset + 7, NULL, 10));
        }
    }
    assert_true(place_count > 1000);
}

/* The value of an attribute as a node's line writes it; null where the node has none. */
static const char *value_at(const tw_place *p, const char *name)
{
    const char *end = p->line + strcspn(p->line, "\n");
    const char *key = tw_format(arena, " %s=", name), *at = strstr(p->line, key);
    if (!at || at > end)
        return NULL;
    at += strlen(key);
    return tw_strndup(arena, at, strcspn(at, " \n"));
}

static bool is_of(const tw_place *p, const tw_schema *s)
{
    return strcmp(p->op, s->op) == 0 && p->opset >= s->since && p->opset < s->until;
}

/* --- is it exercised? -------------------------------------------------------------------------- */

/* Lists whose elements are all the one that an absent list means. */
static bool is_plain_list(const char *name, const char *value)
{
    static const char *const plain[][2] = {
        {"pads", "0"}, {"output_padding", "0"}, {"strides", "1"}, {"dilations", "1"}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i][0]) == 0)
            return strspn(value, tw_format(arena, "[,]%s", plain[i][1])) == strlen(value);
    return false;
}

static bool is_other(const tw_schema_attribute *a, const char *value)
{
    if (!*a->fallback || a->type == 'I')
        return !is_plain_list(a->name, value);
    if (a->type == 'f')
        return strtof(value + 1, NULL) != strtof(a->fallback, NULL);
    return strcmp(value + 1, a->fallback) != 0;
}

/* By a model of a version that has the same attribute with the same default. */
static bool is_exercised(const tw_schema *s, const tw_schema_attribute *a)
{
    for (int i = 0; i < schema_count; i++) {
        const tw_schema *t = &schemas[i];
        const tw_schema_attribute *same =
            strcmp(t->op, s->op) == 0 ? find_attribute(t, a->name) : NULL;
        if (!same || same->type != a->type || strcmp(same->fallback, a->fallback) != 0)
            continue;
        for (int k = 0; k < place_count; k++) {
            const char *value = is_of(&places[k], t) ? value_at(&places[k], a->name) : NULL;
            if (value && is_other(a, value))
                return true;
        }
    }
    return false;
}

/* --- is it refused by name? -------------------------------------------------------------------- */

/* The model with the attribute in place of the one that the node has. */
static char *with_attribute(const tw_place *p, const char *name, const char *value)
{
    const char *end = p->line + strcspn(p->line, "\n");
    const char *old = value_at(p, name);
    const char *from = end, *behind = end;
    if (old) {
        from = strstr(p->line, tw_format(arena, " %s=", name));
        behind = from + 2 + strlen(name) + strlen(old);
    }
    return tw_format(arena, "%.*s %s=%s%s", (int)(from - p->text), p->text, name, value, behind);
}

/* An import must end with a message that names the attribute, and a code that says whose fault it is. */
static bool is_refused(const tw_place *p, const char *name, const char *value)
{
    tw_arena *own = tw_arena_new();
    tw_onnx_case c = tw_onnx_case_read(own, with_attribute(p, name, value));
    tw_wire_bytes file = tw_onnx_write_end(&c.model);
    tw_diag diag = {0};
    tw_graph *graph = tw_import_bytes(own, file.data, file.bytes, "model", NULL, NULL, &diag);
    bool refused = !graph && strstr(diag.message, name);
    tw_arena_free(own);
    return refused;
}

static const char *some_value(const tw_schema_attribute *a)
{
    switch (a->type) {
    case 'f': return "f0.375";
    case 's': return "snonsense";
    case 'F': return "F0.375,0.25";
    case 'I': return "[3,2]";
    case 'S': return "Snonsense,nothing";
    default: /* flags are turned over */
        return strcmp(a->fallback, "1") == 0 ? "i0" : strcmp(a->fallback, "0") == 0 ? "i1" : "i7";
    }
}

static const tw_place *first_place(const tw_schema *s)
{
    for (int i = 0; i < place_count; i++)
        if (is_of(&places[i], s))
            return &places[i];
    return NULL;
}

/* --- the tests --------------------------------------------------------------------------------- */

static bool is_imported(const char *op)
{
    tw_onnx_row row;
    for (int i = 0; tw_onnx_row_at(i, &row); i++)
        if (strcmp(op, *row.domain ? tw_format(arena, "%s.%s", row.domain, row.name) : row.name) ==
            0)
            return true;
    return false;
}

/* Branches, tensors and types as attributes cannot stand in a text; test_onnx_bodies, test_onnx_suite and
 * exported models have them. */
static bool has_parts(const tw_schema *s)
{
    for (int i = 0; i < s->attribute_count; i++)
        if (strchr("gto", s->attributes[i].type))
            return true;
    return false;
}

static void versions(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; i < schema_count; i++)
        if (is_imported(schemas[i].op) && !has_parts(&schemas[i]) && !first_place(&schemas[i]))
            complain("no model has %s of opset %ld", schemas[i].op, schemas[i].since);
    assert_int_equal(failures, 0);
}

static void every_attribute(void **state)
{
    (void)state;
    int exercised = 0, refused = 0;
    failures = 0;
    for (int i = 0; i < schema_count; i++) {
        const tw_schema *s = &schemas[i];
        const tw_place *p = first_place(s);
        for (int k = 0; p && is_imported(s->op) && k < s->attribute_count; k++) {
            const tw_schema_attribute *a = &s->attributes[k];
            if (a->type == 't' ||
                a->type == 'o') /* a constant's: the models of exporters have them */
                continue;
            if (is_exercised(s, a))
                exercised++;
            else if (is_refused(p, a->name, some_value(a)))
                refused++;
            else
                complain("%s of opset %ld: the attribute %s is neither tested nor refused", s->op,
                         s->since, a->name);
        }
    }
    printf("attributes: %d exercised, %d refused by name\n", exercised, refused);
    assert_int_equal(failures, 0);
}

/* Words that an attribute cannot be. */
static void wrong_words(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; i < schema_count; i++) {
        const tw_schema *s = &schemas[i];
        const tw_place *p = first_place(s);
        for (int k = 0; p && is_imported(s->op) && k < s->attribute_count; k++)
            if (s->attributes[k].type == 's' && !is_refused(p, s->attributes[k].name, "snonsense"))
                complain("%s of opset %ld: a wrong %s is not refused by name", s->op, s->since,
                         s->attributes[k].name);
    }
    assert_int_equal(failures, 0);
}

/* Attributes of other versions, and of none. */
static void strange_attributes(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; i < schema_count; i++) {
        const tw_schema *s = &schemas[i];
        const tw_place *p = first_place(s);
        if (!p || !is_imported(s->op))
            continue;
        if (!is_refused(p, "no_such_attribute", "i1"))
            complain("%s of opset %ld takes any attribute", s->op, s->since);
        for (int t = 0; t < schema_count; t++)
            for (int k = 0; strcmp(schemas[t].op, s->op) == 0 && k < schemas[t].attribute_count;
                 k++) {
                const tw_schema_attribute *a = &schemas[t].attributes[k];
                if (!find_attribute(s, a->name) && !is_refused(p, a->name, some_value(a)))
                    complain("%s of opset %ld takes the attribute %s of opset %ld", s->op, s->since,
                             a->name, schemas[t].since);
            }
    }
    assert_int_equal(failures, 0);
}

static int set_up(void **state)
{
    (void)state;
    arena = tw_arena_new();
    read_schemas();
    read_models();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tw_arena_free(arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(every_attribute),
        cmocka_unit_test(wrong_words),
        cmocka_unit_test(strange_attributes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
