/* Whole PyTorch models against goldens: whole, and with every step split into random bands, which must not
 * change a bit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "support/model_folder.h"

static const tw_tolerance close = {1e-4, 1e-5, 0};

/* TorchScript as PyTorch 1.13 traces it. */
static void traced_models(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/torch-own");
    int passed = 0;
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    const char *root = tw_format(arena, "%s/models/torch-own", data);
    for (const char **name = tw_test_folders(arena, root); *name; name++) {
        tw_arena *own = tw_arena_new();
        tw_model_folder folder;
        tw_model_folder_read(own, tw_format(own, "%s/%s", root, *name), "model.pt", &folder);
        tw_model_folder_must_pass(own, &folder, close), passed++;
        tw_arena_free(own);
    }
    printf("traced: %d equal to their goldens\n", passed);
    assert_true(passed > 0);
    tw_arena_free(arena);
}

/* A scripted module with branches, two networks behind one number, and attributes that runs change: its
 * twin is the ONNX model that is handed what the module keeps to itself (64 samples and a state). */
static void scripted_model(void **state)
{
    (void)state;
    enum { SAMPLES = 512, CONTEXT = 64 };
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/torchscript");
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    static const tw_input_value rate = {"sr", "16000"};
    tw_model_folder folder;
    tw_model_folder_read(arena, tw_format(arena, "%s/models/onnx/silero_vad_v6_16k_static", data),
                         "model.onnx", &folder);
    folder.model = tw_format(arena, "%s/models/torchscript/silero_vad_v6/model.jit", data);
    folder.row_count = 2; /* the state is inside */
    tw_io_row *in = &folder.rows[0];
    assert_int_equal(in->bytes, (SAMPLES + CONTEXT) * sizeof(float));
    uint8_t *samples = tw_alloc(arena, (size_t)in->steps * SAMPLES * sizeof(float));
    for (int i = 0; i < in->steps; i++)
        memcpy(samples + (size_t)i * SAMPLES * sizeof(float),
               in->data + (size_t)i * in->bytes + CONTEXT * sizeof(float), SAMPLES * sizeof(float));
    in->data = samples;
    in->bytes = SAMPLES * sizeof(float);
    in->dim[1] = SAMPLES;
    for (uint64_t bands = 0; bands < 2; bands++) {
        tw_compile_options options;
        tw_folder_result result;
        tw_diag diag = {0};
        tw_compile_options_default(&options);
        options.constants = &rate;
        options.constant_count = 1;
        options.random_bands = bands;
        if (!tw_model_folder_run(arena, &folder, &options, close, &result, &diag))
            fail_msg("%s", diag.message);
        assert_int_equal(result.compared, in->steps);
        assert_int_equal(result.differing, 0);
    }
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traced_models),
        cmocka_unit_test(scripted_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
