/* Recurrent layers of int8: those of ONNX in the Q/DQ form, which scripts/fixtures/onnx_recurrent.py made, leave no
 * float step and stay close to what ONNX Runtime computes of them in floats; and what Lstm and PeepholeLstm both
 * say is the same to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/cases.h"
#include "support/plans.h"
#include "support/reference.h"
#include "host/session.h"

#define FOLDER "tests/data/onnx-recurrent"

static void models(void **state)
{
    (void)state;
    const tw_cases_result r = tw_cases_run(FOLDER);
    printf("%d pass, %d unsupported, %d fail\n", r.passed, r.refused, r.failed);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.passed, 21);
}

static void no_float_steps(void **state)
{
    (void)state;
    static const char *const names[] = {"rnn-both",    "gru-unsigned",   "gru-linear",
                                        "lstm-states", "lstm-peepholes", "lstm-coupled"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[80];
        tw_compile_options options;
        tw_compiled compiled;
        tw_diag diag = {0};
        (void)snprintf(path, sizeof path, FOLDER "/%s.onnx", names[i]);
        tw_compile_options_default(&options);
        if (!tw_compile_file(path, &options, &compiled, &diag))
            fail_msg("%s: %s", path, diag.message);
        assert_int_equal(compiled.report.float_step_count, 0);
        tw_compiled_free(&compiled);
    }
}

/* Gates i, f, c, o and i, o, f, c. */
static const char twins[] =
    "graph \"twins\" {\n  input %x : s8[2,9,3] quant(scale=0.03, zero=-20)\n"
    "  const %w0 : s8[1,5,3] quant(scale=0.01, zero=0) = random 1 -127 128\n"
    "  const %w1 : s8[1,5,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"
    "  const %w2 : s8[1,5,3] quant(scale=0.01, zero=0) = random 3 -127 128\n"
    "  const %w3 : s8[1,5,3] quant(scale=0.01, zero=0) = random 4 -127 128\n"
    "  const %r0 : s8[1,5,5] quant(scale=0.012, zero=0) = random 5 -127 128\n"
    "  const %r1 : s8[1,5,5] quant(scale=0.012, zero=0) = random 6 -127 128\n"
    "  const %r2 : s8[1,5,5] quant(scale=0.012, zero=0) = random 7 -127 128\n"
    "  const %r3 : s8[1,5,5] quant(scale=0.012, zero=0) = random 8 -127 128\n"
    "  %w = Concat (%w0, %w1, %w2, %w3) {axis=0}\n  %r = Concat (%r0, %r1, %r2, %r3) {axis=0}\n"
    "  %v = Concat (%w0, %w3, %w1, %w2) {axis=0}\n  %s = Concat (%r0, %r3, %r1, %r2) {axis=0}\n"
    "  const %h : s8[2,5] quant(scale=0.008, zero=-4) = random 9 -128 128\n"
    "  const %c : s16[2,5] quant(scale=0.00048828125, zero=0) = random 10 -9000 9000\n"
    "  %y : s8[2,9,5] quant(scale=0.008, zero=-4) = Lstm (%x, %w, %r, _, %h, %c)\n"
    "  %z : s8[2,9,5] quant(scale=0.008, zero=-4) = PeepholeLstm (%x, %v, %s, _, _, %h, %c)\n"
    "  output %y\n  output %z\n}\n";

static void same_as_lstm(void **state)
{
    (void)state;
    tw_compile_options options;
    tw_compiled compiled;
    tw_session session;
    tw_diag diag = {0};
    uint64_t seed = 5;
    tw_compile_options_default(&options);
    tw_test_compile(twins, &options, &compiled);
    assert_true(tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag));
    tw_test_fill(tw_input_tensor(&session.model, 0), tw_session_input(&session, 0), &seed);
    assert_true(tw_session_run(&session, &diag));
    assert_memory_equal(tw_session_output(&session, 0), tw_session_output(&session, 1), 2 * 9 * 5);
    tw_session_close(&session);
    tw_compiled_free(&compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models), cmocka_unit_test(no_float_steps),
                                       cmocka_unit_test(same_as_lstm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
