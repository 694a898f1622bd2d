/* The command line: help, exit statuses, messages, and what it does with files. */
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

static const char *const commands[] = {"inspect", "analyze", "compile", "run", "verify", "ops"};
enum { COMMANDS = sizeof commands / sizeof *commands };

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
    {"ops --system basic", "ir|onnx|tflite|pytorch|keras|tensorflow|mobilint|qti_aisw|tigris"},
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

/* Names that would move the cursor, end a line or break JSON are shown harmless. */
static void test_hostile_names(void **state)
{
    (void)state;
    static const char *const uses[] = {
        "inspect odd.twir",
        "analyze odd.twir",
        "compile odd.twir -o odd.twp",
        "inspect odd.twp",
        "run odd.twp --input odd.bin --profile",
        "verify odd.twp --against odd.twir",
        "verify odd.twp --input odd.bin --expect odd.bin",
        "run odd.twp",
    };
    float x[2] = {1, -1};
    tw_write("odd.bin", x, sizeof x);
    tw_write_text("odd.twir", "graph \"a\\x1b[2J\" {\n"
                              "  input %\"in\\x1b[31m\\n\\x07\\xff\" : f32[2]\n"
                              "  %\"out\\x9b1m\\x08\" = Relu \"n\\x1b]0;t\\x07\" "
                              "(%\"in\\x1b[31m\\n\\x07\\xff\")\n"
                              "  output %\"out\\x9b1m\\x08\"\n}\n");
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        tw_result r = tw_process("%s", uses[i]);
        for (int k = 0; k < 2; k++)
            for (const char *c = k ? r.err : r.out; *c; c++)
                if ((unsigned char)*c < ' ' && *c != '\n')
                    fail_msg("%s: byte %d in %s", uses[i], *c, k ? r.err : r.out);
        r = tw_process("%s --json", uses[i]);
        json_decref(parse_json(r.out));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help),         cmocka_unit_test(test_usage),
        cmocka_unit_test(test_messages),     cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_damaged_plan), cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_reproducible), cmocka_unit_test(test_hostile_names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
