/* verify --against FOLDER and --per-node: the first tensor that differs is named, with its node and both
 * values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "expect.h"

/* Two steps that are fused into one when the network is compiled as a whole, and a third. */
static const char net[] = "graph \"net\" {\n"
                          "  input %x : f32[1,3]\n"
                          "  const %w : f32[2,3] = [1, 2, 3, -1, -2, -3]\n"
                          "  %a/b = FullyConnected \"layer one\" (%x, %w)\n"
                          "  %r = Relu (%a/b)\n"
                          "  %y = Neg \"last\" (%r)\n"
                          "  output %y\n"
                          "}\n";
/* The same with another weight: a/b differs, at [0,1] only, and r does not. */
static const char other[] = "graph \"net\" {\n"
                            "  input %x : f32[1,3]\n"
                            "  const %w : f32[2,3] = [1, 2, 3, -1, -2, -4]\n"
                            "  %a/b = FullyConnected \"layer one\" (%x, %w)\n"
                            "  %r = Relu (%a/b)\n"
                            "  %y = Neg \"last\" (%r)\n"
                            "  output %y\n"
                            "}\n";

static void write_tensors(void)
{
    static const float x[] = {1, 1, 1}, a[] = {6, -6}, r[] = {6, 0}, y[] = {-6, -0.0f};
    mkdir("tensors", 0700);
    tw_write_text("net.twir", net);
    tw_write_text("other.twir", other);
    tw_write("tensors/x.bin", x, sizeof x);
    tw_write("tensors/a_b.bin", a, sizeof a);
    tw_write("tensors/r.bin", r, sizeof r);
    tw_write("tensors/y.bin", y, sizeof y);
}

static void against_folder(void **state)
{
    (void)state;
    write_tensors();
    /* The folder has the input too. */
    expect_status(tw_process("verify net.twir --against tensors"), 0);
    tw_result r = tw_process("verify net.twir --against tensors --per-node");
    expect_status(r, 0);
    expect_text(r.out, "3 tensors compared");
    /* What is given counts before what the folder has. */
    static const float x[] = {1, 1, 2}, wrong[] = {-6, 1};
    tw_write("x2.bin", x, sizeof x);
    expect_status(tw_process("verify net.twir --against tensors --input x2.bin"), 1);
    tw_write("tensors/y.bin", wrong, sizeof wrong);
    r = tw_process("verify net.twir --against tensors");
    expect_status(r, 1);
    expect_text(r.err, "output y: 1 of 2 values differ");
    unlink("tensors/y.bin");
    r = tw_process("verify net.twir --against tensors");
    expect_status(r, 1);
    expect_text(r.err, "has a file for none of the outputs; the first one's would be y.npy");
    unlink("tensors/x.bin");
    r = tw_process("verify net.twir --against tensors");
    expect_status(r, 2);
    expect_text(r.err, "x");
}

static void first_difference(void **state)
{
    (void)state;
    static const float a[] = {6, -5.5f}, r_wrong[] = {7, 0};
    write_tensors();
    tw_write("tensors/a_b.bin", a, sizeof a);
    tw_write("tensors/r.bin", r_wrong, sizeof r_wrong);
    tw_result r = tw_process("verify net.twir --against tensors --per-node --json");
    expect_status(r, 1);
    json_t *json = parse_json(r.out);
    json_t *first = json_object_get(json, "first_difference");
    expect_keys(first, "tensor node operator index got want");
    assert_string_equal(json_string_value(json_object_get(first, "tensor")), "a/b");
    assert_string_equal(json_string_value(json_object_get(first, "node")), "layer one");
    assert_string_equal(json_string_value(json_object_get(first, "operator")), "FullyConnected");
    assert_string_equal(json_string_value(json_object_get(first, "index")), "[0,1]");
    assert_true(json_number_value(json_object_get(first, "got")) == -6);
    assert_true(json_number_value(json_object_get(first, "want")) == -5.5);
    assert_string_equal(json_string_value(json_object_get(json, "result")), "fail");
    json_decref(json);
    r = tw_process("verify net.twir --against tensors --per-node --atol 0.5");
    expect_status(r, 1);
    expect_text(
        r.err,
        "net.twir: r (Relu): tensor r is the first that differs: 1 of 2 values; at [0,0] it is 6 "
        "where 7 is expected");
}

static void against_model(void **state)
{
    (void)state;
    write_tensors();
    expect_status(tw_process("verify net.twir --against net.twir --per-node --random-bands 1"), 0);
    tw_result r =
        tw_process("verify net.twir --against other.twir --per-node --input tensors/x.bin");
    expect_status(r, 1);
    expect_text(r.err, "layer one (FullyConnected): tensor a/b is the first that differs: 1 of 2 "
                       "values; at [0,1] it is -6 where -7 is expected");
    /* The outputs alone do not show it. */
    expect_status(tw_process("verify net.twir --against other.twir --input tensors/x.bin"), 0);
    r = tw_process("verify net.twir --against counter.twir --per-node");
    expect_status(r, 1);
}

static void wrong_options(void **state)
{
    (void)state;
    write_tensors();
    expect_status(tw_process("compile net.twir -o net.twp"), 0);
    static const char *const lines[] = {
        "verify net.twir --per-node --input tensors/x.bin --expect tensors/y.bin",
        "verify net.twp --against net.twir --per-node",
        "verify net.twir --against net.twp --per-node",
        "verify net.twir --against net.twir --per-node --steps 2",
        "verify tensors --per-node",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_status(tw_process("%s", lines[i]), 2);
    mkdir("empty", 0700);
    tw_result r = tw_process("verify net.twir --against empty --per-node --input tensors/x.bin");
    expect_status(r, 1);
    expect_text(r.err, "none of the model's tensors");
    static const float short_one[] = {6};
    tw_write("tensors/a_b.bin", short_one, sizeof short_one);
    expect_status(tw_process("verify net.twir --against tensors --per-node"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_folder),
        cmocka_unit_test(first_difference),
        cmocka_unit_test(against_model),
        cmocka_unit_test(wrong_options),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
