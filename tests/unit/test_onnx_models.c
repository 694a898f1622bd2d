/* Whole ONNX networks, compiled and run, against outputs that other runtimes computed: whole, and
 * with every step split into random bands, which must not change a bit. The models stand under
 * TILEWRIGHT_TEST_DATA or ../shared/data; without them the test is skipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "host/session.h"
#include "tilewright/compiler.h"

enum { MOST = 8, SEEDS = 4 };

static const struct {
    const char *folder;
    double rtol, atol;
} models[] = {
    {"torch-own/mlp", 1e-4, 1e-5},
    {"torch-own/conv1d", 1e-4, 1e-5},
    {"torch-own/dscnn", 1e-4, 1e-5},
    {"torch-own/resnet", 1e-4, 1e-5},
    /* One step of the output's scale: the reference rounds ties the other way. */
    {"onnx-int8/qdq_cnn_asym", 0, 1.001 / 256},
    {"onnx-int8/qdq_cnn_sym", 0, 1.001 / 256},
    {"onnx-int8/qop_conv_matmul_u8", 0, 1.001 * 0.4},
};

static const char *data_folder(void)
{
    const char *given = getenv("TILEWRIGHT_TEST_DATA");
    return given ? given : "../shared/data";
}

/* The files of io.tsv in the role `role`, in order. */
static int files_of(tw_arena *arena, const char *folder, const char *role, const char **files)
{
    void *text;
    size_t bytes;
    tw_diag diag = {0};
    int count = 0;
    if (!tw_read_file(arena, tw_format(arena, "%s/io.tsv", folder), 1 << 20, &text, &bytes, &diag))
        fail_msg("%s", diag.message);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        size_t length = strlen(role);
        if (strncmp(line, role, length) == 0 && line[length] == '\t')
            files[count++] = tw_format(arena, "%s/%s", folder, strrchr(line, '\t') + 1);
    }
    return count;
}

static const void *read_exactly(tw_arena *arena, const char *path, size_t expected)
{
    void *data;
    size_t bytes;
    tw_diag diag = {0};
    if (!tw_read_file(arena, path, 1 << 26, &data, &bytes, &diag))
        fail_msg("%s", diag.message);
    if (bytes != expected)
        fail_msg("%s has %zu bytes, the tensor %zu", path, bytes, expected);
    return data;
}

static void compare(const char *what, const float *got, const float *right, size_t count,
                    double rtol, double atol)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - (double)right[i]) <= atol + rtol * fabs((double)right[i])))
            fail_msg("%s: element %zu is %.9g, expected %.9g", what, i, (double)got[i],
                     (double)right[i]);
}

/* Compile with the seed's bands, run, return the outputs end to end. */
static const uint8_t *run(tw_arena *arena, const char *folder, uint64_t seed, size_t *bytes)
{
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.random_bands = seed;
    tw_diag diag = {0};
    tw_compiled compiled;
    tw_session session = {.arena = NULL};
    char text[2048];
    const char *files[MOST];
    if (!tw_compile_file(tw_format(arena, "%s/model.onnx", folder), &options, &compiled, &diag) ||
        !tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag)) {
        tw_diag_text(&diag, text, sizeof text);
        fail_msg("%s", text);
    }
    int count = files_of(arena, folder, "in", files);
    assert_int_equal(count, session.model.input_count);
    for (int i = 0; i < count; i++) {
        size_t size = tw_tensor_bytes(tw_input_tensor(&session.model, (uint32_t)i));
        memcpy(tw_session_input(&session, (uint32_t)i), read_exactly(arena, files[i], size), size);
    }
    if (!tw_session_run(&session, &diag))
        fail_msg("%s: %s", folder, diag.message);
    *bytes = 0;
    for (uint32_t i = 0; i < session.model.output_count; i++)
        *bytes += tw_tensor_bytes(tw_output_tensor(&session.model, i));
    uint8_t *all = tw_alloc(arena, *bytes), *at = all;
    for (uint32_t i = 0; i < session.model.output_count; i++) {
        size_t size = tw_tensor_bytes(tw_output_tensor(&session.model, i));
        memcpy(at, tw_output(&session.context, i), size);
        at += size;
    }
    tw_session_close(&session);
    tw_compiled_free(&compiled);
    return all;
}

static void against_goldens(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        const char *folder = tw_format(arena, "%s/models/%s", data_folder(), models[m].folder);
        const char *files[MOST];
        size_t bytes, again, at = 0;
        const uint8_t *whole = run(arena, folder, 0, &bytes);
        int count = files_of(arena, folder, "out", files);
        for (int i = 0; i < count; i++) {
            void *right;
            size_t size;
            tw_diag diag = {0};
            assert_true(tw_read_file(arena, files[i], 1 << 26, &right, &size, &diag));
            assert_true(at + size <= bytes);
            compare(models[m].folder, (const float *)(const void *)(whole + at), right,
                    size / sizeof(float), models[m].rtol, models[m].atol);
            at += size;
        }
        assert_int_equal(at, bytes);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            const uint8_t *banded = run(arena, folder, seed, &again);
            assert_int_equal(again, bytes);
            if (memcmp(banded, whole, bytes) != 0)
                fail_msg("%s: bands of seed %d change the result", models[m].folder, (int)seed);
        }
    }
    tw_arena_free(arena);
}

int main(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/models/torch-own/mlp/model.onnx", data_folder());
    FILE *model = fopen(path, "rb");
    if (!model) {
        fprintf(stderr, "skipped: no test data (%s); set TILEWRIGHT_TEST_DATA\n", path);
        return 77;
    }
    fclose(model);
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_goldens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
