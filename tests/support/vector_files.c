/* Cases of test vectors through the whole compiler and runtime: whole, and in random bands, which must
 * give the same bytes. */
#include "support/vector_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <unistd.h>

#include "base/file.h"
#include "graph/print.h"
#include "host/compare.h"
#include "host/session.h"
#include "tilewright/compiler.h"

enum { BAND_SEEDS = 3 };

static void complain(const char *file, const tw_vector_case *one, const char *text)
{
    print_error("%s:%d: \"%s\": %s\n", file, one->line, one->name, text);
}

/* The case's graph as a file that the compiler takes. */
static bool write_graph(const tw_graph *graph, const char *path, tw_diag *diag)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s cannot be written", path);
    bool ok = tw_text_print(graph, file, NULL, diag);
    return fclose(file) == 0 && ok;
}

/* Compile with random bands of `seed` (0: whole), run, and leave the outputs in the arena. */
static bool execute(tw_arena *arena, const char *path, const tw_vector_case *one, uint64_t seed,
                    void **outputs, tw_diag *diag)
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_session session = {0};
    tw_compile_options_default(&options);
    options.random_bands = seed;
    bool ok = tw_compile_file(path, &options, &compiled, diag) &&
              tw_session_open(&session, compiled.plan, compiled.plan_bytes, diag);
    for (int i = 0; ok && i < one->graph->input_count; i++)
        tw_scatter(tw_input_tensor(&session.model, (uint32_t)i),
                   tw_input(&session.context, (uint32_t)i), one->feeds[i].data);
    ok = ok && tw_session_run(&session, diag);
    for (int i = 0; ok && i < one->graph->output_count; i++) {
        const tw_tensor *tensor = tw_output_tensor(&session.model, (uint32_t)i);
        outputs[i] = tw_alloc(arena, tw_tensor_bytes(tensor));
        tw_gather(tensor, tw_session_output(&session, (uint32_t)i), outputs[i]);
    }
    tw_session_close(&session);
    tw_compiled_free(&compiled);
    return ok;
}

static bool compare(tw_arena *arena, const char *file, const tw_vector_case *one, void **outputs)
{
    tw_tolerance tolerance = {one->rtol, one->atol, (uint64_t)one->ulp};
    for (int i = 0; i < one->graph->output_count; i++) {
        const tw_value *value = one->expects[i].value;
        tw_difference d = tw_no_difference();
        if (tw_compare(value->shape.dtype, tw_shape_elements(&value->shape), outputs[i],
                       one->expects[i].data, &tolerance, 0, &d))
            continue;
        complain(file, one,
                 tw_format(arena,
                           "%lld of %lld values of %%%s differ; element %lld is %.9g where %s "
                           "gives %.9g",
                           (long long)d.differing, (long long)tw_shape_elements(&value->shape),
                           value->name, (long long)d.first, d.got, one->oracle, d.want));
        return false;
    }
    return true;
}

static bool run_case(const char *file, const tw_vector_case *one)
{
    char path[] = "/tmp/twvectorXXXXXX", text[2048];
    tw_arena *arena = tw_arena_new();
    int handle = mkstemp(path), count = one->graph->output_count;
    void **whole = tw_alloc_array(arena, (size_t)count + 1, sizeof *whole);
    void **bands = tw_alloc_array(arena, (size_t)count + 1, sizeof *bands);
    tw_diag diag = {0};
    assert_true(handle >= 0);
    close(handle);
    bool ok = write_graph(one->graph, path, &diag) && execute(arena, path, one, 0, whole, &diag);
    bool right = ok && compare(arena, file, one, whole);
    for (uint64_t seed = 1; right && ok && seed <= BAND_SEEDS; seed++) {
        ok = execute(arena, path, one, seed, bands, &diag);
        for (int i = 0; ok && right && i < count; i++) {
            right = memcmp(whole[i], bands[i], tw_shape_bytes(&one->expects[i].value->shape)) == 0;
            if (!right)
                complain(file, one,
                         tw_format(arena, "%%%s differs between whole and bands of seed %d",
                                   one->expects[i].value->name, (int)seed));
        }
    }
    if (!ok) {
        tw_diag_text(&diag, text, sizeof text);
        complain(file, one, text);
    }
    unlink(path);
    tw_arena_free(arena);
    return ok && right;
}

static void run_file(const char *path, tw_vector_visit *visit, void *context)
{
    tw_arena *arena = tw_arena_new();
    tw_vector_file file = {NULL, 0};
    tw_diag diag = {0};
    char message[2048];
    void *text;
    size_t bytes;
    if (!tw_read_file(arena, path, 1 << 26, &text, &bytes, &diag) ||
        !tw_vectors_parse(arena, text, bytes, path, &file, &diag)) {
        tw_diag_text(&diag, message, sizeof message);
        fail_msg("%s", message);
    }
    for (int i = 0; i < file.count; i++)
        visit(&file.cases[i], run_case(path, &file.cases[i]), context);
    tw_arena_free(arena);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int tw_vector_files(const char *folder, tw_vector_visit *visit, void *context)
{
    tw_arena *arena = tw_arena_new();
    char **names = NULL;
    int count = 0, capacity = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t n = strlen(entry->d_name);
        if (n < 4 || strcmp(entry->d_name + n - 4, ".txt") != 0)
            continue;
        tw_grow(arena, &names, count, &capacity, sizeof *names);
        names[count++] = tw_format(arena, "%s/%s", folder, entry->d_name);
    }
    closedir(dir);
    if (count)
        qsort(names, (size_t)count, sizeof *names, compare_names);
    for (int i = 0; i < count; i++)
        run_file(names[i], visit, context);
    tw_arena_free(arena);
    return count;
}
