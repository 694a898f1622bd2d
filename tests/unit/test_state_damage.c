/* States that no run has left: bytes damaged in memory, blobs damaged or of another plan, resets in mid-stream and
 * callbacks that fail in mid-run. Every run ends with a status, nothing outside the arenas is touched, and what is
 * refused changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "support/plans.h"

enum { RUNS = 40 };

#define CACHED(name, ring, window, limit, kept)                                                    \
    "graph \"" name "\" {\n  input %q : f32[1,4,2,4]\n  input %k : f32[1,2,2,4]\n"                 \
    "  input %v : f32[1,2,2,4]\n  input %n : s32[1]\n  state %tokens : s32[1]\n"                   \
    "  state %keys : f32[1,2,10,4]\n  state %values : f32[1,2,10,4]\n"                             \
    "  %kk = Append (%keys, %k, %tokens, %n) {ring=" ring "}\n"                                    \
    "  %vv = Append (%values, %v, %tokens, %n) {ring=" ring "}\n"                                  \
    "  %y = Attention (%q, %kk, %vv, %tokens, %n) {ring=" ring ", window=" window "}\n"            \
    "  %t = Advance (%tokens, %n) {tokens=2, limit=" limit ", kept=" kept "}\n"                    \
    "  next %keys = %kk\n  next %values = %vv\n  next %tokens = %t\n  output %y\n}\n"
#define BUFFERED(name, mode)                                                                       \
    "graph \"" name "\" {\n  input %x : f32[2,3]\n  input %r : bool[]\n"                           \
    "  %y = qti_aisw.Buffer (%x, %r) {buffer_size=9, buffer_dim=1, stride=6, mode=" mode "}\n"     \
    "  %z = Relu (%y)\n  output %z\n}\n"

/* Caches plain and as a ring, buffers of every mode, a recurrent layer, runs counted down. */
static const char *const networks[] = {
    CACHED("plain", "0", "0", "10", "0"),
    CACHED("ring", "1", "6", "2147483647", "10"),
    BUFFERED("blocking", "0"),
    BUFFERED("left", "1"),
    BUFFERED("right", "2"),
    "graph \"layer\" {\n  input %x : f32[3,2,3]\n  input %r : bool[]\n"
    "  const %w : f32[1,16,3] = random 1 -1 1\n  const %u : f32[1,16,4] = random 2 -1 1\n"
    "  %y = qti_aisw.StatefulLstm (%x, %w, %u, _, _, _, _, _, %r) {hidden_size=4}\n  output "
    "%y\n}\n",
    "graph \"waits\" {\n  input %x : f32[1,2,3]\n  state %kept : f32[1,6,3]\n"
    "  state %left : s32[1] = [2]\n  %h = History (%kept, %x) {axis=1}\n"
    "  %l, %ready = Countdown (%left)\n  %m = ReduceMean (%h) {axes=[1]}\n"
    "  %y = Await (%m, %ready)\n  next %kept = %h\n  next %left = %l\n  output %y\n}\n",
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static void open_network(tw_session *s, const char *text)
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    tw_compile_options_default(&options);
    tw_test_compile(text, &options, &compiled);
    assert_true(tw_session_open(s, compiled.plan, compiled.plan_bytes, &diag));
    tw_compiled_free(&compiled);
}

/* Inputs as they may come: numbers, tokens that there are, a reset now and then. */
static tw_status run(tw_session *s, uint64_t *seed)
{
    for (uint32_t i = 0; i < s->model.input_count; i++) {
        const tw_tensor *t = tw_input_tensor(&s->model, i);
        if (t->dtype == TW_S32)
            *(int32_t *)tw_session_input(s, i) = (int32_t)(tw_test_random(seed) % 3);
        else if (t->dtype == TW_BOOL)
            *(uint8_t *)tw_session_input(s, i) = tw_test_random(seed) % 5 == 0;
        else
            tw_test_fill(t, tw_session_input(s, i), seed);
    }
    return tw_run(&s->context);
}

static bool is_known(tw_status status)
{
    return status == TW_OK || status == TW_NO_OUTPUT || status == TW_E_DATA ||
           status == TW_E_FULL || status == TW_E_DIRTY;
}

/* A save as it is now. */
static uint8_t *saved(tw_session *s)
{
    const uint32_t bytes = tw_saved_bytes(&s->model);
    uint8_t *blob = tw_alloc(s->arena, bytes);
    assert_int_equal(tw_save(&s->context, blob, bytes), TW_OK);
    return blob;
}

static void damaged_bytes_harm_nobody(void **state)
{
    static const int32_t edges[] = {-1, 0, 1, 9, 10, 11, INT32_MAX, INT32_MIN, 1 << 30};
    (void)state;
    for (int n = 0; n < NETWORKS; n++) {
        tw_session s = {0};
        uint64_t seed = (uint64_t)n + 3;
        open_network(&s, networks[n]);
        for (int round = 0; round < 200; round++) {
            assert_int_equal(tw_reset(&s.context), TW_OK);
            for (uint32_t i = 0; i < tw_state_count(&s.model); i++) {
                uint8_t *at = tw_state_data(&s.context, i);
                const uint32_t bytes = tw_tensor_bytes(tw_state_tensor(&s.model, i));
                for (uint32_t b = 0; b < bytes && round % 3; b++)
                    at[b] = (uint8_t)tw_test_random(&seed);
                if (bytes == 4 && round % 2)
                    memcpy(at, &edges[tw_test_random(&seed) % 9], 4);
            }
            for (int i = 0; i < 5; i++)
                assert_true(is_known(run(&s, &seed)));
        }
        /* and it is as good as new */
        assert_int_equal(tw_reset(&s.context), TW_OK);
        const tw_status status = run(&s, &seed);
        assert_true(status == TW_OK || status == TW_NO_OUTPUT);
        tw_session_close(&s);
    }
}

/* Blobs of another plan, even one of as many bytes, cut short, or with a bit turned. */
static void foreign_blobs_are_refused(void **state)
{
    (void)state;
    tw_session s[NETWORKS] = {{0}};
    uint8_t *blob[NETWORKS];
    uint64_t seed = 9;
    for (int n = 0; n < NETWORKS; n++) {
        open_network(&s[n], networks[n]);
        assert_true(is_known(run(&s[n], &seed)));
        blob[n] = saved(&s[n]);
    }
    assert_int_equal(tw_saved_bytes(&s[0].model), tw_saved_bytes(&s[1].model));
    for (int n = 0; n < NETWORKS; n++) {
        const uint32_t bytes = tw_saved_bytes(&s[n].model);
        for (int other = 0; other < NETWORKS; other++)
            if (other != n)
                assert_int_equal(
                    tw_restore(&s[n].context, blob[other], tw_saved_bytes(&s[other].model)),
                    TW_E_STATE);
        for (uint32_t cut = 0; cut < bytes; cut++) {
            uint8_t *part = malloc(cut + 1); /* not a byte more may be read */
            assert_non_null(part);
            memcpy(part, blob[n], cut);
            assert_int_equal(tw_restore(&s[n].context, part, cut), TW_E_STATE);
            free(part);
        }
        for (uint32_t i = 0; i < bytes; i++) {
            blob[n][i] ^= (uint8_t)(1u << i % 8);
            assert_int_equal(tw_restore(&s[n].context, blob[n], bytes), TW_E_STATE);
            blob[n][i] ^= (uint8_t)(1u << i % 8);
        }
        assert_memory_equal(saved(&s[n]), blob[n], bytes);
        assert_int_equal(tw_restore(&s[n].context, blob[n], bytes), TW_OK);
    }
    for (int n = 0; n < NETWORKS; n++)
        tw_session_close(&s[n]);
}

/* After a reset anywhere a context is as a new one. */
static void resets_in_mid_stream(void **state)
{
    (void)state;
    for (int n = 0; n < NETWORKS; n++) {
        tw_session used = {0}, fresh = {0};
        open_network(&used, networks[n]);
        for (int runs = 0; runs < RUNS; runs += 7) {
            uint64_t seed = 5, one = 77, other = 77;
            open_network(&fresh, networks[n]);
            for (int i = 0; i < runs; i++)
                (void)run(&used, &seed);
            (void)tw_run_some(&used.context, 1); /* given up in its midst */
            assert_int_equal(tw_reset(&used.context), TW_OK);
            for (int i = 0; i < 8; i++) {
                assert_int_equal(run(&used, &one), run(&fresh, &other));
                if (used.context.flags == 0)
                    assert_memory_equal(saved(&used), saved(&fresh), tw_saved_bytes(&used.model));
            }
            tw_session_close(&fresh);
        }
        tw_session_close(&used);
    }
}

typedef struct tw_failing {
    uint32_t left;
} tw_failing;

static int fail_late(void *user, tw_context *context, const tw_firing *firing)
{
    tw_failing *f = user;
    (void)context;
    (void)firing;
    return f->left-- == 0;
}

/* A callback that fails at any firing: nothing runs until the state is known again. */
static void callbacks_that_fail(void **state)
{
    (void)state;
    for (int n = 0; n < NETWORKS; n++) {
        tw_session s = {0};
        uint64_t seed = 21;
        open_network(&s, networks[n]);
        for (int i = 0; i < 3; i++)
            (void)run(&s, &seed);
        const uint32_t bytes = tw_saved_bytes(&s.model);
        uint8_t *before = saved(&s), *after = tw_alloc(s.arena, bytes);
        uint64_t same = seed;
        const tw_status wanted = run(&s, &same);
        uint8_t *then = saved(&s);
        for (uint32_t at = 0;; at++) {
            tw_failing f = {at};
            assert_int_equal(tw_restore(&s.context, before, bytes), TW_OK);
            tw_set_hook(&s.context, fail_late, &f);
            same = seed;
            const tw_status status = run(&s, &same);
            tw_set_hook(&s.context, NULL, NULL);
            if (status != TW_E_CALLBACK) {
                assert_int_equal(status, wanted);
                break;
            }
            assert_int_equal(run(&s, &same), TW_E_DIRTY);
            assert_int_equal(tw_save(&s.context, after, bytes), TW_E_DIRTY);
            assert_int_equal(tw_restore(&s.context, before, bytes), TW_OK);
            same = seed;
            assert_int_equal(run(&s, &same), wanted);
            assert_memory_equal(saved(&s), then, bytes);
        }
        tw_session_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_bytes_harm_nobody),
        cmocka_unit_test(foreign_blobs_are_refused),
        cmocka_unit_test(resets_in_mid_stream),
        cmocka_unit_test(callbacks_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
