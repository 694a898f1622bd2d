/* TensorFlow Lite models made by hand: the sound ones are read, the damaged ones are refused with the path
 * of the place or the tensor's name, and no cut and no changed byte does any harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "import/import.h"
#include "support/tflite_model.h"

static const tw_import_options none;

static tw_graph *import(tw_arena *arena, const void *data, size_t bytes, tw_diag *diag)
{
    return tw_import_tflite(arena, data, bytes, "model.tflite", &none, diag);
}

/* Everything that a message says of a failure, in one text. */
static const char *words(tw_arena *arena, const tw_diag *diag)
{
    return tw_format(arena, "%s (%s): %s", diag->node, diag->operator_name, diag->message);
}

static void expect_refused(const void *data, size_t bytes, const char *text)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    if (import(arena, data, bytes, &diag))
        fail_msg("accepted; expected '%s'", text);
    if (!strstr(words(arena, &diag), text))
        fail_msg("'%s' does not hold '%s'", words(arena, &diag), text);
    tw_arena_free(arena);
}

static void test_sound(void **state)
{
    (void)state;
    tw_tflt_model model;
    const char *name;
    for (int i = 0; (name = tw_tflt_example(i, &model)) && strncmp(name, "bad", 3) != 0; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        tw_flat flat;
        tw_tflt_make(&model, &flat, NULL);
        if (!import(arena, flat.data, flat.bytes, &diag))
            fail_msg("%s: %s", name, words(arena, &diag));
        tw_flat_free(&flat);
        tw_arena_free(arena);
    }
}

/* By name of the example: what the message must hold. */
static const char *const damaged[][2] = {
    {"bad-buffer", "subgraphs[0].tensors[1].buffer"},
    {"bad-tensor", "subgraphs[0].operators[0].inputs"},
    {"bad-code", "subgraphs[0].operators[1].opcode_index"},
    {"bad-absent", "subgraphs[0].operators[1].inputs"},
    {"bad-output", "subgraphs[0].outputs"},
    {"bad-short-shape", "shape"},
    {"bad-short-weights", "w"},
    {"bad-extent", "x"},
    {"bad-huge", "w"},
};

static void test_damaged(void **state)
{
    (void)state;
    tw_tflt_model model;
    const char *name;
    size_t seen = 0;
    for (int i = 0; (name = tw_tflt_example(i, &model)); i++) {
        if (strncmp(name, "bad", 3) != 0)
            continue;
        tw_flat flat;
        assert_true(seen < sizeof damaged / sizeof *damaged);
        assert_string_equal(name, damaged[seen][0]);
        tw_tflt_make(&model, &flat, NULL);
        expect_refused(flat.data, flat.bytes, damaged[seen++][1]);
        tw_flat_free(&flat);
    }
    assert_int_equal(seen, sizeof damaged / sizeof *damaged);
}

static void test_eight_bytes(void **state)
{
    (void)state;
    static const uint8_t eight[8] = {0x18, 0, 0, 0, 'T', 'F', 'L', '3'};
    expect_refused(eight, sizeof eight, "the file");
}

static void test_misaligned(void **state)
{
    (void)state;
    tw_tflt_model model;
    tw_flat flat;
    tw_tflt_places places;
    assert_non_null(tw_tflt_example(0, &model));
    tw_tflt_make(&model, &flat, &places);
    tw_flat_link(&flat, tw_flat_field(&flat, places.tensors[1], 0), places.shapes[1] - 2);
    expect_refused(flat.data, flat.bytes, "subgraphs[0].tensors[1].shape");
    tw_flat_free(&flat);
}

/* One that moves with the type from uint8 to int8, and has nowhere to go. */
static void test_zero_point(void **state)
{
    static const int64_t far[] = {INT64_MIN, (int64_t)INT32_MIN + 127, (int64_t)INT32_MAX + 1};
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        tw_tflt_model model;
        tw_flat flat;
        assert_non_null(tw_tflt_example(1, &model));
        model.tensors[0].type = 3; /* UINT8 */
        model.tensors[0].zero_point = far[i];
        tw_tflt_make(&model, &flat, NULL);
        expect_refused(flat.data, flat.bytes, "a zero point leaves 32 bits");
        tw_flat_free(&flat);
    }
}

/* A filter whose weights have to become floats, after one of its constants turned out to end before its shape
 * does: the features, or the bias, which may be absent. */
static void test_short_filters(void **state)
{
    static const int8_t zero[8];
    (void)state;
    for (uint32_t less = 0; less < 2; less++) {
        const tw_tflt_model model = {.tensor_count = 6,
                                     .operator_count = 1,
                                     .buffer_count = 2,
                                     .code_count = 1,
                                     .tensors = {{"x", {2, {1, 4}}, 0, 0, 0, 0},
                                                 {"features", {2, {2, 4}}, 9, 1, 0.5f, 0},
                                                 {"time", {2, {2, 3}}, 9, 0, 0.5f, 3},
                                                 {"bias", {1, {2}}, 0, 2, 0, 0},
                                                 {"state", {2, {1, 6}}, 0, 0, 0, 0},
                                                 {"y", {2, {1, 2}}, 0, 0, 0, 0}},
                                     .operators = {{0, {5, {0, 1, 2, 3, 4}}, {1, {5}}}},
                                     .buffers = {{zero, 7 + less, 0}, {zero, 8 - less, 0}},
                                     .codes = {27}, /* SVDF */
                                     .in = {3, {0, 2, 4}},
                                     .out = {1, {5}}};
        tw_flat flat;
        tw_tflt_make(&model, &flat, NULL);
        expect_refused(flat.data, flat.bytes, "buffer holds 7 bytes");
        tw_flat_free(&flat);
    }
}

/* Copies are of the exact size, so that a sanitizer sees every byte read behind the end. */
static void import_copy(const uint8_t *data, size_t bytes)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0}, broken = {0};
    uint8_t *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, data, bytes);
    tw_graph *graph = import(arena, copy, bytes, &diag);
    assert_true(graph ? tw_graph_check(graph, &broken) : *diag.message != 0);
    free(copy);
    tw_arena_free(arena);
}

static void test_cuts_and_changes(void **state)
{
    static const uint8_t changes[] = {0, 1, 0x7F, 0x80, 0xFF};
    (void)state;
    tw_tflt_model model;
    for (int i = 0; i < 3; i++) {
        tw_flat flat;
        assert_non_null(tw_tflt_example(i, &model));
        tw_tflt_make(&model, &flat, NULL);
        for (size_t bytes = 0; bytes < flat.bytes; bytes++)
            import_copy(flat.data, bytes);
        for (size_t at = 0; at < flat.bytes; at++) {
            const uint8_t before = flat.data[at];
            for (size_t k = 0; k < sizeof changes; k++) {
                flat.data[at] = changes[k];
                import_copy(flat.data, flat.bytes);
            }
            flat.data[at] = before;
        }
        tw_flat_free(&flat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_short_filters),
        cmocka_unit_test(test_eight_bytes),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_zero_point),
        cmocka_unit_test(test_cuts_and_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
