/* TensorFlow Lite files of more than 2 and 4 GB, whose weights stand behind the tables at offsets of
 * their own. The files are sparse: hardly a page of them exists. */
#define _XOPEN_SOURCE 700 /* mkstemp, pwrite, ftruncate */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "import/import.h"
#include "support/tflite_model.h"

#define GIB ((uint64_t)1 << 30)

static const int8_t weights[] = {1, -2, 3, 4, -5, 6};
static const int32_t bias[] = {10, -20};
static tw_arena *arena;
static tw_diag diag;

/* The example of one int8 layer, its constants at these offsets of a file of so many bytes. Null with a
 * message where it is refused; *made is false where the file system has no room for such a file. */
static tw_graph *import_with(uint64_t weights_at, uint64_t bias_at, uint64_t bytes, bool *made)
{
    char path[] = "/tmp/tw-large-XXXXXX";
    int file = mkstemp(path);
    tw_tflt_model model;
    tw_flat flat;
    assert_true(file >= 0);
    assert_non_null(tw_tflt_example(1, &model));
    model.buffers[0].offset = weights_at;
    model.buffers[1].offset = bias_at;
    tw_tflt_make(&model, &flat, NULL);
    *made = pwrite(file, flat.data, flat.bytes, 0) == (ssize_t)flat.bytes &&
            ftruncate(file, (off_t)bytes) == 0;
    if (*made && weights_at + sizeof weights <= bytes && weights_at < bytes)
        *made = pwrite(file, weights, sizeof weights, (off_t)weights_at) > 0;
    if (*made && bias_at + sizeof bias <= bytes && bias_at < bytes)
        *made = pwrite(file, bias, sizeof bias, (off_t)bias_at) > 0;
    close(file);
    diag = (tw_diag){0};
    tw_graph *graph = *made ? tw_import(arena, path, NULL, NULL, &diag) : NULL;
    unlink(path);
    tw_flat_free(&flat);
    return graph;
}

static bool has_constant(const tw_graph *graph, const void *data, size_t bytes)
{
    for (int i = 0; graph && i < graph->value_count; i++)
        if (graph->values[i]->data && tw_shape_bytes(&graph->values[i]->shape) == bytes &&
            memcmp(graph->values[i]->data, data, bytes) == 0)
            return true;
    return false;
}

static void test_offsets(void **state)
{
    static const struct {
        uint64_t weights, bias, bytes;
    } files[] = {
        {4096, 8192, 12288},                            /* an ordinary file */
        {2 * GIB + 64, 3 * GIB, 3 * GIB + sizeof bias}, /* the bias ends it */
        {GIB, 4 * GIB + 4096, 5 * GIB},                 /* what 32 bits do not hold */
        {5 * GIB - 6, 4 * GIB, 5 * GIB},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        arena = tw_arena_new();
        bool made;
        tw_graph *graph = import_with(files[i].weights, files[i].bias, files[i].bytes, &made);
        if (!made) {
            tw_arena_free(arena);
            skip();
        }
        if (!graph)
            fail_msg("file %zu: %s", i, diag.message);
        assert_true(has_constant(graph, weights, sizeof weights));
        assert_true(has_constant(graph, bias, sizeof bias));
        tw_arena_free(arena);
    }
}

static void test_outside(void **state)
{
    static const struct {
        uint64_t weights, bytes;
    } files[] = {
        {8192, 8192 + 5},
        {UINT64_MAX, 8192},
        {UINT64_MAX - 5, 8192},
        {(uint64_t)1 << 63, 8192},
        {3 * GIB, 3 * GIB},
        {3 * GIB - 5, 3 * GIB},
        {4 * GIB + 8192, 3 * GIB}, /* 8192 in 32 bits */
        {UINT64_MAX - 4095, 5 * GIB},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        arena = tw_arena_new();
        bool made;
        tw_graph *graph = import_with(files[i].weights, 4096, files[i].bytes, &made);
        if (!made) {
            tw_arena_free(arena);
            skip();
        }
        if (graph || !strstr(diag.message, "buffers[1].offset") ||
            !strstr(diag.message, "lie outside the file"))
            fail_msg("file %zu: %s", i, graph ? "accepted" : diag.message);
        tw_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_offsets),
                                       cmocka_unit_test(test_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
