/* Streaming: frames from files, pipes and WAV files; what is wrong with them. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

/* The sum of all that ever came, and the window as it is. */
static const char sums[] = "graph \"sums\" {\n"
                           "  input %x : f32[1,4]\n"
                           "  input %s_in : f32[1,1]\n"
                           "  %part = ReduceSum (%x) {axes=[1], keepdims=1}\n"
                           "  %s_out = Add (%part, %s_in)\n"
                           "  %total = Copy (%s_out)\n"
                           "  %window = Copy (%x)\n"
                           "  output %total\n  output %window\n  output %s_out\n}\n";

static void put(uint8_t *at, int bytes, uint32_t value)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* 44 bytes of head: RIFF, a format chunk, the data chunk's head. */
static void write_wave(const char *path, const int16_t *samples, uint32_t count, uint32_t claimed,
                       uint32_t channels)
{
    uint8_t wave[44 + 64];
    memcpy(wave, "RIFF", 4);
    put(wave + 4, 4, 36 + claimed);
    memcpy(wave + 8, "WAVEfmt ", 8);
    put(wave + 16, 4, 16);
    put(wave + 20, 2, 1);
    put(wave + 22, 2, channels);
    put(wave + 24, 4, 8000);
    put(wave + 28, 4, 16000);
    put(wave + 32, 2, 2);
    put(wave + 34, 2, 16);
    memcpy(wave + 36, "data", 4);
    put(wave + 40, 4, claimed);
    assert_true(count <= 32);
    for (uint32_t i = 0; i < count; i++)
        put(wave + 44 + 2 * i, 2, (uint16_t)samples[i]);
    tw_write(path, wave, 44 + 2 * (size_t)count);
}

static void compile_sums(void)
{
    tw_write_text("sums.twir", sums);
    expect_status(tw_process("compile sums.twir --state s_out=s_in -o sums.twp"), 0);
}

static void test_frames(void **state)
{
    (void)state;
    static const float x[9] = {1, 2, 3, 4, 10, 20, 30, 40, 7};
    compile_sums();
    tw_write("x.raw", x, sizeof x);
    tw_result r = tw_process("run sums.twp --follow x.raw");
    expect_status(r, 0);
    assert_string_equal(r.out, "        0  total: 10\n        0  window: 1 2 3 4\n"
                               "        1  total: 110\n        1  window: 10 20 30 40\n");
    r = tw_process("run sums.twp --follow x=x.raw --hop 3 --steps 2 --json");
    expect_status(r, 0);
    char *line = strchr(r.out, '\n');
    assert_non_null(line);
    *line = 0;
    assert_string_equal(r.out, "{\"run\":0,\"outputs\":{\"total\":[6],\"window\":[0,1,2,3]}}");
    char *last = strchr(line + 1, '\n');
    json_t *json = parse_json(last + 1);
    expect_keys(json, "runs memory dropped_bytes");
    json_decref(json);
    *last = 0;
    assert_string_equal(line + 1,
                        "{\"run\":1,\"outputs\":{\"total\":[43],\"window\":[3,4,10,20]}}");
    assert_non_null(freopen("x.raw", "rb", stdin)); /* the child's, too */
    r = tw_process("run sums.twp --follow - --steps 1");
    expect_status(r, 0);
    expect_text(r.out, "total: 10\n");
}

static void test_wave(void **state)
{
    (void)state;
    static const int16_t samples[9] = {16384, -16384, 8192, 0, 32767, -32768, 0, 4096, 1};
    compile_sums();
    static const uint32_t claims[] = {18, 0, UINT32_MAX}; /* known, and not known to the writer */
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        write_wave("s.wav", samples, 9, claims[i], 1);
        tw_result r = tw_process("run sums.twp --follow s.wav");
        expect_status(r, 0);
        expect_text(r.out, "    0.001 s  window: 0.5 -0.5 0.25 0\n");
        expect_text(r.out, "    0.001 s  window: 0.9999695 -1 0 0.125\n");
    }
    /* A quantised input takes the samples in its own terms, limited to its range. */
    tw_write_text("q.twir", "graph \"q\" {\n  input %x : s8[1,4] quant(scale=0.005, zero=20)\n"
                            "  %y = Copy (%x)\n  output %y\n}\n");
    tw_result r = tw_process("run q.twir --follow s.wav --hop 3");
    expect_status(r, 0);
    expect_text(r.out, "y: 20 120 -80 70\n");
    tw_write_text("q.twir",
                  "graph \"q\" {\n  input %x : s16[4]\n  %y = Copy (%x)\n  output %y\n}\n");
    r = tw_process("run q.twir --follow s.wav");
    expect_status(r, 0);
    expect_text(r.out, "y: 32767 -32768 0 4096\n");
    tw_write_text("q.twir",
                  "graph \"q\" {\n  input %x : s32[4]\n  %y = Copy (%x)\n  output %y\n}\n");
    r = tw_process("run q.twir --follow s.wav");
    expect_status(r, 1);
    expect_text(r.err, "s.wav");
}

static void test_wrong(void **state)
{
    (void)state;
    static const int16_t samples[4] = {1, 2, 3, 4};
    compile_sums();
    size_t bytes;
    write_wave("s.wav", samples, 4, 8, 2);
    tw_result r = tw_process("run sums.twp --follow s.wav");
    expect_status(r, 1);
    expect_text(r.err, "one channel");
    write_wave("s.wav", samples, 4, 8, 1);
    char *wave = tw_read("s.wav", &bytes);
    for (size_t cut = 12; cut < 44; cut += 4) { /* the head is cut short */
        tw_write("cut.wav", wave, cut);
        expect_status(tw_process("run sums.twp --follow cut.wav"), 1);
    }
    wave[36] = 'x'; /* no samples, only a chunk that nobody knows */
    tw_write("cut.wav", wave, bytes);
    expect_status(tw_process("run sums.twp --follow cut.wav"), 1);
    free(wave);
    expect_status(tw_process("run sums.twp --follow nothing.wav"), 1);
    expect_status(tw_process("run sums.twp --follow s.wav --hop 5"), 2);
    expect_status(tw_process("run sums.twp --follow s.wav --hop 0"), 2);
    expect_status(tw_process("run sums.twp --follow s.wav --profile"), 2);
    tw_write("x.raw", (float[4]){0}, 16);
    expect_status(tw_process("run sums.twp --follow x=s.wav --input x=x.raw"), 2);
    expect_status(tw_process("run sums.twp --follow s.wav --input x=x.raw"), 2);
    r = tw_process("run sums.twir --follow s.wav");
    expect_status(r, 2);
    expect_text(r.err, "write --follow NAME=FILE");
    tw_write("empty.raw", "", 0);
    r = tw_process("run sums.twp --follow empty.raw");
    expect_status(r, 0);
    assert_string_equal(r.out, "");
}

/* ---- a real one ---- */

/* The test data's folder, as every test finds it. */
static bool find_data(char *path, size_t bytes)
{
    const char *data = getenv("TILEWRIGHT_TEST_DATA"), *source = getenv("TILEWRIGHT_SOURCE");
    if (data)
        snprintf(path, bytes, "%s", data);
    else
        snprintf(path, bytes, "%s/../shared/data", source ? source : ".");
    if (access(path, R_OK) == 0)
        return true;
    print_message("SKIPPED: %s is not there; set TILEWRIGHT_TEST_DATA to the folder that has it\n",
                  path);
    return false;
}

static double loudest(const char *data, const char *sound)
{
    double most = 0, value;
    tw_result r = tw_process("run vad.twp --follow %s/audio/%s_1000ms.wav --hop 512", data, sound);
    expect_status(r, 0);
    for (const char *at = r.out; (at = strstr(at, "output: ")) != NULL; at++)
        if (sscanf(at, "output: %lf", &value) == 1 && value > most)
            most = value;
    return most;
}

/* Speech is found where there is some: a voice detector over four sounds, its state kept by the plan. */
static void test_voice(void **state)
{
    (void)state;
    char data[2048];
    if (!find_data(data, sizeof data))
        skip();
    expect_status(tw_process("compile %s/models/onnx/silero_vad_v6/model.onnx --constant sr=16000 "
                             "--input-shape input:1x576 "
                             "--input-shape state:2x1x128 --state stateN=state -o vad.twp",
                             data),
                  0);
    assert_true(loudest(data, "yes") > 0.9);
    assert_true(loudest(data, "no") > 0.9);
    assert_true(loudest(data, "silence") < 0.1);
    assert_true(loudest(data, "noise") < 0.1);
}

/* Every step of models whose state the plan keeps is what the oracle computed with the state in its hands. */
static void test_kept(void **state)
{
    static const struct {
        const char *folder, *options;
        int steps;
    } models[] = {
        {"silero_vad_v6",
         "--constant sr=16000 --input-shape input:1x576 --input-shape state:2x1x128 "
         "--state stateN=state --input input=",
         156},
        {"silero_vad_v6_16k_static", "--state stateN=state --input input=", 156},
        {"dtln_1", "--state tf_op_layer_stack_2=input_3 --input input_2=", 200},
    };
    (void)state;
    char data[2048];
    if (!find_data(data, sizeof data))
        skip();
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char path[2200];
        snprintf(path, sizeof path, "%s/models/onnx/%s", data, models[i].folder);
        expect_status(tw_process("verify %s/model.onnx --steps %d --rtol 0 --atol 1e-5 "
                                 "--expect %s/out0.bin %s%s/in0.bin",
                                 path, models[i].steps, path, models[i].options, path),
                      0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),  cmocka_unit_test(test_frames), cmocka_unit_test(test_wave),
        cmocka_unit_test(test_wrong), cmocka_unit_test(test_voice),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
