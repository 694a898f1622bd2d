/* What each command does: budgets, reports, runs, verdicts. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"

/* ---- budgets ---- */

static json_int_t number_at(const json_t *json, const char *object, const char *key)
{
    const json_t *inner = *object ? json_object_get(json, object) : json;
    const json_t *number = json_object_get(inner, key);
    if (!json_is_integer(number))
        fail_msg("%s.%s is no number", object, key);
    return json_integer_value(number);
}

static void test_budget(void **state)
{
    (void)state;
    char names[32];
    tw_result r = tw_process("analyze tiny.twir --json");
    expect_status(r, 0);
    json_t *json = parse_json(r.out);
    long long least = number_at(json, "", "smallest_budget");
    assert_true(least > 0);
    json_decref(json);

    unlink("b.twp");
    r = tw_process("compile tiny.twir -m %lld -o b.twp", least - 1);
    expect_status(r, 1);
    assert_int_equal(access("b.twp", F_OK), -1);
    snprintf(names, sizeof names, "%lld", least);
    expect_text(r.err, names);
    expect_pattern(r.err, "\\((Conv|Sigmoid|ReduceMean)\\): .*[0-9]+ bytes");

    r = tw_process("analyze tiny.twir -m %lld --json", least - 1);
    expect_status(r, 1);
    json = parse_json(r.out);
    assert_true(json_is_false(json_object_get(json, "fits")));
    assert_true(number_at(json, "", "smallest_budget") == least);
    assert_non_null(json_object_get(json, "error"));
    json_decref(json);

    r = tw_process("compile tiny.twir -m %lld -o b.twp --json", least);
    expect_status(r, 0);
    json = parse_json(r.out);
    assert_true(json_is_true(json_object_get(json, "fits")));
    assert_true(number_at(json, "memory", "total") <= least);
    json_decref(json);
    assert_int_equal(access("b.twp", F_OK), 0);
}

/* ---- reports ---- */

static void test_analyze(void **state)
{
    (void)state;
    tw_result r = tw_process("analyze tiny.twir --json");
    expect_status(r, 0);
    json_t *json = parse_json(r.out);
    expect_keys(json, "fits memory flash layerwise bound macs macs_recomputed segments slow "
                      "smallest_budget transposes boundary_transposes");
    expect_keys(json_object_get(json, "memory"), "total activations scratch state context stack");
    /* Not known before a compiler has seen the firmware; not 0 at any rate. */
    assert_true(json_is_null(json_object_get(json_object_get(json, "memory"), "stack")));
    expect_keys(json_object_get(json, "flash"), "weights plan total");
    expect_keys(json_object_get(json, "slow"), "bytes traffic_read traffic_written");
    expect_keys(json_array_get(json_object_get(json, "segments"), 0),
                "operators kind band_rows bytes");
    assert_true(number_at(json, "", "macs") == 8 * 8 * 4 * 27);
    assert_true(number_at(json, "memory", "total") ==
                number_at(json, "memory", "activations") + number_at(json, "memory", "scratch") +
                    number_at(json, "memory", "state") + number_at(json, "memory", "context"));
    assert_true(number_at(json, "", "bound") <= number_at(json, "memory", "total"));
    json_decref(json);
    r = tw_process("analyze tiny.twir");
    expect_status(r, 0);
    expect_text(r.out, "memory over time");
    expect_text(r.out, "conv1");
    for (const char *c = r.out; *c; c++)
        assert_true((unsigned char)*c < 127); /* plain where it is not a terminal */
}

/* Budgets ascend while costs fall to 1; the smallest is the smallest that works. */
static void test_pareto(void **state)
{
    (void)state;
    tw_result r = tw_process("analyze tiny.twir --pareto --json");
    expect_status(r, 0);
    json_t *report = parse_json(r.out);
    json_t *points = json_object_get(report, "pareto");
    size_t count = json_array_size(points);
    assert_true(count > 0);
    for (size_t i = 1; i < count; i++) {
        json_t *before = json_array_get(points, i - 1), *point = json_array_get(points, i);
        assert_true(json_integer_value(json_object_get(before, "budget")) <
                    json_integer_value(json_object_get(point, "budget")));
        assert_true(json_real_value(json_object_get(before, "cost")) >
                    json_real_value(json_object_get(point, "cost")));
    }
    assert_true(json_real_value(json_object_get(json_array_get(points, count - 1), "cost")) == 1);
    json_decref(report);
    r = tw_process("analyze tiny.twir --pareto");
    expect_text(r.out, "estimated cost of a run");
    expect_text(r.out, "fullest at step");
}

static void test_trace(void **state)
{
    (void)state;
    tw_result r = tw_process("analyze tiny.twir --trace --prefer memory");
    expect_status(r, 0);
    expect_text(r.out, "every row once, in order, in bands as planned");
    r = tw_process("analyze tiny.twir --trace --json");
    expect_status(r, 0);
    json_t *report = parse_json(r.out);
    expect_keys(json_object_get(report, "trace"), "firings moved");
    json_decref(report);
}

static void test_inspect(void **state)
{
    (void)state;
    tw_result r = tw_process("inspect tiny.twir --json");
    expect_status(r, 0);
    json_t *json = parse_json(r.out);
    expect_keys(json, "kind format model inputs outputs nodes parameters macs operators");
    json_decref(json);
    expect_status(tw_process("compile tiny.twir -o a.twp"), 0);
    r = tw_process("inspect a.twp --json");
    expect_status(r, 0);
    json = parse_json(r.out);
    expect_keys(json, "kind format model source_sha256 bytes memory inputs outputs steps");
    json_decref(json);
    r = tw_process("inspect a.twp");
    expect_status(r, 0);
    expect_text(r.out, "conv1");
    expect_status(tw_process("inspect a.twp --ir"), 2);
}

/* The printed graph compiles to a plan that computes the same bytes. */
static void test_ir(void **state)
{
    (void)state;
    size_t bytes;
    tw_result r = tw_process("inspect tiny.twir --ir");
    expect_status(r, 0);
    tw_write_text("piped.twir", r.out);
    expect_status(tw_process("inspect tiny.twir --ir -o printed.twir"), 0);
    char *side = tw_read("tiny.w.npy", &bytes);
    assert_non_null(side);
    free(side);
    expect_status(tw_process("run tiny.twir --input x.bin --output a.bin"), 0);
    expect_status(tw_process("run printed.twir --input x.bin --output b.bin"), 0);
    expect_status(tw_process("run piped.twir --input x.bin --output c.bin"), 0);
    expect_same_files("a.bin", "b.bin");
    expect_same_files("a.bin", "c.bin");
    r = tw_process("compile tiny.twir --dump list");
    expect_status(r, 0);
    expect_text(r.out, "import\n");
    r = tw_process("compile tiny.twir --dump import");
    expect_status(r, 0);
    expect_text(r.out, "graph \"tiny\" {\n");
}

static void test_ops(void **state)
{
    (void)state;
    static const char *const systems[] = {"ir", "onnx", "tflite", "pytorch", "keras", "tensorflow"};
    static const char *const named[] = {"Conv",         "Conv",   "CONV_2D",
                                        "aten::conv2d", "Conv2D", "Conv2D"};
    for (int i = 0; i < 6; i++) {
        size_t k;
        json_t *row;
        tw_result r = tw_process("ops --system %s --json", systems[i]);
        expect_status(r, 0);
        json_t *json = parse_json(r.out);
        assert_true(json_is_array(json) && json_array_size(json) > 20);
        json_array_foreach(json, k, row)
        {
            expect_keys(row, "name system becomes types bands backends fallback limits tests");
            assert_string_equal(json_string_value(json_object_get(row, "system")), systems[i]);
            assert_true(json_is_array(json_object_get(row, "becomes")));
        }
        json_decref(json);
        r = tw_process("ops --system %s", systems[i]);
        expect_status(r, 0);
        expect_text(r.out, named[i]);
    }
    tw_result r = tw_process("ops --md");
    expect_status(r, 0);
    expect_text(r.out, "# Operators\n");
    expect_text(r.out, "\n## ONNX\n");
    expect_text(r.out, "\n## TensorFlow Lite\n");
    expect_text(r.out, "\n## PyTorch\n");
    expect_text(r.out, "\n## Keras\n");
    expect_text(r.out, "\n## TensorFlow\n");
}

/* ---- running ---- */

static void test_run(void **state)
{
    (void)state;
    size_t bytes;
    expect_status(tw_process("compile tiny.twir -o a.twp"), 0);
    tw_result r = tw_process("run a.twp --input x.bin --output z.bin --json --profile");
    expect_status(r, 0);
    json_t *json = parse_json(r.out);
    expect_keys(json, "outputs memory time_us status profile");
    json_t *output = json_array_get(json_object_get(json, "outputs"), 0);
    expect_keys(output, "name dtype shape");
    assert_string_equal(json_string_value(json_object_get(output, "dtype")), "f32");
    json_decref(json);
    char *z = tw_read("z.bin", &bytes);
    assert_int_equal(bytes, 4 * sizeof(float));
    free(z);
    expect_status(tw_process("run tiny.twir --input x=x.bin --output z=z2.bin"), 0);
    expect_same_files("z.bin", "z2.bin");
    expect_status(tw_process("compile tiny.twir --strip -o s.twp"), 0);
    expect_status(tw_process("run s.twp --input x.bin --output z3.bin"), 0);
    expect_same_files("z.bin", "z3.bin");
    char *plan = tw_read("s.twp", &bytes);
    for (size_t i = 0; i + 5 < bytes; i++)
        assert_true(memcmp(plan + i, "conv1", 5) != 0);
    free(plan);
    expect_status(tw_process("run a.twp --input x.bin --output z.npy"), 0);
    expect_status(tw_process("verify a.twp --input x.bin --expect z.npy --rtol 0 --atol 0"), 0);
}

static void test_wrong_inputs(void **state)
{
    (void)state;
    float few[3] = {1, 2, 3};
    tw_write("few.bin", few, sizeof few);
    tw_result r = tw_process("run tiny.twir --input few.bin");
    expect_status(r, 1);
    expect_text(r.err, "f32[1,8,8,3]");
    expect_status(tw_process("run tiny.twir --input x.bin --output z.npy"), 0);
    r = tw_process("run tiny.twir --input z.npy");
    expect_status(r, 1);
    expect_text(r.err, "the file holds f32[1,1,1,4] where f32[1,8,8,3] is needed");
}

static void test_steps(void **state)
{
    (void)state;
    size_t bytes;
    float x[6] = {0, 1, -1, 2, 3, -3}, s[2] = {-5, 7};
    tw_write("steps.bin", x, sizeof x);
    tw_write("s.bin", s, sizeof s);
    expect_status(tw_process("run counter.twir --steps 3 --input x=steps.bin --input s=s.bin "
                             "--feed n=s --output y=y.bin --output n=n.bin"),
                  0);
    char *n = tw_read("n.bin", &bytes);
    static const float want[6] = {0, 7, 0, 7, 0, 7};
    assert_int_equal(bytes, sizeof want);
    assert_memory_equal(n, want, sizeof want);
    free(n);
    char *y = tw_read("y.bin", &bytes);
    assert_int_equal(bytes, sizeof x);
    assert_true(((float *)(void *)y)[0] == 0.5f);
    free(y);
    tw_result r = tw_process("run counter.twir --steps 2 --input x=steps.bin --input s=s.bin");
    expect_status(r, 1);
    expect_text(r.err, "3 tensors");
    expect_status(tw_process("run counter.twir --steps 3 --input x=steps.bin --feed n=s "
                             "--output y=y.npy"),
                  0);
    expect_status(tw_process("verify counter.twir --steps 3 --input x=steps.bin --feed n=s "
                             "--expect y=y.npy"),
                  0);
}

static void test_bench(void **state)
{
    (void)state;
    tw_result r = tw_process("bench tiny.twir --steps 5 --json");
    expect_status(r, 0);
    json_t *json = parse_json(r.out);
    expect_keys(json, "runs time_us least_us most_us work memory steps");
    assert_true(number_at(json, "", "runs") == 5);
    const json_t *steps = json_object_get(json, "steps");
    json_int_t work = 0;
    assert_true(json_array_size(steps) > 1);
    for (size_t i = 0; i < json_array_size(steps); i++) {
        work += number_at(json_array_get(steps, i), "", "work");
        assert_true(number_at(json_array_get(steps, i), "", "firings") > 0);
    }
    assert_true(number_at(json, "", "work") == work);
    json_decref(json);
    expect_status(tw_process("compile tiny.twir -o t.twp"), 0);
    r = tw_process("bench t.twp --input x.bin --steps 1");
    expect_status(r, 0);
    expect_text(r.out, "us a run (median of 1;");
    expect_status(tw_process("bench t.twp --steps 0"), 2);
    expect_status(tw_process("bench nothing.twp"), 1);
}

/* ---- verifying ---- */

static void test_verify(void **state)
{
    (void)state;
    size_t bytes;
    expect_status(tw_process("run tiny.twir --input x.bin --output z.bin"), 0);
    tw_result r = tw_process("verify tiny.twir --input x.bin --expect z.bin --json");
    expect_status(r, 0);
    json_t *json = parse_json(r.out);
    expect_keys(json, "result outputs message");
    assert_string_equal(json_string_value(json_object_get(json, "result")), "pass");
    expect_keys(json_array_get(json_object_get(json, "outputs"), 0),
                "name max_abs max_rel max_ulp differing");
    json_decref(json);

    char *z = tw_read("z.bin", &bytes);
    ((float *)(void *)z)[2] += 0.25f;
    tw_write("wrong.bin", z, bytes);
    free(z);
    r = tw_process("verify tiny.twir --input x.bin --expect wrong.bin --json");
    expect_status(r, 1);
    json = parse_json(r.out);
    assert_string_equal(json_string_value(json_object_get(json, "result")), "fail");
    expect_text(json_string_value(json_object_get(json, "message")), "1 of 4 values differ");
    expect_text(json_string_value(json_object_get(json, "message")), "[0,0,0,2]");
    json_decref(json);
    expect_status(tw_process("verify tiny.twir --input x.bin --expect wrong.bin --atol 0.3"), 0);
    expect_status(tw_process("verify tiny.twir --random-bands 5 --against tiny.twir --rtol 0 "
                             "--atol 0"),
                  0);
    expect_status(tw_process("verify tiny.twir --against counter.twir"), 1);
    tw_write_text("none.twir",
                  "graph \"g\" {\n  input %x : f32[1]\n  %y = Foo(%x)\n  output %y\n}");
    expect_status(tw_process("verify none.twir --against tiny.twir"), 3);
}

/* Runs before the first result have nothing to compare. */
static void test_verify_silent(void **state)
{
    (void)state;
    float x[6], y[6] = {0};
    for (int i = 0; i < 6; i++) {
        x[i] = (float)(i * i);
        y[i] = i < 3 ? 99.0f : x[i] + x[i - 1] + x[i - 2] + x[i - 3]; /* whatever, first */
    }
    tw_write_text("clip.twir", "graph \"clip\" {\n  input %x : f32[1,4,1]\n"
                               "  %y = ReduceSum (%x) {axes=[1]}\n  output %y\n}\n");
    tw_write("silent.bin", x, sizeof x);
    tw_write("heard.bin", y, sizeof y);
    tw_result r = tw_process("verify clip.twir --stream 1 --steps 6 --input silent.bin --expect "
                             "heard.bin --json");
    expect_status(r, 0);
    expect_text(r.out, "\"silent\": 3");
    y[5] += 1;
    tw_write("heard.bin", y, sizeof y);
    r = tw_process("verify clip.twir --stream 1 --steps 6 --input silent.bin --expect heard.bin");
    expect_status(r, 1);
    expect_text(r.out, "3 of 6 runs yield nothing yet");
    expect_text(r.err, "1 of 6 values differ beyond the tolerance; the first, at step 5");
    tw_write("silent.bin", x, 2 * sizeof *x);
    tw_write("heard.bin", y, 2 * sizeof *y);
    r = tw_process("verify clip.twir --stream 1 --steps 2 --input silent.bin --expect heard.bin");
    expect_status(r, 1);
    expect_text(r.err, "nothing is compared");
    /* Two plans that are silent in different runs are not alike. */
    tw_write_text("long.twir", "graph \"clip\" {\n  input %x : f32[1,5,1]\n"
                               "  %y = ReduceSum (%x) {axes=[1]}\n  output %y\n}\n");
    expect_status(tw_process("compile long.twir --stream 1 -o long.twp"), 0);
    expect_status(tw_process("compile clip.twir --stream 1 -o clip.twp"), 0);
    r = tw_process("verify clip.twp --steps 6 --against long.twp");
    expect_status(r, 1);
    expect_text(r.err, "yields nothing in run 3");
}

static void test_verify_folder(void **state)
{
    (void)state;
    static const char table[] = "# expected outputs: this program, a moment ago\n"
                                "role\tname\tdtype\tshape\tsteps\tfile\n"
                                "in\tx\tfloat32\t2\t3\tsteps.bin\n"
                                "state\tn>s\tfloat32\t2\tzero at step 0\tfinal.bin\n"
                                "out\ty\tfloat32\t2\t3\ty.bin\n";
    float x[6] = {0, 1, -1, 2, 3, -3}, final[2] = {0, 0};
    assert_int_equal(mkdir("case", 0700), 0);
    tw_write("case/steps.bin", x, sizeof x);
    tw_write("case/final.bin", final, sizeof final);
    tw_write_text("case/io.tsv", table);
    tw_write_text("case/model.twir", counter);
    expect_status(tw_process("run counter.twir --steps 3 --input x=case/steps.bin --feed n=s "
                             "--output y=case/y.bin"),
                  0);
    expect_status(tw_process("verify case"), 0);
    final[1] = 1;
    tw_write("case/final.bin", final, sizeof final);
    tw_result r = tw_process("verify case");
    expect_status(r, 1);
    expect_text(r.err, "output n");
    /* Rows of rank 0, and rows that leave the shape to the model. */
    tw_write_text("case/model.twir", "graph \"g\" {\n  input  %x : f32[]\n"
                                     "  %y : f32[] = Relu (%x)\n  output %y\n}\n");
    tw_write("case/steps.bin", x, 3 * sizeof *x);
    tw_write("case/y.bin", (float[]){0, 1, 0}, 3 * sizeof *x);
    tw_write_text("case/io.tsv", "role\tname\tdtype\tshape\tsteps\tfile\n"
                                 "in\tx\tfloat32\tscalar\t3\tsteps.bin\n"
                                 "out\ty\tfloat32\t\t3\ty.bin\n");
    expect_status(tw_process("verify case"), 0);
    tw_write("case/y.bin", (float[]){0, 1, 1}, 3 * sizeof *x);
    expect_status(tw_process("verify case"), 1);
    tw_write("case/y.bin", (float[]){0, 1}, 2 * sizeof *x);
    r = tw_process("verify case");
    expect_status(r, 1);
    expect_text(r.err, "does not divide into its steps");
    unlink("case/final.bin");
    tw_write_text("case/io.tsv", table);
    expect_status(tw_process("verify case"), 1);
    unlink("case/io.tsv");
    r = tw_process("verify case");
    expect_status(r, 1);
    expect_text(r.err, "neither test_data_set_0/ nor io.tsv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget),        cmocka_unit_test(test_analyze),
        cmocka_unit_test(test_pareto),        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_inspect),       cmocka_unit_test(test_ir),
        cmocka_unit_test(test_ops),           cmocka_unit_test(test_run),
        cmocka_unit_test(test_wrong_inputs),  cmocka_unit_test(test_steps),
        cmocka_unit_test(test_bench),         cmocka_unit_test(test_verify),
        cmocka_unit_test(test_verify_silent), cmocka_unit_test(test_verify_folder),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
