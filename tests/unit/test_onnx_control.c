/* ONNX's If, Loop and Scan under conditions and counts that only the run knows: against plain C. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "host/session.h"
#include "support/arena_fixture.h"
#include "support/onnx_model.h"
#include "support/plans.h"

static const int64_t one[] = {1}, three[] = {3};

static bool try_open(tw_onnx_writer *w, uint64_t random_bands, tw_session *session, tw_diag *diag)
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_compile_options_default(&options);
    options.random_bands = random_bands;
    bool ok = tw_test_try_compile_onnx(w, &options, &compiled, diag) &&
              tw_session_open(session, compiled.plan, compiled.plan_bytes, diag);
    tw_compiled_free(&compiled);
    return ok;
}

static void open_model(tw_onnx_writer *w, uint64_t random_bands, tw_session *session)
{
    tw_diag diag;
    if (!try_open(w, random_bands, session, &diag))
        fail_msg("%s (%s): %s", diag.node, diag.operator_name, diag.message);
    assert_true(session->model.control_count > 0); /* else nothing here is tested */
}

static void put(tw_session *session, uint32_t input, const void *data)
{
    memcpy(tw_session_input(session, input), data,
           tw_tensor_bytes(tw_input_tensor(&session->model, input)));
}

static void run(tw_session *session)
{
    tw_diag diag = {0};
    if (!tw_session_run(session, &diag))
        fail_msg("%s", diag.message);
}

/* y = x after `trips` rounds of y = 2 y + k, k from around; more = y[0] < 100. */
static tw_onnx_writer doubling(bool with_trips, bool with_condition, bool stacks)
{
    static const float low = 100;
    static const int64_t zero = 0;
    tw_onnx_writer w = tw_onnx_write(arena, 13), body = tw_onnx_write(arena, 13);
    if (with_trips)
        tw_onnx_write_input(&w, "m", ONNX_INT64, 1, one);
    if (with_condition)
        tw_onnx_write_input(&w, "c", ONNX_BOOL, 0, NULL);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
    tw_onnx_write_input(&w, "k", ONNX_FLOAT, 1, three);
    tw_onnx_write_node(&w, "Neg", "k", "nk");
    tw_onnx_write_input(&body, "i", ONNX_INT64, 0, NULL);
    tw_onnx_write_input(&body, "go", ONNX_BOOL, 0, NULL);
    tw_onnx_write_input(&body, "v", ONNX_FLOAT, 1, three);
    tw_onnx_write_tensor(&body, "hundred", ONNX_FLOAT, 0, NULL, &low, sizeof low);
    tw_onnx_write_tensor(&body, "zero", ONNX_INT64, 0, NULL, &zero, sizeof zero);
    tw_onnx_write_node(&body, "Add", "v v", "vv");
    tw_onnx_write_node(&body, "Sub", "vv nk", "next");
    tw_onnx_write_node(&body, "Gather", "next zero", "head");
    tw_onnx_write_node(&body, "Less", "head hundred", "more");
    tw_onnx_write_output(&body, "more", ONNX_BOOL);
    tw_onnx_write_output(&body, "next", ONNX_FLOAT);
    if (stacks)
        tw_onnx_write_output(&body, "vv", ONNX_FLOAT);
    tw_onnx_write_node(&w, "Loop",
                       with_trips && with_condition ? "m c x"
                       : with_trips                 ? "m - x"
                       : with_condition             ? "- c x"
                       : stacks                     ? "five - x"
                                                    : "- - x",
                       stacks ? "y s" : "y");
    tw_onnx_write_branch(&w, "body", &body);
    if (stacks) {
        static const int64_t five = 5;
        tw_onnx_write_tensor(&w, "five", ONNX_INT64, 1, one, &five, sizeof five);
        tw_onnx_write_output(&w, "s", ONNX_FLOAT);
    }
    tw_onnx_write_node(&w, "Identity", "k", "kept");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    tw_onnx_write_output(&w, "kept", ONNX_FLOAT);
    return w;
}

static int double_up(const float *x, const float *k, int64_t trips, bool go, float *y,
                     float (*stack)[3])
{
    int round = 0;
    memcpy(y, x, 3 * sizeof *y);
    for (; go && round < trips; round++) {
        for (int i = 0; i < 3; i++) {
            if (stack)
                stack[round][i] = y[i] + y[i];
            y[i] = y[i] + y[i] - -k[i];
        }
        go = y[0] < 100;
    }
    return round;
}

static void a_trip_count_of_the_run(void **state)
{
    (void)state;
    const float x[3] = {1, -2, 0.5f}, k[3] = {0.25f, 1, -3};
    for (int form = 0; form < 8; form++) {
        const bool with_trips = form & 1, with_condition = form & 2;
        tw_session session;
        tw_onnx_writer w = doubling(with_trips, with_condition, false);
        open_model(&w, form & 4 ? 3 : 0, &session);
        for (int64_t m = 0; m < 12; m += 1 + m / 4)
            for (uint8_t c = 0; c < 2; c++) {
                float y[3];
                uint32_t at = 0;
                if (with_trips)
                    put(&session, at++, &m);
                if (with_condition)
                    put(&session, at++, &c);
                put(&session, at++, x);
                put(&session, at, k);
                run(&session);
                double_up(x, k, with_trips ? m : 1000, !with_condition || c, y, NULL);
                assert_memory_equal(tw_session_output(&session, 0), y, sizeof y);
                assert_memory_equal(tw_session_output(&session, 1), k, sizeof k);
            }
        tw_session_close(&session);
    }
}

/* At most five rounds, fewer where the values grow fast: the rest of the stack is zeros, run by run. */
static void stacked_results_have_the_bound(void **state)
{
    (void)state;
    tw_session session;
    tw_onnx_writer w = doubling(false, false, true);
    open_model(&w, 0, &session);
    const float k[3] = {0, 1, 2};
    static const float begin[3] = {1, 30, 90};
    for (int n = 0; n < 3; n++) {
        const float x[3] = {begin[n], 1, 2};
        float y[3], stack[5][3] = {{0}};
        put(&session, 0, x);
        put(&session, 1, k);
        run(&session);
        const int rounds = double_up(x, k, 5, true, y, stack);
        assert_int_equal(rounds, n == 0 ? 5 : n == 1 ? 2 : 1);
        assert_memory_equal(tw_session_output(&session, 0), stack, sizeof stack);
        assert_memory_equal(tw_session_output(&session, 1), y, sizeof y);
    }
    tw_session_close(&session);
}

/* A branch in a loop, both reading values of the graph and of the loop. */
static void names_from_around_go_in(void **state)
{
    (void)state;
    static const int64_t two = 2;
    tw_onnx_writer w = tw_onnx_write(arena, 13), body = tw_onnx_write(arena, 13);
    tw_onnx_writer yes = tw_onnx_write(arena, 13), no = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "m", ONNX_INT64, 1, one);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
    tw_onnx_write_node(&yes, "Add", "v x", "a");
    tw_onnx_write_output(&yes, "a", ONNX_FLOAT);
    tw_onnx_write_node(&no, "Mul", "v x", "b");
    tw_onnx_write_output(&no, "b", ONNX_FLOAT);
    tw_onnx_write_input(&body, "i", ONNX_INT64, 0, NULL);
    tw_onnx_write_input(&body, "go", ONNX_BOOL, 0, NULL);
    tw_onnx_write_input(&body, "v", ONNX_FLOAT, 1, three);
    tw_onnx_write_tensor(&body, "two", ONNX_INT64, 0, NULL, &two, sizeof two);
    tw_onnx_write_node(&body, "Less", "i two", "early");
    tw_onnx_write_node(&body, "If", "early", "next");
    tw_onnx_write_branch(&body, "then_branch", &yes);
    tw_onnx_write_branch(&body, "else_branch", &no);
    tw_onnx_write_node(&body, "Identity", "go", "on");
    tw_onnx_write_output(&body, "on", ONNX_BOOL);
    tw_onnx_write_output(&body, "next", ONNX_FLOAT);
    tw_onnx_write_node(&w, "Loop", "m - x", "y");
    tw_onnx_write_branch(&w, "body", &body);
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    tw_session session;
    open_model(&w, 0, &session);
    const float x[3] = {2, -1, 0.5f};
    for (int64_t m = 0; m < 6; m++) {
        float y[3];
        for (int i = 0; i < 3; i++) {
            y[i] = x[i];
            for (int64_t r = 0; r < m; r++)
                y[i] = r < 2 ? y[i] + x[i] : y[i] * x[i];
        }
        put(&session, 0, &m);
        put(&session, 1, x);
        run(&session);
        assert_memory_equal(tw_session_output(&session, 0), y, sizeof y);
    }
    tw_session_close(&session);
}

/* Running sums along the second axis, backwards, long enough that it is not unrolled: the sums behind
 * the axis, and the last one. */
static void a_long_scan(void **state)
{
    (void)state;
    enum { LONG = 3000 };
    static const int64_t rows[] = {2, LONG}, row[] = {2}, axis[] = {1}, back[] = {1};
    tw_onnx_writer w = tw_onnx_write(arena, 13), body = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "s", ONNX_FLOAT, 1, row);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, rows);
    tw_onnx_write_input(&body, "sum", ONNX_FLOAT, 1, row);
    tw_onnx_write_input(&body, "r", ONNX_FLOAT, 1, row);
    tw_onnx_write_node(&body, "Add", "sum r", "next");
    tw_onnx_write_node(&body, "Neg", "next", "minus");
    tw_onnx_write_output(&body, "next", ONNX_FLOAT);
    tw_onnx_write_output(&body, "minus", ONNX_FLOAT);
    tw_onnx_write_node(&w, "Scan", "s x", "y z");
    tw_onnx_write_branch(&w, "body", &body);
    tw_onnx_write_int(&w, "num_scan_inputs", 1);
    tw_onnx_write_ints(&w, "scan_input_axes", 1, axis);
    tw_onnx_write_ints(&w, "scan_input_directions", 1, back);
    tw_onnx_write_ints(&w, "scan_output_axes", 1, axis);
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    tw_onnx_write_output(&w, "z", ONNX_FLOAT);
    static float x[2][LONG], z[2][LONG];
    const float s[2] = {0.5f, -7};
    float y[2];
    for (int i = 0; i < 2; i++) {
        y[i] = s[i];
        for (int k = 0; k < LONG; k++)
            x[i][k] = (float)((k * 37 + i * 11) % 19 - 9) * 0.25f;
        for (int k = 0; k < LONG; k++) {
            y[i] = y[i] + x[i][LONG - 1 - k];
            z[i][k] = -y[i];
        }
    }
    tw_session session;
    open_model(&w, 0, &session);
    put(&session, 0, s);
    put(&session, 1, x);
    run(&session);
    assert_memory_equal(tw_session_output(&session, 0), y, sizeof y);
    assert_memory_equal(tw_session_output(&session, 1), z, sizeof z);
    tw_session_close(&session);
}

static void what_has_no_bound_is_refused(void **state)
{
    (void)state;
    tw_session session;
    tw_diag diag;
    tw_onnx_writer w = doubling(true, false, true);
    assert_false(try_open(&w, 0, &session, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    assert_non_null(strstr(diag.message, "trip count"));
    assert_string_equal(diag.operator_name, "Loop");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_trip_count_of_the_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stacked_results_have_the_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_from_around_go_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_scan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_has_no_bound_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
