/* Every ONNX operator on both sides of each change of its meaning, and every version of it: the models
 * of tests/data/onnx-opsets.txt and onnx-versions.txt (whose heads and scripts of the same names say where
 * the expected values come from), imported and evaluated node by node. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/import.h"
#include "support/onnx_case.h"
#include "support/reference.h"

static int failures;

static void complain(const tw_onnx_case *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void complain(const tw_onnx_case *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", c->title);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    failures++;
}

/* --- running it -------------------------------------------------------------------------------- */

/* A mean of quantised elements may be a tie that the oracle's own floats round the other way. */
static double slack(const tw_onnx_case *c, const tw_named *expected, double value)
{
    bool is_real = expected->shape.dtype == TW_F32 || expected->shape.dtype == TW_F64;
    return is_real                                            ? 1e-6 + 1e-5 * fabs(value)
           : strncmp(c->title, "QLinearAveragePool", 18) == 0 ? 1
                                                              : 0;
}

static void compare(const tw_onnx_case *c, const tw_named *expected, const tw_shape *shape,
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

/* Beside the model's outputs: how many rows they have (test_onnx_counted). */
static int counts_of(const tw_graph *graph)
{
    int counts = 0;
    for (int i = 0; i < graph->output_count; i++) {
        const char *dot = strrchr(graph->outputs[i]->name, '.');
        counts += dot && strcmp(dot, ".count") == 0;
    }
    return counts;
}

static void run(tw_onnx_case *c)
{
    tw_diag diag = {0};
    char text[2048];
    tw_wire_bytes file = tw_onnx_write_end(&c->model);
    tw_graph *graph = tw_import_bytes(c->arena, file.data, file.bytes, "model", NULL, NULL, &diag);
    const void *inputs[TW_ONNX_CASE_MOST] = {NULL}, *outputs[TW_ONNX_CASE_MOST] = {NULL};
    if (!graph || !tw_graph_check(graph, &diag)) {
        tw_diag_text(&diag, text, sizeof text);
        complain(c, "%s", text);
        return;
    }
    assert_int_equal(graph->input_count, c->in_count);
    assert_int_equal(graph->output_count - counts_of(graph), c->out_count);
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

static int run_file(const char *path)
{
    tw_arena *all = tw_arena_new();
    tw_onnx_case_texts texts = tw_onnx_case_file(all, path);
    for (int i = 0; i < texts.count; i++) {
        tw_arena *arena = tw_arena_new();
        tw_onnx_case c = tw_onnx_case_read(arena, tw_strdup(arena, texts.text[i]));
        run(&c);
        tw_arena_free(arena);
    }
    tw_arena_free(all);
    printf("%s: %d models, %d failures\n", path, texts.count, failures);
    assert_int_equal(failures, 0);
    return texts.count;
}

static void every_change(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-opsets.txt") > 280);
}

static void every_version(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-versions.txt") > 450);
}

static void by_index(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-index.txt") >= 229);
}

static void by_window(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-windows.txt") >= 49);
}

static void by_attribute(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-attributes.txt") >= 174);
}

/* Operators of the published vocabularies, one a row: the names and attributes are the same as in the
 * text IR, where each has more cases. */
static void by_vocabulary(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/vocabulary-nodes/mobilint.txt") == 81);
    assert_true(run_file("tests/data/vocabulary-nodes/qti_aisw.txt") >= 4);
    assert_true(run_file("tests/data/vocabulary-nodes/tigris.txt") == 84);
}

static void by_type(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-types.txt") >= 22);
}

/* What optimised models contain, by ONNX Runtime's own kernels; others, by ONNX's own reference. */
static void of_models(void **state)
{
    (void)state;
    assert_true(run_file("tests/data/onnx-microsoft.txt") >= 72);
    assert_true(run_file("tests/data/onnx-reference.txt") >= 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change), cmocka_unit_test(every_version),
        cmocka_unit_test(by_index),     cmocka_unit_test(by_window),
        cmocka_unit_test(by_attribute), cmocka_unit_test(by_vocabulary),
        cmocka_unit_test(by_type),      cmocka_unit_test(of_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
