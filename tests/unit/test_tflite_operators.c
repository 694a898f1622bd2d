/* Single operators of TensorFlow Lite, compiled and run whole and in bands, against what the reference
 * kernels compute of them. The script that made them is scripts/fixtures/tflite_operators.py. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "import/tflite/tflite.h"
#include "support/cases.h"

static void operators(void **state)
{
    (void)state;
    tw_cases_result r = tw_cases_run("tests/data/tflite-operators");
    printf("%d models agree, %d refused, %d fail\n", r.passed, r.refused, r.failed);
    assert_int_equal(r.refused + r.failed, 0);
    assert_true(r.passed >= 68);
}

static void one_row_each(void **state)
{
    (void)state;
    tw_tfl_row row, other;
    for (int i = 0; tw_tfl_row_at(i, &row); i++)
        for (int k = 0; k < i && tw_tfl_row_at(k, &other); k++)
            if (row.code == other.code && strcmp(row.name, other.name) == 0)
                fail_msg("%s has two rows", row.name);
}

/* Do the names agree, whatever stands between their words and in whatever case? */
static bool same_words(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "_-");
        b += strspn(b, "_-");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

/* Is the row the operator that TensorFlow Lite Micro's resolver calls so? */
static bool is_operator(const tw_tfl_row *row, const char *name)
{
    static const char *const prefixes[] = {"", "Signal", "TFLite_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(row->name, prefixes[i], length) == 0 && same_words(row->name + length, name))
            return true;
    }
    return false;
}

/* The operators of TensorFlow Lite Micro's resolver, by the names it gives them. */
static void every_micro_operator(void **state)
{
    (void)state;
    char name[64];
    int known = 0, refused = 0;
    FILE *list = fopen("tests/data/tflm-operators.txt", "r");
    assert_non_null(list);
    while (fscanf(list, "%63s", name) == 1) {
        tw_tfl_row row = {.import = NULL};
        int i = 0;
        while (tw_tfl_row_at(i, &row) && !is_operator(&row, name))
            i++;
        if (tw_tfl_row_at(i, &row) && row.import) {
            known++;
            continue;
        }
        /* Programs for accelerators and their compressed weights. */
        if (strcmp(name, "EthosU") != 0 && strcmp(name, "Decode") != 0)
            fail_msg("%s is not imported", name);
        refused++;
    }
    fclose(list);
    printf("%d operators of the resolver: %d imported, %d refused by name\n", known + refused,
           known, refused);
    assert_int_equal(known, 116);
    assert_int_equal(refused, 2);
}

/* An operator that nobody knows is named. */
static void custom_operators_are_named(void **state)
{
    (void)state;
    static const char *const names[] = {"ethos-u", "TFLM_DECODE"};
    for (size_t i = 0; i < 2; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        void *data;
        size_t bytes;
        const tw_import_options options = {0};
        const char *path = tw_format(arena, "tests/data/tflite-operators/%s.tflite", names[i]);
        assert_true(tw_read_file(arena, path, 1 << 20, &data, &bytes, &diag));
        assert_null(tw_import_tflite(arena, data, bytes, path, &options, &diag));
        assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
        assert_non_null(strstr(diag.message, names[i]));
        tw_arena_free(arena);
    }
}

/* A version of an operator that nobody knows may mean anything. */
static void newer_versions_are_refused(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    void *data;
    size_t bytes;
    const tw_import_options options = {0};
    const char *path = "tests/data/tflite-operators/newer.tflite";
    assert_true(tw_read_file(arena, path, 1 << 20, &data, &bytes, &diag));
    assert_null(tw_import_tflite(arena, data, bytes, path, &options, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    assert_string_equal(diag.operator_name, "ADD");
    assert_non_null(strstr(diag.message, "version 99"));
    tw_arena_free(arena);
}

/* Signatures and metadata arrive as notes of the graph, which inspect prints. */
static void notes_are_kept(void **state)
{
    (void)state;
    static const char *const texts[] = {"tilewright test",
                                        "sum_of, subgraph 0: left = t0, right = t1 -> sum = t2",
                                        "min_runtime_version: 1.14.0"};
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    void *data;
    size_t bytes;
    const tw_import_options options = {0};
    const char *path = "tests/data/tflite-operators/signature.tflite";
    assert_true(tw_read_file(arena, path, 1 << 20, &data, &bytes, &diag));
    tw_graph *graph = tw_import_tflite(arena, data, bytes, path, &options, &diag);
    assert_non_null(graph);
    assert_int_equal(graph->note_count, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(graph->notes[i].text, texts[i]);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators),
                                       cmocka_unit_test(one_row_each),
                                       cmocka_unit_test(every_micro_operator),
                                       cmocka_unit_test(custom_operators_are_named),
                                       cmocka_unit_test(newer_versions_are_refused),
                                       cmocka_unit_test(notes_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
