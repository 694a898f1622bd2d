/* The stack's bound that `make stack` prints for a firmware's program: there for every form and back end, no less
 * than what calls through pointers take, and refused where there is none. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* What `make stack` says of a folder. */
static long bound_of(const char *dir, const char *options)
{
    expect_shell(0, "make -C %s CC=gcc %s stack", dir, options);
    char *text = tw_read("shell.out", NULL);
    const char *found = strstr(text, "stack: at most ");
    assert_non_null(found);
    const long bound = strtol(found + strlen("stack: at most "), NULL, 10);
    free(text);
    return bound;
}

static void make_app(const char *format, const char *dir)
{
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    expect_status(tw_process("codegen tiny.twp --format %s --steps 2 -o %s", format, dir), 0);
}

static void test_bounds(void **state)
{
    (void)state;
    static const char *const formats[] = {"app", "direct"};
    for (int i = 0; i < 2; i++) {
        make_app(formats[i], formats[i]);
        const long bound = bound_of(formats[i], "");
        assert_in_range(bound, 500, 15000);
        /* A kernel, which is called through a pointer alone, that takes 50,000 bytes more. */
        expect_shell(
            0,
            "sed -i 's/^static tw_status run_f32(const tw_call .call)$/static void more(void) "
            "{ volatile char room[50000]; room[0] = 0; }\\n&/;"
            "/run_f32(const/,/^{/s/^{/{ more();/' %s/src/ops/conv.rt.c && "
            "grep -q 'more();' %s/src/ops/conv.rt.c",
            formats[i], formats[i]);
        const long more = bound_of(formats[i], "");
        assert_in_range(more, 50000, bound + 51000);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *code, *message;
    } rows[] = {
        {"volatile uint32_t stop; uint32_t port_stack_bytes(void)\n"
         "{ return stop ? 0u : port_stack_bytes() + 1u; }\n",
         "a way from port_stack_bytes back to itself"},
        {"static uint32_t sum(uint32_t n)\n{ volatile char all[n]; all[0] = 0; return all[0]; }\n"
         "uint32_t port_stack_bytes(void) { return sum(port_microseconds()); }\n",
         "unbounded"},
    };
    make_app("app", "bad");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "#include \"port.h\"\nvoid port_print(const char *text) { (void)text; }\n"
                 "uint32_t port_microseconds(void) { return 0; }\n%s",
                 rows[i].code);
        tw_write_text("bad/app/mine.c", text);
        expect_shell(2, "make -C bad CC=gcc CFLAGS=-O0 PORT=app/mine.c stack 2>&1");
        expect_in_file("shell.out", rows[i].message);
    }
    /* Objects without call graphs, and a function that is not there. */
    expect_shell(0, "make -C bad");
    expect_shell(1, "sh bad/app/stack bad/build/src objdump main 2>&1");
    expect_in_file("shell.out", "no call graphs");
    expect_shell(1, "sh bad/app/stack bad/build/graph objdump start 2>&1");
    expect_in_file("shell.out", "no function start");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
