/* Expectations and set-up that the tests of the command line share. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "expect.h"

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

const char counter[] = "graph \"counter\" {\n"
                       "  input %x : f32[2]\n"
                       "  input %s : f32[2]\n"
                       "  %n = Relu(%s)\n"
                       "  %y = Sigmoid(%x)\n"
                       "  output %y\n"
                       "  output %n\n"
                       "}\n";

void expect_status(tw_result r, int status)
{
    if (r.status != status)
        fail_msg("exit status %d where %d was expected\n%s\n%s", r.status, status, r.out, r.err);
}

void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is missing from:\n%s", part, text);
}

void expect_pattern(const char *text, const char *pattern)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    int found = regexec(&regex, text, 0, NULL, 0);
    regfree(&regex);
    if (found != 0)
        fail_msg("%s does not match:\n%s", pattern, text);
}

void expect_shell(int status, const char *format, ...)
{
    char words[2048], line[2100];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    snprintf(line, sizeof line, "(%s) >shell.out 2>&1", words);
    int got = system(line);
    if (!WIFEXITED(got) || WEXITSTATUS(got) != status)
        fail_msg("%s: exit status %d where %d was expected:\n%.3000s", words, WEXITSTATUS(got),
                 status, tw_read("shell.out", NULL));
}

void expect_in_file(const char *path, const char *part)
{
    char *text = tw_read(path, NULL);
    assert_non_null(text);
    expect_text(text, part);
    free(text);
}

json_t *parse_json(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);
    if (!json)
        fail_msg("not JSON: line %d: %s\n%s", error.line, error.text, text);
    return json;
}

void expect_keys(const json_t *object, const char *keys)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", keys);
    for (char *key = strtok(copy, " "); key; key = strtok(NULL, " "))
        if (!json_object_get(object, key))
            fail_msg("the key %s is missing", key);
}

void expect_same_files(const char *a, const char *b)
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

int set_up(void **state)
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

int tear_down(void **state)
{
    (void)state;
    tw_leave_folder();
    return 0;
}
