/* Whole TensorFlow Lite models against goldens: whole, and with every step split into random bands,
 * which must not change a bit. Integers computed by the TensorFlow Lite Micro reference kernels are
 * equal to the last bit over all steps; floats within 1e-5; what a WebAssembly build computed, which
 * rounds otherwise, within four least significant bits, half floats within 1e-3. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "host/session.h"
#include "support/model_folder.h"

/* The tensor between its two ADDs is declared FLOAT32 where both operands are int8. TensorFlow Lite Micro
 * then adds the int8 bytes as if they were floats, four times as many as the operands have, so that its
 * golden depends on what lies behind them in its memory. TensorFlow Lite itself and this importer take the
 * sum for int8; with one scale everywhere and zero points of 0 the result is x + x + x, held in range
 * twice, which is computed here. */
static const char damaged[] = "add_quantized_int8";

static int8_t held(int sum)
{
    return (int8_t)(sum < INT8_MIN ? INT8_MIN : sum > INT8_MAX ? INT8_MAX : sum);
}

static void expect_sums(tw_arena *arena, tw_model_folder *folder)
{
    assert_int_equal(folder->row_count, 2);
    size_t count = folder->rows[0].bytes * (size_t)folder->rows[0].steps;
    int8_t *want = tw_alloc(arena, count);
    for (size_t i = 0; i < count; i++) {
        int x = ((const int8_t *)folder->rows[0].data)[i];
        want[i] = held(held(x + x) + x);
    }
    folder->rows[1].data = (uint8_t *)want;
}

static tw_tolerance tolerance_of(const tw_model_folder *folder)
{
    bool reference = strstr(folder->oracle, "Micro reference") != NULL;
    return reference ? (tw_tolerance){1e-5, 1e-6, 0} : (tw_tolerance){1e-3, 1e-5, 4};
}

static void must_pass(tw_arena *arena, const tw_model_folder *folder)
{
    tw_model_folder_must_pass(arena, folder, tolerance_of(folder));
}

static void report(const char *what, int passed)
{
    printf("%s: %d equal to their goldens\n", what, passed);
}

static void test_models(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/tflite");
    int passed = 0;
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    const char *root = tw_format(arena, "%s/models/tflite", data);
    for (const char **name = tw_test_folders(arena, root); *name; name++) {
        tw_arena *own = tw_arena_new();
        tw_model_folder folder;
        tw_model_folder_read(own, tw_format(own, "%s/%s", root, *name), "model.tflite", &folder);
        must_pass(own, &folder), passed++;
        tw_arena_free(own);
    }
    report("models", passed);
    assert_true(passed > 0);
    tw_arena_free(arena);
}

static void test_operators(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *place = tw_test_archive(arena, "op-models/litert-f674577.tar.xz");
    int passed = 0;
    if (!place) {
        tw_arena_free(arena);
        skip();
    }
    const char *root = tw_format(arena, "%s/litert-op-models/golden", place);
    for (const char **name = tw_test_folders(arena, root); *name; name++) {
        tw_arena *own = tw_arena_new();
        tw_model_folder folder;
        tw_model_folder_read(own, tw_format(own, "%s/%s", root, *name), "model.tflite", &folder);
        if (strcmp(damaged, *name) == 0)
            expect_sums(own, &folder);
        must_pass(own, &folder), passed++;
        tw_arena_free(own);
    }
    report("operators", passed);
    assert_true(passed > 0);
    tw_arena_free(arena);
}

/* Models that the tree holds. strict: their oracle is TensorFlow Lite itself. */
static void check_own(const char *what, bool strict, int count)
{
    tw_arena *arena = tw_arena_new();
    const char *root = tw_format(arena, "tests/data/tflite-%s", what);
    int passed = 0;
    for (const char **name = tw_test_folders(arena, root); *name; name++) {
        tw_model_folder folder;
        tw_model_folder_read(arena, tw_format(arena, "%s/%s", root, *name), "model.tflite",
                             &folder);
        tw_model_folder_must_pass(arena, &folder,
                                  strict ? (tw_tolerance){1e-5, 1e-6, 0} : tolerance_of(&folder));
        passed++;
    }
    report(what, passed);
    assert_int_equal(passed, count);
    tw_arena_free(arena);
}

/* Our own models of one operator: scripts/fixtures/tflite_windows.py. */
static void test_windows(void **state)
{
    (void)state;
    check_own("windows", false, 13);
}

static void test_layers(void **state)
{
    (void)state;
    check_own("layers", true, 42);
}

/* scripts/fixtures/tflite_hybrid.py: int8 matrices of weights under floats stay int8 in flash: beside them there
 * are biases and peepholes only. */
static void test_hybrid_weights(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *root = "tests/data/tflite-layers";
    int seen = 0;
    for (const char **name = tw_test_folders(arena, root); *name; name++) {
        tw_compile_options options;
        tw_compiled compiled;
        tw_session session = {.arena = NULL};
        tw_diag diag = {0};
        if (!strstr(*name, "hybrid"))
            continue;
        tw_compile_options_default(&options);
        if (!tw_compile_file(tw_format(arena, "%s/%s/model.tflite", root, *name), &options,
                             &compiled, &diag) ||
            !tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag))
            fail_msg("%s: %s", *name, diag.message);
        int64_t stored = 0, floats = 0;
        for (uint32_t i = 0; i < session.model.tensor_count; i++) {
            const tw_tensor *t = &session.model.tensors[i];
            if (t->region == TW_REGION_CONSTANT)
                *(t->dtype == TW_S8 ? &stored : &floats) += tw_element_count(t);
        }
        if (floats * 2 > stored)
            fail_msg("%s: %lld floats among the constants, %lld int8 weights", *name,
                     (long long)floats, (long long)stored);
        tw_session_close(&session);
        tw_compiled_free(&compiled);
        seen++;
    }
    assert_int_equal(seen, 22);
    tw_arena_free(arena);
}

/* scripts/fixtures/tflite_stream.py */
static void test_stream(void **state)
{
    (void)state;
    check_own("stream", true, 15);
}

/* scripts/fixtures/tflite_control.py */
static void test_control(void **state)
{
    (void)state;
    check_own("control", true, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),         cmocka_unit_test(test_operators),
        cmocka_unit_test(test_windows),        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_hybrid_weights), cmocka_unit_test(test_stream),
        cmocka_unit_test(test_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
