/* Every ONNX operator on both sides of each change of its meaning, and every version of it: the models
 * of tests/data/onnx-opsets.txt and onnx-versions.txt (whose heads and scripts of the same names say where
 * the expected values come from), imported and evaluated node by node. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/import.h"
#include "import/onnx/tensor.h"
#include "support/cases.h"
#include "support/onnx_model.h"
#include "support/reference.h"

enum { MOST = 16 };

typedef struct tw_case {
    tw_arena *arena;
    const char *title;
    tw_onnx_writer model;
    tw_named in[MOST], out[MOST];
    int in_count, out_count;
    bool may_be_refused;
} tw_case;

static int failures, refusals;

static void complain(const tw_case *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void complain(const tw_case *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", c->title);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    failures++;
}

/* --- reading a case ---------------------------------------------------------------------------- */

static void read_attribute(tw_case *c, char *text)
{
    char *value = strchr(text, '=');
    *value++ = 0;
    if (*value == 'i') {
        tw_onnx_write_int(&c->model, text, strtoll(value + 1, NULL, 10));
    } else if (*value == 'f') {
        tw_onnx_write_real(&c->model, text, strtof(value + 1, NULL));
    } else if (*value == 's') {
        tw_onnx_write_word(&c->model, text, value + 1);
    } else if (*value == 'F') {
        float list[MOST];
        int count = 0;
        for (char *at = value + 1; *at; at += *at == ',')
            list[count++] = strtof(at, &at);
        tw_onnx_write_reals(&c->model, text, count, list);
    } else if (*value == 'S') {
        const char *list[MOST];
        int count = 0;
        for (char *at = value + 1; at;) {
            list[count++] = at;
            at = strchr(at, ',');
            if (at)
                *at++ = 0;
        }
        tw_onnx_write_words(&c->model, text, count, list);
    } else {
        int64_t list[MOST];
        int count = 0;
        for (char *at = value + 1; *at != ']'; at += *at == ',')
            list[count++] = strtoll(at, &at, 10);
        tw_onnx_write_ints(&c->model, text, count, list);
    }
}

/* "a,b" to "a b" */
static void spaced(char *names)
{
    for (; *names; names++)
        if (*names == ',')
            *names = ' ';
}

/* OP [DOMAIN:]INPUTS -> OUTPUTS ATTRIBUTES */
static void read_node(tw_case *c, char *text)
{
    char *op = strtok(text, " "), *inputs = strtok(NULL, " ");
    strtok(NULL, " "); /* -> */
    char *outputs = strtok(NULL, " "), *domain = NULL;
    char *colon = strchr(inputs, ':');
    if (colon) {
        domain = inputs;
        inputs = colon + 1;
        *colon = 0;
    }
    spaced(inputs);
    spaced(outputs);
    tw_onnx_write_node(&c->model, op, strcmp(inputs, "-") == 0 ? "" : inputs, outputs);
    if (domain)
        tw_onnx_write_domain(&c->model, domain);
    for (char *word = strtok(NULL, " "); word; word = strtok(NULL, " "))
        read_attribute(c, word);
}

static void add_tensor(tw_case *c, const char *kind, char *text)
{
    tw_named t = tw_named_read(c->arena, c->title, text);
    int type = (int)tw_onnx_dtype_number(t.shape.dtype);
    int64_t dim[TW_MAX_RANK];
    for (int i = 0; i < t.shape.rank; i++)
        dim[i] = t.shape.dim[i];
    if (strcmp(kind, "const") == 0) {
        tw_onnx_write_tensor(&c->model, t.name, type, t.shape.rank, dim, t.data,
                             tw_shape_bytes(&t.shape));
    } else if (strcmp(kind, "in") == 0) {
        tw_onnx_write_input(&c->model, t.name, type, t.shape.rank, dim);
        c->in[c->in_count++] = t;
    } else {
        tw_onnx_write_output(&c->model, t.name, type);
        c->out[c->out_count++] = t;
    }
}

/* --- running it -------------------------------------------------------------------------------- */

/* Quantised results may differ by one step where the oracle rounds a tie the other way. */
static double slack(const tw_case *c, const tw_named *expected, double value)
{
    bool is_real = expected->shape.dtype == TW_F32 || expected->shape.dtype == TW_F64;
    return is_real                                ? 1e-6 + 1e-5 * fabs(value)
           : strncmp(c->title, "QLinear", 7) == 0 ? 1
           : strncmp(c->title, "QGemm", 5) == 0   ? 1
                                                  : 0;
}

static void compare(const tw_case *c, const tw_named *expected, const tw_shape *shape,
                    const void *data)
{
    char have[96], want[96];
    tw_shape_text(shape, have, sizeof have);
    tw_shape_text(&expected->shape, want, sizeof want);
    if (strcmp(have, want) != 0) {
        complain(c, "%s is %s, expected %s", expected->name, have, want);
        return;
    }
    tw_value a = {.shape = *shape, .data = data}, b = {.shape = *shape, .data = expected->data};
    for (int64_t i = 0; i < tw_shape_elements(shape); i++) {
        double got = tw_constant_at(&a, i), right = tw_constant_at(&b, i);
        if (got == right || (isnan(got) && isnan(right)))
            continue;
        if (!(fabs(got - right) <= slack(c, expected, right))) {
            complain(c, "%s[%lld] is %.9g, expected %.9g", expected->name, (long long)i, got,
                     right);
            return;
        }
    }
}

static void run(tw_case *c)
{
    tw_diag diag = {0};
    char text[2048];
    tw_wire_bytes file = tw_onnx_write_end(&c->model);
    tw_graph *graph = tw_import_bytes(c->arena, file.data, file.bytes, "model", NULL, NULL, &diag);
    const void *inputs[MOST] = {NULL}, *outputs[MOST] = {NULL};
    if (diag.code == TW_CODE_UNSUPPORTED && c->may_be_refused) {
        refusals++;
        return;
    }
    if (!graph || !tw_graph_check(graph, &diag)) {
        tw_diag_text(&diag, text, sizeof text);
        complain(c, "%s", text);
        return;
    }
    assert_int_equal(graph->input_count, c->in_count);
    assert_int_equal(graph->output_count, c->out_count);
    for (int i = 0; i < c->in_count; i++) {
        assert_string_equal(graph->inputs[i]->name, c->in[i].name);
        inputs[i] = c->in[i].data;
    }
    if (!tw_reference_run(graph, c->arena, inputs, outputs, 0, &diag)) {
        tw_diag_text(&diag, text, sizeof text);
        complain(c, "%s", text);
        return;
    }
    for (int i = 0; i < c->out_count; i++) {
        assert_string_equal(graph->outputs[i]->name, c->out[i].name);
        compare(c, &c->out[i], &graph->outputs[i]->shape, outputs[i]);
    }
}

/* All models of a file. may_be_refused: an operator may be unsupported. */
static int run_file(const char *path, bool may_be_refused)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    void *data;
    size_t bytes;
    assert_true(tw_read_file(arena, path, 1 << 24, &data, &bytes, &diag));
    int cases = 0;
    tw_case c = {.arena = NULL};
    for (char *line = data, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        char *rest = strchr(line, ' ');
        if (strncmp(line, "case ", 5) == 0) {
            c = (tw_case){
                .arena = tw_arena_new(), .title = line + 5, .may_be_refused = may_be_refused};
        } else if (strncmp(line, "opset ", 6) == 0) {
            c.model = tw_onnx_write(c.arena, (int)strtol(line + 6, NULL, 10));
        } else if (strncmp(line, "node ", 5) == 0) {
            read_node(&c, line + 5);
        } else if (strcmp(line, "end") == 0) {
            run(&c);
            tw_arena_free(c.arena);
            cases++;
        } else if (*line && *line != '#') {
            assert_non_null(rest);
            *rest = 0;
            add_tensor(&c, line, rest + 1);
        }
    }
    tw_arena_free(arena);
    printf("%s: %d models, %d unsupported, %d failures\n", path, cases, refusals, failures);
    assert_int_equal(failures, 0);
    return cases - refusals;
}

static void every_change(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-opsets.txt", false) > 280);
}

static void every_version(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-versions.txt", true) > 450);
}

static void by_index(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-index.txt", false) >= 229);
}

static void by_window(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-windows.txt", false) >= 49);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_change),
                                       cmocka_unit_test(every_version), cmocka_unit_test(by_index),
                                       cmocka_unit_test(by_window)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
