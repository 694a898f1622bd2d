/* The command line: help, exit statuses, messages, JSON, files, and each command's work. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"

static const char tiny[] = "graph \"tiny\" {\n"
                           "  input  %x : f32[1,8,8,3]\n"
                           "  const  %w : f32[4,3,3,3] = random 7 -0.5 0.5\n"
                           "  const  %b : f32[4] = [0, 0.25, -1, 0x1.8p-3]\n"
                           "  %y = Conv \"conv1\" (%x, %w, %b) {pad_begin=[1,1], pad_end=[1,1]} "
                           "clamp(0, 6)\n"
                           "  %t = Sigmoid(%y)\n"
                           "  %z = ReduceMean (%t) {axes=[1,2]}\n"
                           "  output %z\n"
                           "}\n";

/* An accumulator kept outside: s' = relu(s) given back as the next step's s. */
static const char counter[] = "graph \"counter\" {\n"
                              "  input %x : f32[2]\n"
                              "  input %s : f32[2]\n"
                              "  %n = Relu(%s)\n"
                              "  %y = Sigmoid(%x)\n"
                              "  output %y\n"
                              "  output %n\n"
                              "}\n";

static const char *const commands[] = {"inspect", "analyze", "compile", "run", "verify", "ops"};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* ---- helpers ---- */

static void expect_status(tw_result r, int status)
{
    if (r.status != status)
        fail_msg("exit status %d where %d was expected\n%s\n%s", r.status, status, r.out, r.err);
}

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is missing from:\n%s", part, text);
}

static void expect_pattern(const char *text, const char *pattern)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    int found = regexec(&regex, text, 0, NULL, 0);
    regfree(&regex);
    if (found != 0)
        fail_msg("%s does not match:\n%s", pattern, text);
}

static json_t *parse_json(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);
    if (!json)
        fail_msg("not JSON: line %d: %s\n%s", error.line, error.text, text);
    return json;
}

static void expect_keys(const json_t *object, const char *keys)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", keys);
    for (char *key = strtok(copy, " "); key; key = strtok(NULL, " "))
        if (!json_object_get(object, key))
            fail_msg("the key %s is missing", key);
}

static void expect_same_files(const char *a, const char *b)
{
    size_t m, n;
    char *left = tw_read(a, &m), *right = tw_read(b, &n);
    assert_non_null(left);
    assert_non_null(right);
    assert_int_equal(m, n);
    assert_memory_equal(left, right, m);
    free(left);
    free(right);
}

static int set_up(void **state)
{
    float x[8 * 8 * 3];
    (void)state;
    tw_enter_folder();
    for (int i = 0; i < 8 * 8 * 3; i++)
        x[i] = (float)(i % 17) / 8.0f - 1;
    tw_write_text("tiny.twir", tiny);
    tw_write_text("counter.twir", counter);
    tw_write("x.bin", x, sizeof x);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tw_leave_folder();
    return 0;
}

/* ---- help and usage ---- */

static void test_help(void **state)
{
    (void)state;
    tw_result r = tw_process("--help");
    expect_status(r, 0);
    expect_text(r.out, "examples:\n");
    assert_string_equal(r.err, "");
    for (int i = 0; i < COMMANDS; i++) {
        char usage[64];
        r = tw_process("--help");
        snprintf(usage, sizeof usage, "\n  %s ", commands[i]);
        expect_text(r.out, usage);
        r = tw_process("%s --help", commands[i]);
        expect_status(r, 0);
        snprintf(usage, sizeof usage, "usage: tilewright %s ", commands[i]);
        assert_true(strncmp(r.out, usage, strlen(usage)) == 0);
        expect_text(r.out, "options:\n");
        snprintf(usage, sizeof usage, "\n  tilewright %s", commands[i]);
        expect_text(strstr(r.out, "examples:"), usage);
        expect_status(tw_process("%s -h", commands[i]), 0);
        expect_status(tw_process("help %s", commands[i]), 0);
    }
    r = tw_process("--version");
    expect_status(r, 0);
    expect_pattern(r.out, "^tilewright [0-9]+\\.[0-9]+\\.[0-9]+\n$");
}

static const char *const misuses[][2] = {
    {"", "usage: tilewright COMMAND"},
    {"complie a.onnx", "unknown command complie; did you mean compile?"},
    {"nonsense", "unknown command nonsense"},
    {"compile tiny.twir", "-o PLAN"},
    {"compile -o x.twp", "a file is missing"},
    {"compile tiny.twir extra -o x.twp", "extra is one file too many"},
    {"compile tiny.twir --strp -o x.twp", "did you mean --strip?"},
    {"compile tiny.twir -o", "-o needs a value: FILE"},
    {"compile tiny.twir -o x.twp --strip=yes", "--strip takes no value"},
    {"compile tiny.twir -o x.twp -m 12Q", "256K+4M"},
    {"compile tiny.twir -o x.twp --prefer size", "balanced|memory|speed"},
    {"compile tiny.twir -o x.twp --backend abc", "abc"},
    {"compile tiny.twir -o x.twp --input-shape x:1xx2", "NAME:1x3x224x224"},
    {"compile tiny.twir -o x.twp --input-shape x:1x2x3x4x5x6x7", "at most 6"},
    {"compile tiny.twir --dump nowhere", "no stage is called nowhere"},
    {"compile tiny.twir --random-bands 0 -o x.twp", "from 1"},
    {"inspect tiny.twir --ir --json", "exclude each other"},
    {"inspect tiny.twir -o a.twir", "-o goes with --ir"},
    {"run tiny.twir", "input x has no data"},
    {"run tiny.twir --input x.bin --input x.bin", "no input left"},
    {"run tiny.twir --input x=x.bin --input x=x.bin", "given twice"},
    {"run tiny.twir --input x.bin --output y=y.bin --output q.bin", "no output left"},
    {"run tiny.twir --input x.bin --output z.pb", "written as .npy or .bin"},
    {"run tiny.twir --input x.bin --steps 0", "from 1"},
    {"run tiny.twir --input x.bin --feed z=x", "differ in type or shape"},
    {"run tiny.twir --input x.bin --feed nothing", "write OUT=IN"},
    {"verify tiny.twir --input x.bin", "--expect"},
    {"verify . --input x.bin", "brings its own"},
    {"verify tiny.twir --expect x.bin --rtol -1", "a number from 0 up"},
    {"ops --system basic", "ir|onnx|tflite"},
};

static void test_usage(void **state)
{
    (void)state;
    int files = tw_count_files(".");
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
        tw_result r = tw_process("%s", misuses[i][0]);
        expect_status(r, 2);
        expect_text(r.err, misuses[i][1]);
        if (!strstr(misuses[i][0], "--json"))
            assert_string_equal(r.out, "");
    }
    assert_int_equal(tw_count_files("."), files);
}

/* ---- errors ---- */

static void expect_error_json(const char *text, int code, const char *message)
{
    json_t *json = parse_json(text), *error = json_object_get(json, "error");
    assert_non_null(error);
    expect_keys(error, "code message file node operator");
    assert_int_equal(json_integer_value(json_object_get(error, "code")), code);
    expect_text(json_string_value(json_object_get(error, "message")), message);
    json_decref(json);
}

static void test_messages(void **state)
{
    (void)state;
    tw_write_text("group.twir", "graph \"g\" {\n"
                                "  input %x : f32[1,4,4,4]\n"
                                "  const %w : f32[6,1,1,1] = random 1 0 1\n"
                                "  %y = Conv \"first\" (%x, %w) {group=3}\n"
                                "  output %y\n}\n");
    tw_write_text("none.twir",
                  "graph \"g\" {\n  input %x : f32[1]\n  %y = Foo(%x)\n  output %y\n}");
    tw_result r = tw_process("compile group.twir -o g.twp");
    expect_status(r, 1);
    expect_pattern(r.err, "^tilewright: group\\.twir:4:8: first \\(Conv\\): .*group 3.*\n$");
    r = tw_process("compile group.twir -o g.twp --json");
    expect_status(r, 1);
    expect_error_json(r.out, 1, "group 3");
    expect_text(r.err, "first (Conv)");
    r = tw_process("compile none.twir -o g.twp --json");
    expect_status(r, 3);
    expect_error_json(r.out, 3, "Foo is not an operator");
    r = tw_process("inspect --json");
    expect_status(r, 2);
    expect_error_json(r.out, 2, "a file is missing");
    r = tw_process("inspect missing.onnx --json");
    expect_status(r, 1);
    expect_error_json(r.out, 1, "missing.onnx");
}

/* Files that are no models or plans: refused with a message, and nothing is written. */
static void test_bad_files(void **state)
{
    (void)state;
    static const char *const names[] = {"empty", "noise", "text", "short.twp", "folder", "missing"};
    static const char *const uses[] = {"inspect %s", "analyze %s", "compile %s -o out.twp",
                                       "run %s --input x.bin", "verify %s --expect x.bin"};
    size_t bytes;
    uint8_t noise[5000];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)(i * i * 31 + i * 7 + (i >> 5));
    expect_status(tw_process("compile tiny.twir -o good.twp"), 0);
    char *plan = tw_read("good.twp", &bytes);
    tw_write("empty", "", 0);
    tw_write("noise", noise, sizeof noise);
    tw_write_text("text", "This is not a model.\n");
    tw_write("short.twp", plan, bytes - 1);
    assert_int_equal(mkdir("folder", 0700), 0);
    free(plan);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
            char command[100];
            if (strcmp(names[i], "short.twp") == 0 && (k == 1 || k == 2))
                continue; /* compiling a plan is a mistake of another kind */
            snprintf(command, sizeof command, uses[k], names[i]);
            tw_result r = tw_process("%s", command);
            if (strcmp(names[i], "folder") == 0 && k == 4) {
                expect_status(r, 2); /* a test folder brings its own files */
                continue;
            }
            if (r.status != 1 && r.status != 3)
                fail_msg("%s: exit status %d\n%s", command, r.status, r.err);
            expect_pattern(r.err, "^tilewright: .{10,}");
        }
    assert_int_equal(access("out.twp", F_OK), -1);
}

static void test_damaged_plan(void **state)
{
    (void)state;
    size_t bytes;
    expect_status(tw_process("compile tiny.twir -o good.twp"), 0);
    char *plan = tw_read("good.twp", &bytes);
    for (size_t at = 0; at < bytes; at += bytes / 23 + 1) {
        plan[at] ^= 1;
        tw_write("bad.twp", plan, bytes);
        tw_result r = tw_process("run bad.twp --input x.bin");
        if (r.status != 1 && r.status != 3)
            fail_msg("byte %zu changed: exit status %d", at, r.status);
        plan[at] ^= 1;
    }
    free(plan);
}

/* ---- files ---- */

static void test_unwritable(void **state)
{
    (void)state;
    int files = tw_count_files(".");
    tw_result r = tw_process("compile tiny.twir -o nowhere/x.twp");
    expect_status(r, 1);
    expect_text(r.err, "cannot write nowhere/x.twp");
    assert_int_equal(mkdir("locked", 0500), 0);
    r = tw_process("compile tiny.twir -o locked");
    expect_status(r, 1);
    expect_text(r.err, "cannot write locked");
    r = tw_process("run tiny.twir --input x.bin --output nowhere/z.npy");
    expect_status(r, 1);
    expect_text(r.err, "cannot write nowhere/z.npy");
    if (access("/dev/full", W_OK) == 0) {
        r = tw_process("compile tiny.twir -o /dev/full");
        expect_status(r, 1);
        expect_text(r.err, "cannot write /dev/full");
    }
    rmdir("locked");
    assert_int_equal(tw_count_files("."), files);
}

static void test_reproducible(void **state)
{
    (void)state;
    expect_status(tw_process("compile tiny.twir -o a.twp"), 0);
    expect_status(tw_process("compile tiny.twir -o b.twp"), 0);
    expect_same_files("a.twp", "b.twp");
}

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
    static const char *const systems[] = {"ir", "onnx", "tflite"};
    for (int i = 0; i < 3; i++) {
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
        expect_text(r.out, i < 2 ? "Conv" : "CONV_2D");
    }
    tw_result r = tw_process("ops --md");
    expect_status(r, 0);
    expect_text(r.out, "# Operators\n");
    expect_text(r.out, "\n## ONNX\n");
    expect_text(r.out, "\n## TensorFlow Lite\n");
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
    expect_status(tw_process("verify none.twir --against tiny.twir"), 3);
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
    unlink("case/final.bin");
    expect_status(tw_process("verify case"), 1);
    unlink("case/io.tsv");
    r = tw_process("verify case");
    expect_status(r, 1);
    expect_text(r.err, "neither test_data_set_0/ nor io.tsv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_damaged_plan),
        cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_analyze),
        cmocka_unit_test(test_inspect),
        cmocka_unit_test(test_ir),
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_wrong_inputs),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_verify),
        cmocka_unit_test(test_verify_folder),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
