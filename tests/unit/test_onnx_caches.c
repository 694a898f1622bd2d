/* ONNX decoders that are handed their caches, which the plan keeps: token by token, and several at a time, what
 * comes out is attention over the full history; nothing is copied, and no more is read than is there. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "ops/codes.h"
#include "runtime/plan.h"
#include "support/onnx_model.h"
#include "support/plans.h"

enum { HEADS = 4, SHARED = 2, SIZE = 16, SLOTS = 200 };

typedef struct tw_sequence {
    float q[SLOTS][HEADS * SIZE], k[SLOTS][SHARED * SIZE], v[SLOTS][SHARED * SIZE];
} tw_sequence;

static tw_sequence *make_tokens(tw_arena *arena)
{
    tw_sequence *t = tw_alloc(arena, sizeof *t);
    uint64_t seed = 11;
    float *all = (float *)t;
    for (size_t i = 0; i < sizeof *t / sizeof *all; i++)
        all[i] = (float)(tw_test_random(&seed) % 2001) / 1000.0f - 1.0f;
    return t;
}

/* com.microsoft's operator over caches that it takes and gives back. */
static void write_grouped(tw_onnx_writer *w, int rows, int window)
{
    const int32_t total = SLOTS;
    const int64_t q[] = {1, rows, HEADS * SIZE}, k[] = {1, rows, SHARED * SIZE};
    const int64_t cache[] = {1, SHARED, SLOTS, SIZE}, one[] = {1};
    tw_onnx_write_input(w, "q", ONNX_FLOAT, 3, q);
    tw_onnx_write_input(w, "k", ONNX_FLOAT, 3, k);
    tw_onnx_write_input(w, "v", ONNX_FLOAT, 3, k);
    tw_onnx_write_input(w, "l", ONNX_INT32, 1, one);
    tw_onnx_write_input(w, "pk", ONNX_FLOAT, 4, cache);
    tw_onnx_write_input(w, "pv", ONNX_FLOAT, 4, cache);
    tw_onnx_write_tensor(w, "t", ONNX_INT32, 0, NULL, &total, sizeof total);
    tw_onnx_write_node(w, "GroupQueryAttention", "q k v pk pv l t", "y zk zv");
    tw_onnx_write_domain(w, "com.microsoft");
    tw_onnx_write_int(w, "num_heads", HEADS);
    tw_onnx_write_int(w, "kv_num_heads", SHARED);
    if (window)
        tw_onnx_write_int(w, "local_window_size", window);
}

/* The standard's operators: rows into the caches, then attention over as many as there are. */
static void write_scattered(tw_onnx_writer *w, int rows, int window)
{
    const int64_t q[] = {1, HEADS, rows, SIZE}, k[] = {1, SHARED, rows, SIZE};
    const int64_t cache[] = {1, SHARED, SLOTS, SIZE}, one[] = {1}, before = -rows;
    tw_onnx_write_input(w, "q", ONNX_FLOAT, 4, q);
    tw_onnx_write_input(w, "k", ONNX_FLOAT, 4, k);
    tw_onnx_write_input(w, "v", ONNX_FLOAT, 4, k);
    tw_onnx_write_input(w, "l", ONNX_INT64, 1, one);
    tw_onnx_write_input(w, "pk", ONNX_FLOAT, 4, cache);
    tw_onnx_write_input(w, "pv", ONNX_FLOAT, 4, cache);
    tw_onnx_write_tensor(w, "rows", ONNX_INT64, 1, one, &before, sizeof before);
    tw_onnx_write_node(w, "Add", "l rows", "at");
    tw_onnx_write_node(w, "TensorScatter", "pk k at", "zk");
    tw_onnx_write_node(w, "TensorScatter", "pv v at", "zv");
    tw_onnx_write_node(w, "Attention", "q zk zv - - - l", "y");
    tw_onnx_write_int(w, "is_causal", 1);
    if (window)
        tw_onnx_write_int(w, "left_window_size", window - 1);
}

static void open_model(tw_session *s, tw_onnx_writer *w)
{
    static const tw_state_binding states[] = {{"zk", "pk"}, {"zv", "pv"}};
    tw_diag diag = {0};
    tw_compiled compiled;
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.states = states;
    options.state_count = 2;
    tw_onnx_write_output(w, "y", ONNX_FLOAT);
    tw_onnx_write_output(w, "zk", ONNX_FLOAT);
    tw_onnx_write_output(w, "zv", ONNX_FLOAT);
    if (!tw_test_try_compile_onnx(w, &options, &compiled, &diag) ||
        !tw_session_open(s, compiled.plan, compiled.plan_bytes, &diag))
        fail_msg("%s (%s): %s", diag.node, diag.operator_name, diag.message);
    tw_compiled_free(&compiled);
}

/* Rows [first, first + rows) as they come, or by heads. */
static void put_rows(float *to, const float *from, int heads, int first, int rows, bool by_heads)
{
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < rows; i++)
            memcpy(to + (by_heads ? h * rows + i : i * heads + h) * SIZE,
                   from + ((first + i) * heads + h) * SIZE, SIZE * sizeof *to);
}

static double attended(const tw_sequence *t, int token, int head, int window, int d)
{
    const int shared = head / (HEADS / SHARED),
              begin = window && token + 1 > window ? token + 1 - window : 0;
    double sum = 0, out = 0;
    for (int j = begin; j <= token; j++) {
        double dot = 0;
        for (int e = 0; e < SIZE; e++)
            dot += (double)t->q[token][head * SIZE + e] * (double)t->k[j][shared * SIZE + e];
        sum += exp(dot / 4);
        out += exp(dot / 4) * (double)t->v[j][shared * SIZE + d];
    }
    return out / sum;
}

static tw_status take(tw_session *s, const tw_sequence *t, int first, int rows, bool by_heads)
{
    const int64_t length = first + rows;
    const int32_t last = (int32_t)length - 1; /* as this operator counts */
    put_rows(tw_session_input(s, 0), t->q[0], HEADS, first, rows, by_heads);
    put_rows(tw_session_input(s, 1), t->k[0], SHARED, first, rows, by_heads);
    put_rows(tw_session_input(s, 2), t->v[0], SHARED, first, rows, by_heads);
    if (by_heads)
        memcpy(tw_session_input(s, 3), &length, sizeof length);
    else
        memcpy(tw_session_input(s, 3), &last, sizeof last);
    return tw_run(&s->context);
}

static void check(bool standard, int rows, int window)
{
    tw_session s = {0};
    tw_arena *arena = tw_arena_new();
    const tw_sequence *t = make_tokens(arena);
    tw_onnx_writer w = tw_onnx_write(arena, standard ? 25 : 17);
    (standard ? write_scattered : write_grouped)(&w, rows, window);
    open_model(&s, &w);
    int appends = 0, attentions = 0;
    for (uint32_t i = 0; i < s.model.step_count; i++) {
        appends += s.model.steps[i].operator_code == TW_OPCODE_append;
        attentions += s.model.steps[i].operator_code == TW_OPCODE_attention;
    }
    assert_int_equal(appends, 2);
    assert_int_equal(attentions, 1);
    assert_int_equal(tw_region_bytes(&s.model, TW_REGION_STATE),
                     2 * SHARED * SLOTS * SIZE * sizeof(float));
    assert_true(tw_region_bytes(&s.model, TW_REGION_FAST) < 16384); /* in place */
    for (int at = 0; at + rows <= SLOTS; at += rows) {
        assert_int_equal(take(&s, t, at, rows, standard), TW_OK);
        const float *y = tw_session_output(&s, 0);
        for (int i = 0; i < rows; i++)
            for (int h = 0; h < HEADS; h++)
                for (int d = 0; d < SIZE; d += 5) {
                    const float have = y[(standard ? h * rows + i : i * HEADS + h) * SIZE + d];
                    if (fabs((double)have - attended(t, at + i, h, window, d)) > 1e-5)
                        fail_msg("token %d, head %d: %g instead of %g", at + i, h, (double)have,
                                 attended(t, at + i, h, window, d));
                }
    }
    int64_t beyond = SLOTS + 1; /* there is no room */
    const int32_t last = SLOTS;
    if (standard)
        memcpy(tw_session_input(&s, 3), &beyond, sizeof beyond);
    else
        memcpy(tw_session_input(&s, 3), &last, sizeof last);
    assert_int_equal(tw_run(&s.context), TW_E_DATA);
    tw_session_close(&s);
    tw_arena_free(arena);
}

static void grouped_queries(void **state)
{
    (void)state;
    check(false, 1, 0);
    check(false, 4, 0);
    check(false, 1, 7);
    check(false, 5, 9);
}

static void scattered_rows(void **state)
{
    (void)state;
    check(true, 1, 0);
    check(true, 4, 0);
    check(true, 1, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grouped_queries),
        cmocka_unit_test(scattered_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
