/* Models on inputs that mean something: micro_speech behind the imported audio front end on four sounds,
 * person_detect on two pictures; and wake word models that remember. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "base/file.h"
#include "host/session.h"
#include "support/model_folder.h"

/* A plan of a model of the data folder; stops the test where it cannot be made. */
static void open_model(tw_arena *arena, const char *data, const char *name, tw_session *session)
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    const char *path = tw_format(arena, "%s/models/tflite/%s/model.tflite", data, name);
    tw_compile_options_default(&options);
    if (!tw_compile_file(path, &options, &compiled, &diag) ||
        !tw_session_open(session, compiled.plan, compiled.plan_bytes, &diag))
        fail_msg("%s: %s", path, diag.message);
    tw_compiled_free(&compiled);
}

static const uint8_t *read_file(tw_arena *arena, const char *path, size_t least)
{
    void *bytes;
    size_t count;
    tw_diag diag = {0};
    if (!tw_read_file(arena, path, 1 << 24, &bytes, &count, &diag))
        fail_msg("%s: %s", path, diag.message);
    assert_true(count >= least);
    return bytes;
}

static void run(tw_session *session)
{
    tw_diag diag = {0};
    if (!tw_session_run(session, &diag))
        fail_msg("%s", diag.message);
}

/* The index of the largest of the first output's int8 scores. */
static int best(tw_session *session)
{
    const int8_t *score = tw_session_output(session, 0);
    int count = (int)tw_tensor_bytes(tw_output_tensor(&session->model, 0)), most = 0;
    for (int i = 1; i < count; i++)
        if (score[i] > score[most])
            most = i;
    return most;
}

/* ---- sounds ---- */

enum { FRAMES = 49, FRAME = 480, HOP = 320, FEATURES = 40, WAV_HEADER = 44 };

/* 16 kHz, one second, to 49 frames of features to a score. */
static int hear(tw_session *front_end, tw_session *model, const uint8_t *samples)
{
    int8_t *features = tw_session_input(model, 0);
    assert_int_equal(tw_tensor_bytes(tw_input_tensor(&model->model, 0)), FRAMES * FEATURES);
    assert_int_equal(tw_tensor_bytes(tw_input_tensor(&front_end->model, 0)), FRAME * 2);
    assert_int_equal(tw_tensor_bytes(tw_output_tensor(&front_end->model, 0)), FEATURES);
    assert_int_equal(tw_reset(&front_end->context), TW_OK);
    for (int i = 0; i < FRAMES; i++) {
        memcpy(tw_session_input(front_end, 0), samples + i * HOP * 2, FRAME * 2);
        run(front_end);
        memcpy(features + i * FEATURES, tw_session_output(front_end, 0), FEATURES);
    }
    run(model);
    return best(model);
}

static void test_sounds(void **state)
{
    enum { SILENCE, UNKNOWN, YES, NO };
    static const struct {
        const char *name;
        int what;
    } sounds[] = {{"yes", YES}, {"no", NO}, {"silence", SILENCE}, {"noise", SILENCE}};
    (void)state, (void)UNKNOWN;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "audio");
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    tw_session front_end, model;
    open_model(arena, data, "audio_preprocessor_int8", &front_end);
    open_model(arena, data, "micro_speech", &model);
    for (size_t i = 0; i < sizeof sounds / sizeof *sounds; i++) {
        const char *path = tw_format(arena, "%s/audio/%s_1000ms.wav", data, sounds[i].name);
        const uint8_t *wav = read_file(arena, path, WAV_HEADER + 32000);
        int heard = hear(&front_end, &model, wav + WAV_HEADER);
        if (heard != sounds[i].what)
            fail_msg("%s is heard as class %d", sounds[i].name, heard);
    }
    tw_session_close(&front_end);
    tw_session_close(&model);
    tw_arena_free(arena);
}

/* ---- pictures ---- */

enum { SIDE = 96, BMP_HEADER = 1078 };

static void test_pictures(void **state)
{
    static const char *const names[] = {"no_person", "person"}; /* by class */
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "images");
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    tw_session model;
    open_model(arena, data, "person_detect", &model);
    for (int i = 0; i < 2; i++) {
        const char *path = tw_format(arena, "%s/images/%s.bmp", data, names[i]);
        const uint8_t *bmp = read_file(arena, path, BMP_HEADER + SIDE * SIDE) + BMP_HEADER;
        uint8_t *pixels = tw_session_input(&model, 0);
        assert_int_equal(tw_tensor_bytes(tw_input_tensor(&model.model, 0)), SIDE * SIDE);
        for (int row = 0; row < SIDE; row++) /* the file begins with the lowest row */
            memcpy(pixels + row * SIDE, bmp + (SIDE - 1 - row) * SIDE, SIDE);
        run(&model);
        if (best(&model) != i)
            fail_msg("%s is seen as %s", names[i], names[best(&model)]);
    }
    tw_session_close(&model);
    tw_arena_free(arena);
}

/* ---- memory ---- */

/* Run the steps from `first` on and append the results. */
static void run_steps(tw_session *s, const tw_io_row *in, int first, int count, uint8_t *results)
{
    uint32_t bytes = tw_tensor_bytes(tw_output_tensor(&s->model, 0));
    assert_int_equal(in->bytes, tw_tensor_bytes(tw_input_tensor(&s->model, 0)));
    for (int i = 0; i < count; i++) {
        memcpy(tw_session_input(s, 0), in->data + in->bytes * (size_t)(first + i), in->bytes);
        run(s);
        memcpy(results + bytes * (size_t)i, tw_session_output(s, 0), bytes);
    }
}

/* Saved in the middle and restored, in another session too, a model goes on as it would have; reset,
 * it begins again. */
static void check_memory(const char *data, const char *name)
{
    tw_arena *arena = tw_arena_new();
    tw_model_folder folder;
    tw_session one, other;
    tw_model_folder_read(arena, tw_format(arena, "%s/models/tflite/%s", data, name), "model.tflite",
                         &folder);
    open_model(arena, data, name, &one);
    open_model(arena, data, name, &other);
    const tw_io_row *in = &folder.rows[0];
    const int steps = in->steps, half = steps / 2;
    assert_true(in->role == TW_IO_IN && half > 0);
    const uint32_t bytes = tw_tensor_bytes(tw_output_tensor(&one.model, 0));
    uint8_t *whole = tw_alloc(arena, bytes * (size_t)steps);
    uint8_t *again = tw_alloc(arena, bytes * (size_t)steps);
    const uint32_t saved_bytes = tw_saved_bytes(&one.model);
    void *saved = tw_alloc(arena, saved_bytes);
    run_steps(&one, in, 0, half, whole);
    assert_int_equal(tw_save(&one.context, saved, saved_bytes), TW_OK);
    run_steps(&one, in, half, steps - half, whole + bytes * (size_t)half);
    assert_int_equal(tw_restore(&one.context, saved, saved_bytes), TW_OK);
    run_steps(&one, in, half, steps - half, again);
    assert_memory_equal(again, whole + bytes * (size_t)half, bytes * (size_t)(steps - half));
    assert_int_equal(tw_restore(&other.context, saved, saved_bytes), TW_OK);
    run_steps(&other, in, half, steps - half, again);
    assert_memory_equal(again, whole + bytes * (size_t)half, bytes * (size_t)(steps - half));
    assert_int_equal(tw_reset(&one.context), TW_OK);
    run_steps(&one, in, 0, steps, again);
    assert_memory_equal(again, whole, bytes * (size_t)steps);
    tw_session_close(&one);
    tw_session_close(&other);
    tw_arena_free(arena);
}

static void test_memory(void **state)
{
    static const char *const names[] = {"mww_v2_alexa", "mww_v2_hey_jarvis", "mww_v2_hey_mycroft",
                                        "mww_v2_okay_nabu", "mww_v2_vad"};
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/tflite");
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_memory(data, names[i]);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sounds),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
