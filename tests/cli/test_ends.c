/* What the command line says about a model's ends: state that the plan keeps, inputs that never change. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* Two states, each made from both, and a delay; y reads them before they change. */
static const char cell[] = "graph \"cell\" {\n"
                           "  input %x : f32[1,4]\n"
                           "  input %h_in : f32[1,4]\n"
                           "  input %c_in : f32[1,4]\n"
                           "  input %last_in : f32[1,4]\n"
                           "  input %gain : f32[1]\n"
                           "  %sum = Add (%x, %h_in)\n"
                           "  %h_out = Tanh (%sum)\n"
                           "  %mixed = Mul (%c_in, %h_in)\n"
                           "  %c_out = Add (%mixed, %x)\n"
                           "  %old = Add (%last_in, %c_in)\n"
                           "  %y = Mul (%old, %gain)\n"
                           "  %last_out = Relu (%x)\n"
                           "  output %y\n  output %h_out\n  output %c_out\n  output %last_out\n}\n";

static void write_cell(void)
{
    float x[4 * 6], gain[1] = {1.5f};
    for (int i = 0; i < 4 * 6; i++)
        x[i] = 0.25f * (float)(i % 7) - 0.6f;
    tw_write_text("cell.twir", cell);
    tw_write("x.bin", x, sizeof x);
    tw_write("gain.bin", gain, sizeof gain);
}

#define RUN "run cell.twir --steps 6 --input x=x.bin --input gain=gain.bin --output y="
#define FEED " --feed h_out=h_in --feed c_out=c_in --feed last_out=last_in"
#define STATE " --state h_out=h_in --state c_out=c_in --state last_out=last_in"

static void test_state_is_feedback(void **state)
{
    (void)state;
    write_cell();
    expect_status(tw_process(RUN "fed.bin" FEED), 0);
    expect_status(tw_process(RUN "kept.bin" STATE), 0);
    expect_same_files("fed.bin", "kept.bin");
    expect_status(tw_process("compile cell.twir -o cell.twp" STATE), 0);
    expect_status(tw_process("run cell.twp --steps 6 --input x=x.bin --input gain=gain.bin "
                             "--output y=planned.bin"),
                  0);
    expect_same_files("fed.bin", "planned.bin");
    tw_result r = tw_process("analyze cell.twir --json" STATE);
    expect_status(r, 0);
    json_t *json = parse_json(r.out);
    assert_int_equal(json_array_size(json_object_get(json, "inputs")), 2);
    assert_int_equal(json_array_size(json_object_get(json, "outputs")), 1);
    assert_true(json_integer_value(json_object_get(json_object_get(json, "memory"), "state")) >=
                48);
    assert_null(json_object_get(json, "state_candidates"));
    json_decref(json);
}

static void test_state_file(void **state)
{
    (void)state;
    write_cell();
    expect_status(tw_process(RUN "fed.bin" FEED), 0);
    tw_write_text("cell.twir.state.json",
                  "{\"state\": [{\"output\": \"h_out\", \"input\": \"h_in\"},\n"
                  "           {\"output\": \"c_out\", \"input\": \"c_in\"}]}\n");
    expect_status(tw_process(RUN "kept.bin --state last_out=last_in --state h_out=h_in"), 0);
    expect_same_files("fed.bin", "kept.bin");
    static const char *const wrong[] = {"",
                                        "{",
                                        "[]",
                                        "{\"state\": 1}",
                                        "{\"state\": [1]}",
                                        "{\"state\": [{\"output\": \"h_out\"}]}",
                                        "{\"state\": [{\"output\": \"h_out\", \"input\": 3}]}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tw_write_text("cell.twir.state.json", wrong[i]);
        tw_result r = tw_process("compile cell.twir -o wrong.twp");
        expect_status(r, 1);
        expect_text(r.err, "cell.twir.state.json");
    }
    assert_int_equal(remove("cell.twir.state.json"), 0);
    assert_null(tw_read("wrong.twp", &(size_t){0}));
}

static void test_candidates(void **state)
{
    (void)state;
    write_cell();
    tw_result r = tw_process("analyze cell.twir");
    expect_status(r, 0);
    expect_text(r.out, "--state h_out=h_in\n");
    expect_text(r.out, "--state last_out=last_in\n");
    r = tw_process("analyze cell.twir --json");
    json_t *json = parse_json(r.out);
    assert_int_equal(json_array_size(json_object_get(json, "state_candidates")), 3);
    json_decref(json);
}

static void expect_usage(const char *command, const char *part)
{
    tw_result r = tw_process("%s", command);
    expect_status(r, 2);
    expect_text(r.err, part);
}

static void test_refused(void **state)
{
    (void)state;
    write_cell();
    expect_usage("compile cell.twir -o c.twp --state h_out", "write OUT=IN");
    expect_usage("compile cell.twir -o c.twp --state h=h_in", "y, h_out, c_out, last_out");
    expect_usage("compile cell.twir -o c.twp --state h_out=h", "x, h_in, c_in, last_in, gain");
    expect_usage("compile cell.twir -o c.twp --state h_out=gain", "f32[1,4]");
    expect_usage("compile cell.twir -o c.twp --state h_out=h_in --state c_out=h_in",
                 "bound already");
    expect_usage("compile cell.twir -o c.twp --state y=x" STATE, "nothing is left to be read");
    expect_usage("compile cell.twir -o c.twp --constant gain", "write NAME=VALUE");
    expect_usage("compile cell.twir -o c.twp --constant gian=1", "'gian'");
    expect_usage("compile cell.twir -o c.twp --constant gain=loud", "neither a number");
    expect_usage("compile cell.twir -o c.twp --constant gain=x.bin", "gain");
    assert_null(tw_read("c.twp", &(size_t){0}));
    expect_status(tw_process("compile cell.twir -o cell.twp"), 0);
    expect_usage("run cell.twp --state h_out=h_in", "is a plan already");
    expect_usage("run cell.twp --constant gain=1", "is a plan already");
}

static void test_constant(void **state)
{
    (void)state;
    write_cell();
    static const char *const values[] = {"1.5", "0x1.8p0", "gain.bin"};
    expect_status(tw_process(RUN "fed.bin" FEED), 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        expect_status(tw_process("run cell.twir --steps 6 --input x.bin --output y=fixed.bin "
                                 "--constant gain=%s" STATE,
                                 values[i]),
                      0);
        expect_same_files("fed.bin", "fixed.bin");
    }
}

/* What moves from an output to an input of another scale is the value, not the byte. */
static void test_scales(void **state)
{
    (void)state;
    static const int8_t x[4 * 2] = {10, 20, 30, -40, 0, 0, 0, 0};
    size_t bytes;
    tw_write_text("scaled.twir", "graph \"scaled\" {\n"
                                 "  input %x : s8[1,4] quant(scale=0.5, zero=0)\n"
                                 "  input %s_in : s8[1,4] quant(scale=0.25, zero=3)\n"
                                 "  %s_out : s8[1,4] quant(scale=0.5, zero=0) = Relu (%x)\n"
                                 "  %y = Copy (%s_in)\n"
                                 "  output %y\n  output %s_out\n}\n");
    tw_write("s.bin", x, sizeof x);
    expect_status(tw_process("run scaled.twir --steps 2 --input s.bin --output y=y.bin "
                             "--state s_out=s_in"),
                  0);
    char *y = tw_read("y.bin", &bytes);
    static const char want[8] = {0, 0, 0, 0, 23, 43, 63, 3};
    assert_int_equal(bytes, sizeof want);
    assert_memory_equal(y, want, sizeof want);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_is_feedback), cmocka_unit_test(test_state_file),
        cmocka_unit_test(test_candidates),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_constant),          cmocka_unit_test(test_scales),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
