/* Attention in int8: what stands between Dequantize and Quantize runs on the stored bytes, queries, caches and
 * results, and is attention over the full history, one and several tokens at a time, also around a ring. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "ops/codes.h"
#include "runtime/kernel.h"
#include "runtime/plan.h"
#include "support/plans.h"

enum { HEADS = 4, SHARED = 2, WIDTH = 8, TOKENS = 1000 };

/* Stored values, and what they stand for: keys and values in steps of 1/64, queries in steps of 1/32. */
typedef struct tw_stored {
    int8_t q[TOKENS][HEADS * WIDTH], k[TOKENS][SHARED * WIDTH], v[TOKENS][SHARED * WIDTH];
} tw_stored;

enum { Q_ZERO = -9, K_ZERO = 3, V_ZERO = -5, Y_ZERO = 7 };
static const double q_step = 1.0 / 32, k_step = 1.0 / 64, v_step = 1.0 / 64, y_step = 1.0 / 128;

static void open_network(tw_session *s, int slots, int chunk, int window)
{
    char text[2400], ring[60] = "";
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    if (window)
        (void)snprintf(ring, sizeof ring, "window=%d, ring=1", window);
    (void)snprintf(
        text, sizeof text,
        "graph \"a\" {\n  input %%q : s8[1,4,%d,8] quant(scale=0.03125, zero=-9)\n"
        "  input %%k : s8[1,2,%d,8] quant(scale=0.015625, zero=3)\n"
        "  input %%v : s8[1,2,%d,8] quant(scale=0.015625, zero=-5)\n  input %%n : s32[1]\n"
        "  state %%tokens : s32[1]\n"
        "  state %%keys : s8[1,2,%d,8] quant(scale=0.015625, zero=3)\n"
        "  state %%values : s8[1,2,%d,8] quant(scale=0.015625, zero=-5)\n"
        "  %%kk : s8[1,2,%d,8] quant(scale=0.015625, zero=3) = "
        "Append (%%keys, %%k, %%tokens, %%n) {ring=%d}\n"
        "  %%vv : s8[1,2,%d,8] quant(scale=0.015625, zero=-5) = "
        "Append (%%values, %%v, %%tokens, %%n) {ring=%d}\n"
        "  %%qf = Dequantize (%%q)\n  %%kf = Dequantize (%%kk)\n  %%vf = Dequantize (%%vv)\n"
        "  %%f = Attention (%%qf, %%kf, %%vf, %%tokens, %%n) {%s}\n"
        "  %%y : s8[1,4,%d,8] quant(scale=0.0078125, zero=7) = Quantize (%%f)\n"
        "  %%t = Advance (%%tokens, %%n) {tokens=%d, limit=%d, kept=%d, window=%d}\n"
        "  next %%keys = %%kk\n  next %%values = %%vv\n  next %%tokens = %%t\n  output %%y\n}\n",
        chunk, chunk, chunk, slots, slots, slots, window > 0, slots, window > 0, ring, chunk, chunk,
        window ? INT32_MAX : slots, window ? slots : 0, window ? window - 1 : 0);
    tw_compile_options_default(&options);
    tw_test_compile(text, &options, &compiled);
    assert_true(tw_session_open(s, compiled.plan, compiled.plan_bytes, &diag));
    tw_compiled_free(&compiled);
}

static void runs_on_bytes(const tw_session *s)
{
    for (uint32_t i = 0; i < s->model.step_count; i++) {
        const tw_plan_step *step = &s->model.steps[i];
        assert_true(step->operator_code != TW_OPCODE_dequantize);
        assert_true(step->operator_code != TW_OPCODE_quantize);
        if (step->operator_code == TW_OPCODE_attention)
            assert_ptr_equal(s->model.kernels[step->kernel], &tw_k_attention_s8);
    }
}

static void put_rows(tw_session *s, uint32_t input, const int8_t *rows, int heads, int first,
                     int count, int chunk)
{
    int8_t *to = tw_session_input(s, input);
    memset(to, 99, (size_t)heads * (size_t)chunk * WIDTH);
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < count; i++)
            memcpy(to + (h * chunk + i) * WIDTH, rows + ((first + i) * heads + h) * WIDTH, WIDTH);
}

/* What is stored of element d of a token's result, over the full history. */
static double attended(const tw_stored *t, int token, int head, int window, int d)
{
    const int shared = head / (HEADS / SHARED);
    double sum = 0, out = 0;
    for (int j = window && token + 1 > window ? token + 1 - window : 0; j <= token; j++) {
        double dot = 0;
        for (int e = 0; e < WIDTH; e++)
            dot += (t->q[token][head * WIDTH + e] - Q_ZERO) * q_step *
                   (t->k[j][shared * WIDTH + e] - K_ZERO) * k_step;
        const double weight = exp(dot / sqrt((double)WIDTH));
        sum += weight;
        out += weight * (t->v[j][shared * WIDTH + d] - V_ZERO) * v_step;
    }
    out = out / sum / y_step + Y_ZERO;
    return out < -128 ? -128 : out > 127 ? 127 : out;
}

static void check(int slots, int chunk, int window)
{
    static tw_stored t;
    tw_session s = {0};
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof t; i++)
        ((int8_t *)&t)[i] = (int8_t)(tw_test_random(&seed) % 256 - 128);
    open_network(&s, slots, chunk, window);
    runs_on_bytes(&s);
    for (int at = 0, run = 0; at < TOKENS; run++) {
        int32_t count = 1 + run % chunk;
        count = at + count > TOKENS ? TOKENS - at : count;
        put_rows(&s, 0, t.q[0], HEADS, at, count, chunk);
        put_rows(&s, 1, t.k[0], SHARED, at, count, chunk);
        put_rows(&s, 2, t.v[0], SHARED, at, count, chunk);
        memcpy(tw_session_input(&s, 3), &count, sizeof count);
        assert_int_equal(tw_run(&s.context), TW_OK);
        const int8_t *y = tw_session_output(&s, 0);
        for (int i = 0; i < count; i++)
            for (int h = 0; h < HEADS; h++)
                for (int d = h; d < WIDTH; d += 4) {
                    const double want = attended(&t, at + i, h, window, d);
                    if (fabs(want - y[(h * chunk + i) * WIDTH + d]) > 0.501)
                        fail_msg("token %d, head %d: %d instead of %g", at + i, h,
                                 y[(h * chunk + i) * WIDTH + d], want);
                }
        at += count;
    }
    tw_session_close(&s);
}

static void int8_is_the_history(void **state)
{
    (void)state;
    check(TOKENS, 1, 0);
    check(TOKENS, 8, 0);
    check(24, 1, 24);
    check(40, 8, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(int8_is_the_history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
