/* Whole ONNX networks, compiled and run, against outputs that ONNX Runtime computed: whole, and with
 * every step split into random bands, which must not change a bit; and no transpose is left inside
 * where none is needed. The models stand under TILEWRIGHT_TEST_DATA or ../shared/data; without them
 * the test is skipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "support/model_folder.h"

enum { SEEDS = 3 };

/* How many transposes the plan may have inside: NONE, or as many as there are. */
enum { NONE = 0, SOME = 1000 };

static const struct {
    const char *folder;
    double rtol, atol;
    int transposes;
} models[] = {
    /* It takes the logarithm of bins that hold silence, rounding errors of the filters before.
     * ONNX Runtime with its optimisations and without are 1.4e-3 apart, and 1e-3 and 5e-4 from
     * the result in double precision; the plan is 8e-4 from that. */
    {"onnx/basic_pitch", 1e-4, 3e-4, NONE},
    {"onnx/dtln_1", 1e-4, 1e-5, SOME},
    {"onnx/magika_v3_3", 1e-4, 1e-5, SOME},
    {"onnx/ppocr_cls_v2", 1e-4, 1e-5, NONE},
    /* The sample rate chooses one of two networks: it is a constant of the test. */
    {"onnx/silero_vad_v6", 1e-4, 1e-5, SOME},
    {"onnx/silero_vad_v6_16k_static", 1e-4, 1e-5, SOME},
    {"onnx/ultraface_rfb320", 1e-4, 1e-5, NONE},
    {"torch-own/causal_tcn", 1e-4, 1e-5, SOME},
    {"torch-own/conv1d", 1e-4, 1e-5, NONE},
    {"torch-own/dscnn", 1e-4, 1e-5, NONE},
    {"torch-own/embed_cls", 1e-4, 1e-5, NONE},
    {"torch-own/encoder", 1e-4, 1e-5, SOME},
    {"torch-own/gru", 1e-4, 1e-5, SOME},
    {"torch-own/llama_step", 1e-4, 1e-5, NONE},
    {"torch-own/lstm", 1e-4, 1e-5, SOME},
    {"torch-own/lstm_bi", 1e-4, 1e-5, SOME},
    {"torch-own/mlp", 1e-4, 1e-5, NONE},
    {"torch-own/pools", 1e-4, 1e-5, NONE},
    {"torch-own/resnet", 1e-4, 1e-5, NONE},
    {"torch-own/rnn_relu", 1e-4, 1e-5, SOME},
    {"torch-own/unet", 1e-4, 1e-5, NONE},
    {"torch-own/zoo", 1e-4, 1e-5, NONE},
    /* Behind Quantize it is bytes that are transposed; the third is not flattened in order. */
    {"onnx-int8/qdq_cnn_asym", 0, 0, 1},
    /* One step of the output's scale: the reference rounds ties the other way. */
    {"onnx-int8/qdq_cnn_sym", 0, 1.001 / 256, 1},
    {"onnx-int8/qop_conv_matmul_u8", 0, 0, 2},
};
enum { MODELS = sizeof models / sizeof *models };

static void run(tw_arena *arena, const tw_model_folder *folder, int m, uint64_t bands,
                tw_folder_result *result)
{
    char text[2048];
    tw_diag diag = {0};
    tw_compile_options options;
    const tw_tolerance tolerance = {models[m].rtol, models[m].atol, 0};
    tw_compile_options_default(&options);
    options.random_bands = bands;
    if (tw_model_folder_run(arena, folder, &options, tolerance, result, &diag))
        return;
    tw_diag_text(&diag, text, sizeof text);
    fail_msg("%s: %s", models[m].folder, text);
}

static void against_goldens(void **state)
{
    (void)state;
    for (int m = 0; m < MODELS; m++) {
        tw_arena *arena = tw_arena_new();
        const char *data = tw_test_data(arena, tw_format(arena, "models/%s", models[m].folder));
        tw_model_folder folder;
        tw_folder_result whole, banded;
        assert_non_null(data);
        tw_model_folder_read(arena, tw_format(arena, "%s/models/%s", data, models[m].folder),
                             "model.onnx", &folder);
        run(arena, &folder, m, 0, &whole);
        printf("%s: %ld values, worst %g\n", models[m].folder, whole.compared, whole.worst);
        if (whole.differing)
            fail_msg("%s: %ld of %ld values differ, first at step %d", models[m].folder,
                     whole.differing, whole.compared, whole.first_step);
        if (whole.transposes > models[m].transposes)
            fail_msg("%s: %d transposes inside", models[m].folder, whole.transposes);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            run(arena, &folder, m, seed, &banded);
            assert_int_equal(banded.output_bytes, whole.output_bytes);
            if (memcmp(banded.outputs, whole.outputs, whole.output_bytes) != 0)
                fail_msg("%s: bands of seed %d change the result", models[m].folder, (int)seed);
        }
        tw_arena_free(arena);
    }
}

int main(void)
{
    tw_arena *arena = tw_arena_new();
    bool skip = !tw_test_data(arena, "models/torch-own/mlp/model.onnx");
    tw_arena_free(arena);
    if (skip)
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_goldens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
