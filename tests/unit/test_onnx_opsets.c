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

#include <dirent.h>

#include "import/foreign/foreign.h"
#include "import/import.h"
#include "support/onnx_case.h"
#include "support/reference.h"
#include "support/vocabulary_nodes.h"

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
    return is_real ? c->absolute + c->relative * fabs(value)
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

static bool awaits(const tw_graph *graph)
{
    for (int i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i]->op->name, "Await") == 0)
            return true;
    return false;
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
    if (awaits(graph)) /* a run may yield nothing: test_vocabularies has it, as a plan */
        return;
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

static int run_texts(const tw_onnx_case_texts *texts, const char *from)
{
    for (int i = 0; i < texts->count; i++) {
        tw_arena *arena = tw_arena_new();
        tw_onnx_case c = tw_onnx_case_read(arena, tw_strdup(arena, texts->text[i]));
        run(&c);
        tw_arena_free(arena);
    }
    printf("%s: %d models, %d failures\n", from, texts->count, failures);
    assert_int_equal(failures, 0);
    return texts->count;
}

static int run_file(const char *path)
{
    tw_arena *all = tw_arena_new();
    tw_onnx_case_texts texts = tw_onnx_case_file(all, path);
    const int count = run_texts(&texts, path);
    tw_arena_free(all);
    return count;
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

/* The files of a folder, and which of the vocabulary's rows their cases are of. */
static void run_folder(const tw_vocabulary *vocabulary, const char *folder, bool *seen)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".txt"))
            continue;
        tw_arena *arena = tw_arena_new();
        tw_onnx_case_texts texts = tw_vocabulary_nodes(
            arena, tw_format(arena, "%s/%s", folder, entry->d_name), vocabulary->name);
        run_texts(&texts, entry->d_name);
        for (int i = 0; i < texts.count; i++) {
            const char *name = tw_strndup(arena, texts.text[i], strcspn(texts.text[i], ","));
            const tw_foreign_row *row = tw_foreign_find(vocabulary, name);
            assert_non_null(row);
            seen[row - vocabulary->rows] = true;
        }
        tw_arena_free(arena);
    }
    closedir(dir);
}

/* The published vocabularies' cases as ONNX nodes: the same names, attributes and values as in the text
 * IR. Every row has one. */
static void by_vocabulary(void **state)
{
    (void)state;
    for (int v = 0; tw_vocabulary_at(v); v++) {
        const tw_vocabulary *vocabulary = tw_vocabulary_at(v);
        bool seen[200] = {false};
        char folder[100];
        assert_true(vocabulary->count <= 200);
        snprintf(folder, sizeof folder, "src/import/foreign/%s", vocabulary->name);
        run_folder(vocabulary, folder, seen);
        for (int i = 0; i < vocabulary->count; i++)
            if (!seen[i])
                fail_msg("%s.%s has no case", vocabulary->name, vocabulary->rows[i].name);
    }
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
