/* Branches and loops that are decided while the network runs: values against what C computes, whole and
 * in random bands, in slices, at their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/print.h"
#include "host/session.h"
#include "import/text/text.h"
#include "support/plans.h"

static void open_network(tw_session *session, const char *text, uint64_t random_bands)
{
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.random_bands = random_bands;
    tw_compiled compiled;
    tw_diag diag = {0};
    tw_test_compile(text, &options, &compiled);
    assert_true(tw_session_open(session, compiled.plan, compiled.plan_bytes, &diag));
    tw_compiled_free(&compiled);
}

static void put(tw_session *session, uint32_t input, const void *data)
{
    memcpy(tw_session_input(session, input), data,
           tw_tensor_bytes(tw_input_tensor(&session->model, input)));
}

static int32_t first_of(tw_session *session, uint32_t output)
{
    int32_t v;
    memcpy(&v, tw_session_output(session, output), sizeof v);
    return v;
}

/* ---- values ---- */

/* (a, b, c) becomes (b, c, a + b) while i > 0: every result of a round lies where another goes. */
static const char rotation[] =
    "graph \"rotation\" {\n"
    "  input %n : s32[1]\n  input %x : s32[1]\n  input %y : s32[1]\n  input %z : s32[1]\n"
    "  %i, %a, %b, %c = While (%n, %x, %y, %z)\n"
    "    graph \"more\" {\n"
    "      input %i : s32[1]\n      input %a : s32[1]\n      input %b : s32[1]\n"
    "      input %c : s32[1]\n      const %zero : s32[1] = [0]\n"
    "      %m = Greater (%i, %zero)\n      output %m\n    }\n"
    "    graph \"round\" {\n"
    "      input %i : s32[1]\n      input %a : s32[1]\n      input %b : s32[1]\n"
    "      input %c : s32[1]\n      const %one : s32[1] = [1]\n"
    "      %j = Sub (%i, %one)\n      %s = Add (%a, %b)\n"
    "      output %j\n      output %b\n      output %c\n      output %s\n    }\n"
    "  output %a\n  output %b\n  output %c\n  output %x\n}\n";

static void carried_values_change_places(void **state)
{
    (void)state;
    for (uint64_t bands = 0; bands < 2; bands++) {
        tw_session session;
        tw_diag diag = {0};
        open_network(&session, rotation, bands);
        for (int32_t n = 0; n < 9; n++) {
            int32_t a = 3, b = -4, c = 7, x = a;
            put(&session, 0, &n);
            put(&session, 1, &a);
            put(&session, 2, &b);
            put(&session, 3, &c);
            for (int32_t i = 0; i < n; i++) {
                int32_t s = a + b;
                a = b, b = c, c = s;
            }
            assert_true(tw_session_run(&session, &diag));
            assert_int_equal(first_of(&session, 0), a);
            assert_int_equal(first_of(&session, 1), b);
            assert_int_equal(first_of(&session, 2), c);
            assert_int_equal(first_of(&session, 3), x); /* read behind the loop: still there */
        }
        tw_session_close(&session);
    }
}

/* Both branches give what is not theirs: one a tensor from outside, the other an input. */
static const char outer_values[] =
    "graph \"outer\" {\n"
    "  input %c : bool[]\n  input %x : f32[1,3,2]\n"
    "  %t = Neg (%x)\n"
    "  %y, %z = If (%c, %t, %x)\n"
    "    graph \"yes\" {\n      input %t : f32[1,3,2]\n      input %x : f32[1,3,2]\n"
    "      output %t\n      output %x\n    }\n"
    "    graph \"no\" {\n      input %t : f32[1,3,2]\n      input %x : f32[1,3,2]\n"
    "      %a = Add (%x, %x)\n      output %x\n      output %a\n    }\n"
    "  output %y\n  output %z\n  output %t\n}\n";

static void a_branch_gives_outer_values(void **state)
{
    (void)state;
    const float x[6] = {1, -2, 3, 4, 0.5f, -6};
    for (uint64_t bands = 0; bands < 3; bands++) {
        tw_session session;
        tw_diag diag = {0};
        open_network(&session, outer_values, bands);
        for (uint8_t c = 0; c < 2; c++) {
            put(&session, 0, &c);
            put(&session, 1, x);
            assert_true(tw_session_run(&session, &diag));
            const float *y = tw_session_output(&session, 0), *z = tw_session_output(&session, 1);
            const float *t = tw_session_output(&session, 2);
            for (int i = 0; i < 6; i++) {
                assert_true(y[i] == (c ? -x[i] : x[i]));
                assert_true(z[i] == (c ? x[i] : x[i] + x[i]));
                assert_true(t[i] == -x[i]);
            }
        }
        tw_session_close(&session);
    }
}

/* Steps of the Collatz sequence down to 1: a branch inside a loop. */
#define COLLATZ(attributes)                                                                        \
    "graph \"collatz\" {\n"                                                                        \
    "  input %n : s32[1]\n  const %zero : s32[1] = [0]\n"                                          \
    "  %v, %k = While (%n, %zero)" attributes "\n"                                                 \
    "    graph \"more\" {\n      input %v : s32[1]\n      input %k : s32[1]\n"                     \
    "      const %one : s32[1] = [1]\n      %m = Greater (%v, %one)\n      output %m\n    }\n"     \
    "    graph \"round\" {\n      input %v : s32[1]\n      input %k : s32[1]\n"                    \
    "      const %one : s32[1] = [1]\n      const %two : s32[1] = [2]\n"                           \
    "      %h = Div (%v, %two)\n      %d = Mul (%h, %two)\n      %even = Equal (%d, %v)\n"         \
    "      %w = If (%even, %v, %h)\n"                                                              \
    "        graph \"yes\" {\n          input %v : s32[1]\n          input %h : s32[1]\n"          \
    "          output %h\n        }\n"                                                             \
    "        graph \"no\" {\n          input %v : s32[1]\n          input %h : s32[1]\n"           \
    "          const %one : s32[1] = [1]\n          const %three : s32[1] = [3]\n"                 \
    "          %t = Mul (%v, %three)\n          %u = Add (%t, %one)\n          output %u\n"        \
    "        }\n"                                                                                  \
    "      %l = Add (%k, %one)\n      output %w\n      output %l\n    }\n"                         \
    "  output %k\n}\n"

static int32_t collatz(int32_t v)
{
    int32_t steps = 0;
    for (; v > 1; steps++)
        v = v % 2 ? 3 * v + 1 : v / 2;
    return steps;
}

static void a_branch_inside_a_loop(void **state)
{
    (void)state;
    tw_session session;
    tw_diag diag = {0};
    open_network(&session, COLLATZ(""), 0);
    for (int32_t n = 0; n < 28; n++) {
        put(&session, 0, &n);
        assert_true(tw_session_run(&session, &diag));
        assert_int_equal(first_of(&session, 0), collatz(n));
    }
    tw_session_close(&session);
}

/* ---- limits ---- */

static void too_many_rounds_are_an_error(void **state)
{
    (void)state;
    tw_session session;
    open_network(&session, COLLATZ(" {most=111}"), 0);
    int32_t n = 27; /* takes 111 */
    put(&session, 0, &n);
    assert_int_equal(tw_run(&session.context), TW_OK);
    n = 54; /* takes 112 */
    put(&session, 0, &n);
    assert_int_equal(tw_run(&session.context), TW_E_ROUNDS);
    n = 8; /* the next run begins afresh */
    put(&session, 0, &n);
    assert_int_equal(tw_run(&session.context), TW_OK);
    assert_int_equal(first_of(&session, 0), 3);
    tw_session_close(&session);

    tw_compile_options options;
    tw_compile_options_default(&options);
    options.loop_limit = 20;
    tw_compiled compiled;
    tw_diag diag = {0};
    tw_test_compile(COLLATZ(""), &options, &compiled);
    assert_true(tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag));
    tw_compiled_free(&compiled);
    n = 27;
    put(&session, 0, &n);
    assert_int_equal(tw_run(&session.context), TW_E_ROUNDS);
    tw_session_close(&session);
}

static void a_run_in_slices_can_be_given_up(void **state)
{
    (void)state;
    tw_session session;
    tw_status status;
    int slices = 0;
    open_network(&session, COLLATZ(""), 0);
    const int32_t n = 27;
    put(&session, 0, &n);
    while ((status = tw_run_some(&session.context, 1)) == TW_RUNNING)
        slices++;
    assert_int_equal(status, TW_OK);
    assert_int_equal(first_of(&session, 0), 111);
    assert_true(slices > 111 * 5);
    put(&session, 0, &n);
    assert_int_equal(tw_run_some(&session.context, 40), TW_RUNNING);
    assert_int_equal(tw_reset(&session.context), TW_OK);
    put(&session, 0, &n);
    assert_int_equal(tw_run(&session.context), TW_OK);
    assert_int_equal(first_of(&session, 0), 111);
    tw_session_close(&session);
}

/* ---- state ---- */

static const char counting[] =
    "graph \"counting\" {\n"
    "  input %n : s32[1]\n  state %total : s32[1]\n  const %zero : s32[1] = [0]\n"
    "  %i, %t = While (%n, %total) {most=50}\n"
    "    graph \"more\" {\n      input %i : s32[1]\n      input %t : s32[1]\n"
    "      const %zero : s32[1] = [0]\n      %m = Greater (%i, %zero)\n      output %m\n    }\n"
    "    graph \"round\" {\n      input %i : s32[1]\n      input %t : s32[1]\n"
    "      const %one : s32[1] = [1]\n      %j = Sub (%i, %one)\n      %u = Add (%t, %i)\n"
    "      output %j\n      output %u\n    }\n"
    "  %old = Add (%total, %zero)\n"
    "  output %t\n  output %old\n  next %total = %t\n}\n";

static void a_state_goes_through_a_loop(void **state)
{
    (void)state;
    tw_session session;
    tw_diag diag = {0};
    open_network(&session, counting, 0);
    int32_t total = 0;
    for (int32_t n = 0; n < 6; n++) {
        put(&session, 0, &n);
        assert_true(tw_session_run(&session, &diag));
        assert_int_equal(first_of(&session, 1), total);
        total += n * (n + 1) / 2;
        assert_int_equal(first_of(&session, 0), total);
    }
    const int32_t many = 51;
    put(&session, 0, &many);
    assert_int_equal(tw_run(&session.context), TW_E_ROUNDS);
    assert_int_equal(tw_run(&session.context), TW_E_DIRTY);
    tw_session_close(&session);
}

/* ---- what is known, what is refused ---- */

static void a_known_condition_is_no_branch(void **state)
{
    (void)state;
    static const char text[] =
        "graph \"known\" {\n  input %x : s32[1]\n  const %c : bool[1] = [false]\n"
        "  %y = If (%c, %x)\n"
        "    graph \"yes\" {\n      input %x : s32[1]\n      output %x\n    }\n"
        "    graph \"no\" {\n      input %x : s32[1]\n      %z = Neg (%x)\n      output %z\n    }\n"
        "  output %y\n}\n";
    tw_session session;
    tw_diag diag = {0};
    const int32_t x = 5;
    open_network(&session, text, 0);
    assert_int_equal(session.model.control_count, 0);
    put(&session, 0, &x);
    assert_true(tw_session_run(&session, &diag));
    assert_int_equal(first_of(&session, 0), -5);
    assert_string_equal(session.output_names[0], "y");
    tw_session_close(&session);
}

static void check_refused(const char *text, tw_code code, const char *words)
{
    tw_compiled compiled;
    tw_diag diag = {0};
    assert_false(tw_test_try_compile(text, NULL, &compiled, &diag));
    tw_compiled_free(&compiled);
    assert_int_equal(diag.code, code);
    if (!strstr(diag.message, words))
        fail_msg("'%s' does not say '%s'", diag.message, words);
}

#define PAIR(inside, first, second)                                                                \
    "graph \"g\" {\n  input %c : bool[1]\n  input %x : s32[2]\n  %y = If (%c, %x)\n"               \
    "    graph \"yes\" {\n      input %x : " inside "\n" first "    }\n"                           \
    "    graph \"no\" {\n      input %x : " inside "\n" second "    }\n  output %y\n}\n"

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    check_refused(PAIR("s32[3]", "      output %x\n", "      output %x\n"), TW_CODE_FAILED,
                  "differs in shape");
    check_refused(
        PAIR("s32[2]", "      output %x\n", "      %z = Cast (%x) {dtype=f32}\n      output %z\n"),
        TW_CODE_UNSUPPORTED, "between the branches");
    check_refused(PAIR("s32[2]", "      output %x\n", "      output %x\n      output %x\n"),
                  TW_CODE_FAILED, "gives 2 tensors");
    check_refused(PAIR("s32[2]", "      state %s : s32[2]\n      output %s\n", "      output %x\n"),
                  TW_CODE_UNSUPPORTED, "state of its own");
    check_refused("graph \"g\" {\n  input %x : s32[1]\n  %y = If (%x)\n"
                  "    graph \"a\" {\n      const %k : s32[1] = [1]\n      output %k\n    }\n"
                  "    graph \"b\" {\n      const %k : s32[1] = [1]\n      output %k\n    }\n"
                  "  output %y\n}\n",
                  TW_CODE_FAILED, "one BOOL");
}

/* `depth` branches inside each other, on f32[1]. */
static char *nest(int depth)
{
    char *text = malloc(4096 + (size_t)depth * 512);
    assert_non_null(text);
    int n = sprintf(text, "graph \"g\" {\n input %%c : bool[1]\n input %%x : f32[1]\n");
    for (int i = 0; i < depth; i++)
        n += sprintf(text + n, "%%y = If (%%c, %%c, %%x)\n graph \"no\" {\n input %%c : bool[1]\n"
                               " input %%x : f32[1]\n %%z = Neg (%%x)\n output %%z\n }\n"
                               " graph \"yes\" {\n input %%c : bool[1]\n input %%x : f32[1]\n");
    n += sprintf(text + n, "%%y = Exp (%%x)\n");
    for (int i = 0; i <= depth; i++)
        n += sprintf(text + n, "output %%y\n }\n");
    return text;
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    char *text = nest(8);
    tw_session session;
    tw_diag diag = {0};
    const float x = 2;
    for (uint8_t c = 0; c < 2; c++) {
        open_network(&session, text, 0);
        put(&session, 0, &c);
        put(&session, 1, &x);
        assert_true(tw_session_run(&session, &diag));
        const float *y = tw_session_output(&session, 0);
        assert_true(c ? *y == -2 : *y > 7.38f && *y < 7.39f);
        tw_session_close(&session);
    }
    free(text);
    text = nest(9);
    check_refused(text, TW_CODE_UNSUPPORTED, "inside each other");
    free(text);
}

/* ---- text ---- */

static char *printed(const tw_graph *graph)
{
    char *text = NULL;
    size_t bytes = 0;
    tw_diag diag = {0};
    FILE *file = open_memstream(&text, &bytes);
    assert_non_null(file);
    assert_true(tw_text_print(graph, file, NULL, &diag));
    fclose(file);
    return text;
}

static void text_reads_back(void **state)
{
    (void)state;
    const char *const texts[] = {rotation, outer_values, COLLATZ(" {most=5}"), counting};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        tw_graph *graph = tw_text_parse(arena, texts[i], strlen(texts[i]), NULL, &diag);
        assert_non_null(graph);
        char *once = printed(graph);
        graph = tw_text_parse(arena, once, strlen(once), NULL, &diag);
        assert_non_null(graph);
        char *twice = printed(graph);
        assert_string_equal(once, twice);
        free(once);
        free(twice);
        tw_arena_free(arena);
    }
}

/* An image that a branch reads, and what a branch makes, are there whole: nobody is told to try rows. What
 * straight steps read and make may go by rows. */
static void what_bodies_touch_does_not_go_by_rows(void **state)
{
    (void)state;
    static const char text[] =
        "graph \"ends\" {\n"
        "  input %c : bool[1]\n  input %x : f32[1,32,8]\n  input %y : f32[1,32,8]\n"
        "  %r = If (%c, %x)\n"
        "    graph \"yes\" {\n      input %x : f32[1,32,8]\n      %p = Relu (%x)\n"
        "      output %p\n    }\n"
        "    graph \"no\" {\n      input %x : f32[1,32,8]\n      %q = Tanh (%x)\n"
        "      output %q\n    }\n"
        "  %s : f32[1,32,8] = Sigmoid(%y)\n  output %r\n  output %s\n}\n";
    tw_compiled compiled;
    tw_test_compile(text, NULL, &compiled);
    const tw_report *r = &compiled.report;
    assert_false(r->inputs[0].by_rows);
    assert_false(r->inputs[1].by_rows);
    assert_true(r->inputs[2].by_rows);
    assert_false(r->outputs[0].by_rows);
    assert_true(r->outputs[1].by_rows);
    tw_compiled_free(&compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carried_values_change_places),
        cmocka_unit_test(a_branch_gives_outer_values),
        cmocka_unit_test(a_branch_inside_a_loop),
        cmocka_unit_test(too_many_rounds_are_an_error),
        cmocka_unit_test(a_run_in_slices_can_be_given_up),
        cmocka_unit_test(a_state_goes_through_a_loop),
        cmocka_unit_test(a_known_condition_is_no_branch),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(what_bodies_touch_does_not_go_by_rows),
        cmocka_unit_test(text_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
