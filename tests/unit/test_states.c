/* What survives a run: buffers of frames against a list of frames, caches of tokens against attention over the
 * full history, waiting runs, saving and restoring in between. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
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

static tw_status run(tw_session *session)
{
    tw_diag diag = {0};
    if (!tw_session_run(session, &diag))
        fail_msg("%s", diag.message);
    return session->status;
}

static float number(uint64_t *seed)
{
    return (float)(tw_test_random(seed) % 2001) / 1000.0f - 1.0f;
}

/* ---- buffers ---- */

enum { BLOCKING, LEFT, RIGHT, MOST = 8 };

/* The document's buffer: frames, oldest first. A frame is one number. */
typedef struct tw_frames {
    float frame[2 * MOST];
    int count, size, coming, stride, padding, mode;
    bool removed;
} tw_frames;

static void clear_frames(tw_frames *f)
{
    f->count = f->padding;
    f->removed = false;
    memset(f->frame, 0, sizeof f->frame);
}

/* What a run yields, or false: nothing. */
static bool add_frames(tw_frames *f, const float *x, float *out)
{
    if (f->count + f->coming > f->size) {
        const int drop = f->stride < f->count ? f->stride : f->count;
        memmove(f->frame, f->frame + drop, sizeof *f->frame * (size_t)(f->count - drop));
        f->count -= drop;
        f->removed = true;
    }
    memcpy(f->frame + f->count, x, sizeof *x * (size_t)f->coming);
    f->count += f->coming;
    memset(out, 0, sizeof *out * MOST);
    const int at = f->mode == RIGHT && !f->removed ? f->size - f->count : 0;
    memcpy(out + at, f->frame, sizeof *out * (size_t)f->count);
    return f->count == f->size || f->mode != BLOCKING;
}

/* Sixty runs; reset every `period` runs (0: never), alone and twice in a row. What a run leaves alone keeps
 * what it held. */
static void check_buffer(const tw_frames *like, int period, uint64_t bands)
{
    char text[800];
    tw_session s;
    tw_frames f = *like;
    float out[MOST] = {0}, expected[MOST] = {0};
    uint64_t seed = 5;
    (void)snprintf(text, sizeof text,
                   "graph \"b\" {\n  input %%x : f32[2,%d]\n  input %%r : bool[]\n"
                   "  %%n : f32[2,%d] = Neg (%%x)\n"
                   "  %%y = qti_aisw.Buffer (%%n, %%r) {buffer_size=%d, buffer_dim=1, "
                   "buffer_padding=%d, stride=%d, mode=%d}\n  %%z = Relu (%%y)\n"
                   "  %%w = Sub (%%y, %%z)\n  output %%y\n  output %%w\n}\n",
                   f.coming, f.coming, f.size, f.padding, f.stride, f.mode);
    open_network(&s, text, bands);
    clear_frames(&f);
    bool yielded = false;
    for (int i = 0; i < 60; i++) {
        float x[2 * MOST], first[MOST];
        const uint8_t reset = period && (i % period == 0 || i % (2 * period) == 1);
        for (int k = 0; k < f.coming; k++) {
            first[k] = number(&seed);
            x[k] = -first[k];
            x[f.coming + k] = first[k]; /* the second row is the first, negated */
        }
        put(&s, 0, x);
        put(&s, 1, &reset);
        if (reset)
            clear_frames(&f);
        const bool yields = add_frames(&f, first, out);
        assert_int_equal(run(&s), yields ? TW_OK : TW_NO_OUTPUT);
        if (yields)
            memcpy(expected, out, sizeof out);
        yielded |= yields;
        const float *y = tw_session_output(&s, 0), *w = tw_session_output(&s, 1);
        for (int k = 0; k < f.size && yielded; k++) {
            assert_true(y[k] == expected[k]);
            assert_true(y[f.size + k] == -expected[k]);
            assert_true(w[k] == (expected[k] < 0 ? expected[k] : 0));
        }
    }
    tw_session_close(&s);
}

static void buffers_are_lists_of_frames(void **state)
{
    static const int shapes[][4] = {/* coming, size, stride, padding */
                                    {1, 4, 1, 0}, {1, 4, 3, 1}, {1, 4, 4, 4}, {1, 1, 1, 0},
                                    {2, 6, 2, 0}, {2, 6, 4, 3}, {2, 6, 6, 5}, {3, 3, 3, 2},
                                    {1, 5, 2, 5}, {2, 8, 6, 1}};
    static const int periods[] = {0, 1, 7, 13};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int mode = BLOCKING; mode <= RIGHT; mode++) {
            const int *d = shapes[i];
            const tw_frames f = {
                .coming = d[0], .size = d[1], .stride = d[2], .padding = d[3], .mode = mode};
            for (size_t p = 0; p < sizeof periods / sizeof *periods; p++)
                check_buffer(&f, periods[p], (i + p) % 3);
        }
}

/* One buffer fills another: the second sees only what the first yields, and what does not wait runs
 * every time. */
static void buffers_stand_behind_each_other(void **state)
{
    static const char text[] =
        "graph \"two\" {\n  input %x : f32[1,1]\n  state %runs : f32[1,1]\n"
        "  const %one : f32[1,1] = [1]\n  %count = Add (%runs, %one)\n  next %runs = %count\n"
        "  %a = qti_aisw.Buffer (%x) {buffer_size=3, buffer_dim=1, stride=3}\n"
        "  %s = ReduceSum (%a) {axes=[1]}\n"
        "  %b = qti_aisw.Buffer (%s) {buffer_size=2, buffer_dim=1, stride=1}\n"
        "  %y = Mul (%b, %one)\n  %t = Mul (%count, %one)\n"
        "  output %y\n  output %t\n  output %runs\n}\n";
    (void)state;
    for (uint64_t bands = 0; bands < 3; bands++) {
        tw_session s;
        open_network(&s, text, bands);
        for (int i = 0; i < 30; i++) {
            const float x = (float)i;
            put(&s, 0, &x);
            const bool yields = i % 3 == 2 && i > 3;
            assert_int_equal(run(&s), yields ? TW_OK : TW_NO_OUTPUT);
            if (!yields)
                continue;
            const float *y = tw_session_output(&s, 0), *t = tw_session_output(&s, 1);
            assert_true(y[0] == 3 * (x - 4) && y[1] == 3 * (x - 1));
            assert_true(t[0] == (float)(i + 1));
            assert_true(*(const float *)tw_session_output(&s, 2) == (float)i);
        }
        tw_session_close(&s);
    }
}

/* ---- caches ---- */

enum { HEADS = 2, GROUPS = 2, WIDTH = 4, TOKENS = 1000 };

typedef struct tw_history {
    float q[TOKENS][GROUPS * HEADS * WIDTH], k[TOKENS][HEADS * WIDTH], v[TOKENS][HEADS * WIDTH];
} tw_history;

static tw_history *make_history(void)
{
    tw_history *h = malloc(sizeof *h);
    uint64_t seed = 3;
    float *all = (float *)h;
    assert_non_null(h);
    for (size_t i = 0; i < sizeof *h / sizeof *all; i++)
        all[i] = number(&seed);
    return h;
}

/* Attention over one layer's caches of `slots` rows, `chunk` tokens at most a run. */
static void open_cached(tw_session *s, int slots, int chunk, int window)
{
    char text[1600], ring[60] = "";
    if (window)
        (void)snprintf(ring, sizeof ring, "window=%d, ring=1", window);
    (void)snprintf(
        text, sizeof text,
        "graph \"a\" {\n  input %%q : f32[1,%d,%d,%d]\n  input %%k : f32[1,%d,%d,%d]\n"
        "  input %%v : f32[1,%d,%d,%d]\n  input %%n : s32[1]\n  state %%tokens : s32[1]\n"
        "  state %%keys : f32[1,%d,%d,%d]\n  state %%values : f32[1,%d,%d,%d]\n"
        "  %%kk = Append (%%keys, %%k, %%tokens, %%n) {ring=%d}\n"
        "  %%vv = Append (%%values, %%v, %%tokens, %%n) {ring=%d}\n"
        "  %%y = Attention (%%q, %%kk, %%vv, %%tokens, %%n) {%s}\n"
        "  %%t = Advance (%%tokens, %%n) {tokens=%d, limit=%d, kept=%d, window=%d}\n"
        "  next %%keys = %%kk\n  next %%values = %%vv\n  next %%tokens = %%t\n"
        "  output %%y\n}\n",
        GROUPS * HEADS, chunk, WIDTH, HEADS, chunk, WIDTH, HEADS, chunk, WIDTH, HEADS, slots, WIDTH,
        HEADS, slots, WIDTH, window > 0, window > 0, ring, chunk, window ? INT32_MAX : slots,
        window ? slots : 0, window ? window - 1 : 0);
    open_network(s, text, 0);
}

/* Rows [first, first + count) of [tokens][heads * width] as [heads, chunk, width]. */
static void put_rows(tw_session *s, uint32_t input, const float *rows, int heads, int first,
                     int count, int chunk)
{
    float *to = tw_session_input(s, input);
    memset(to, 0x7F, sizeof *to * (size_t)(heads * chunk * WIDTH));
    for (int h = 0; h < heads; h++)
        for (int i = 0; i < count; i++)
            memcpy(to + (h * chunk + i) * WIDTH, rows + ((first + i) * heads + h) * WIDTH,
                   sizeof *to * WIDTH);
    for (int i = 0; i < heads * chunk * WIDTH; i++) /* what is no token is a number all the same */
        to[i] = to[i] > 9 ? 9.0f : to[i];
}

static tw_status take_tokens(tw_session *s, const tw_history *h, int first, int32_t count,
                             int chunk)
{
    put_rows(s, 0, h->q[0], GROUPS * HEADS, first, count, chunk);
    put_rows(s, 1, h->k[0], HEADS, first, count, chunk);
    put_rows(s, 2, h->v[0], HEADS, first, count, chunk);
    put(s, 3, &count);
    return tw_run(&s->context);
}

/* Attention over the full history: `queries` heads of them over HEADS heads of keys. */
static void check_heads(const float *y, const tw_history *h, int first, int count, int chunk,
                        int window, int queries)
{
    for (int g = 0; g < queries; g++)
        for (int i = 0; i < count; i++) {
            const int end = first + i + 1, begin = window && end > window ? end - window : 0;
            const int head = g / (queries / HEADS);
            double sum = 0, out[WIDTH] = {0};
            for (int j = begin; j < end; j++) {
                double dot = 0;
                for (int d = 0; d < WIDTH; d++)
                    dot +=
                        (double)h->q[first + i][g * WIDTH + d] * (double)h->k[j][head * WIDTH + d];
                const double weight = exp(dot / 2);
                sum += weight;
                for (int d = 0; d < WIDTH; d++)
                    out[d] += weight * (double)h->v[j][head * WIDTH + d];
            }
            for (int d = 0; d < WIDTH; d++)
                if (fabs(out[d] / sum - (double)y[(g * chunk + i) * WIDTH + d]) > 1e-5)
                    fail_msg("token %d, head %d: %g instead of %g", first + i, g,
                             (double)y[(g * chunk + i) * WIDTH + d], out[d] / sum);
        }
}

static void check_tokens(tw_session *s, const tw_history *h, int first, int count, int chunk,
                         int window)
{
    check_heads(tw_session_output(s, 0), h, first, count, chunk, window, GROUPS * HEADS);
}

/* A thousand tokens, one and several at a time, with rewinds and a save on the way. */
static void check_history(int slots, int chunk, int window)
{
    tw_history *h = make_history();
    tw_session s;
    uint64_t seed = (uint64_t)chunk;
    open_cached(&s, slots, chunk, window);
    const uint32_t bytes = tw_saved_bytes(&s.model);
    uint8_t *blob = tw_alloc(s.arena, bytes);
    int at = 0, saved = -1;
    for (int runs = 0; at < TOKENS; runs++) {
        const int most = TOKENS - at < chunk ? TOKENS - at : chunk;
        const int count = runs % 4 == 3 ? 1 : 1 + (int)(tw_test_random(&seed) % (uint64_t)most);
        assert_int_equal(take_tokens(&s, h, at, count, chunk), TW_OK);
        check_tokens(&s, h, at, count, chunk, window);
        at += count;
        assert_int_equal(tw_tokens(&s.context), at);
        if (runs % 97 == 60 && at > 3 * chunk) { /* back by as much as a ring allows */
            const int back = window ? slots - window + 1 : chunk;
            at -= back < at ? back : at;
            assert_int_equal(tw_rewind(&s.context, (uint32_t)at), TW_OK);
        }
        if (runs == 150)
            assert_int_equal(tw_save(&s.context, blob, bytes), TW_OK), saved = at;
        if (runs == 170) {
            assert_int_equal(tw_restore(&s.context, blob, bytes), TW_OK);
            at = saved;
        }
    }
    tw_session_close(&s);
    free(h);
}

static void caches_are_the_history(void **state)
{
    (void)state;
    check_history(TOKENS, 1, 0);
    check_history(TOKENS, 5, 0);
    check_history(24, 1, 24);
    check_history(40, 8, 17);
}

static void a_full_cache_changes_nothing(void **state)
{
    (void)state;
    tw_history *h = make_history();
    tw_session s;
    open_cached(&s, 10, 4, 0);
    const uint32_t bytes = tw_saved_bytes(&s.model);
    uint8_t *before = tw_alloc(s.arena, bytes), *after = tw_alloc(s.arena, bytes);
    assert_int_equal(take_tokens(&s, h, 0, 4, 4), TW_OK);
    assert_int_equal(take_tokens(&s, h, 4, 4, 4), TW_OK);
    assert_int_equal(tw_save(&s.context, before, bytes), TW_OK);
    assert_int_equal(take_tokens(&s, h, 8, 3, 4), TW_E_FULL);
    assert_int_equal(take_tokens(&s, h, 8, -1, 4), TW_E_DATA);
    assert_int_equal(take_tokens(&s, h, 8, 5, 4), TW_E_DATA);
    assert_int_equal(tw_save(&s.context, after, bytes), TW_OK);
    assert_memory_equal(before, after, bytes);
    assert_int_equal(take_tokens(&s, h, 8, 2, 4), TW_OK);
    check_tokens(&s, h, 8, 2, 4, 0);
    assert_int_equal(take_tokens(&s, h, 10, 1, 4), TW_E_FULL);
    assert_int_equal(tw_rewind(&s.context, 11), TW_E_ARGUMENT);
    assert_int_equal(tw_rewind(&s.context, 3), TW_OK);
    assert_int_equal(take_tokens(&s, h, 3, 2, 4), TW_OK);
    check_tokens(&s, h, 3, 2, 4, 0);
    assert_int_equal(tw_reset(&s.context), TW_OK);
    assert_int_equal(tw_tokens(&s.context), 0);
    tw_session_close(&s);
    /* a ring keeps what its window needs, and no more */
    open_cached(&s, 10, 2, 6);
    for (int t = 0; t < 20; t++)
        assert_int_equal(take_tokens(&s, h, t, 1, 2), TW_OK);
    assert_int_equal(tw_rewind(&s.context, 14), TW_E_ARGUMENT);
    assert_int_equal(tw_rewind(&s.context, 15), TW_OK);
    assert_int_equal(take_tokens(&s, h, 15, 2, 2), TW_OK);
    check_tokens(&s, h, 15, 2, 2, 6);
    assert_int_equal(tw_rewind(&s.context, 0), TW_OK);
    assert_int_equal(take_tokens(&s, h, 0, 2, 2), TW_OK);
    check_tokens(&s, h, 0, 2, 2, 6);
    tw_session_close(&s);
    free(h);
}

static int fail_at(void *user, tw_context *context, const tw_firing *firing)
{
    (void)context;
    return firing->step == *(uint32_t *)user;
}

/* Two contexts of one plan know nothing of each other; states have names; a callback that fails in
 * mid-run leaves the context dirty. */
static void states_are_a_context_s_own(void **state)
{
    (void)state;
    tw_history *h = make_history();
    tw_session s;
    open_cached(&s, 16, 2, 0);
    assert_int_equal(tw_state_count(&s.model), 3);
    assert_string_equal(tw_state_name(&s.model, 0), "tokens");
    assert_string_equal(tw_state_name(&s.model, 2), "values");
    assert_null(tw_state_name(&s.model, 3));
    assert_int_equal(tw_state_tensor(&s.model, 1)->dim[2], 16);
    assert_null(tw_state_data(&s.context, 3));
    tw_context first = s.context;
    tw_memory memory[TW_MAX_REGIONS - 1];
    memcpy(memory, s.memory, sizeof memory);
    memory[TW_REGION_STATE - 1].base =
        tw_alloc(s.arena, s.memory[TW_REGION_STATE - 1].bytes + TW_PLAN_ALIGN);
    assert_int_equal(tw_init(&s.context, &s.model, memory, TW_MAX_REGIONS - 1), TW_OK);
    for (int t = 0; t < 6; t++) { /* by turns, the second three tokens behind */
        tw_context second = s.context;
        s.context = first;
        assert_int_equal(take_tokens(&s, h, t, 1, 2), TW_OK);
        check_tokens(&s, h, t, 1, 2, 0);
        first = s.context;
        s.context = second;
        if (t < 3)
            continue;
        assert_int_equal(take_tokens(&s, h, t - 3, 1, 2), TW_OK);
        check_tokens(&s, h, t - 3, 1, 2, 0);
    }
    assert_int_equal(tw_tokens(&first), 6);
    assert_int_equal(tw_tokens(&s.context), 3);
    uint32_t step = 1;
    tw_set_hook(&s.context, fail_at, &step);
    assert_int_equal(take_tokens(&s, h, 3, 1, 2), TW_E_CALLBACK);
    assert_int_equal(tw_rewind(&s.context, 1), TW_E_DIRTY);
    tw_set_hook(&s.context, NULL, NULL);
    assert_int_equal(take_tokens(&s, h, 3, 1, 2), TW_E_DIRTY);
    assert_int_equal(tw_reset(&s.context), TW_OK);
    *(int32_t *)tw_state_data(&s.context, 0) = -5; /* a state that no run leaves */
    assert_int_equal(take_tokens(&s, h, 0, 1, 2), TW_E_DATA);
    *(int32_t *)tw_state_data(&s.context, 0) = INT32_MAX;
    assert_int_equal(take_tokens(&s, h, 0, 1, 2), TW_E_FULL);
    tw_session_close(&s);
    free(h);
}

/* The same attention in the published wrappers: its scores are masked by the position. */
static void check_wrappers(int tokens, int window, int runs)
{
    char text[2000], cache[100] = "max_cache_len=60", mask[100] = "";
    tw_history *h = make_history();
    tw_session s;
    if (window) {
        (void)snprintf(cache, sizeof cache, "is_sliding=true, sliding_window=%d", window);
        (void)snprintf(mask, sizeof mask, "is_sliding=true, sliding_window=%d", window);
    }
    (void)snprintf(text, sizeof text,
                   "graph \"w\" {\n  input %%q : f32[1,%d,%d,%d]\n  input %%k : f32[1,%d,%d,%d]\n"
                   "  input %%v : f32[1,%d,%d,%d]\n"
                   "  %%kk = mobilint.StatefulKVCacheWrapper (%%k) {cache_name=\"k\", %s}\n"
                   "  %%vv = mobilint.StatefulKVCacheWrapper (%%v) {cache_name=\"v\", %s}\n"
                   "  %%kt = mobilint.Transpose (%%kk) {transpose_axes=[0,1,3,2]}\n"
                   "  %%s = mobilint.MatMul (%%q, %%kt)\n"
                   "  %%c = mobilint.MultiplyConstant (%%s) {constant=[0.5]}\n"
                   "  %%m = mobilint.StatefulAttentionMaskWrapper (%%c) {%s}\n"
                   "  %%p = mobilint.Softmax (%%m) {axis=3}\n"
                   "  %%y = mobilint.MatMul (%%p, %%vv)\n  output %%y\n}\n",
                   HEADS, tokens, WIDTH, HEADS, tokens, WIDTH, HEADS, tokens, WIDTH, cache, cache,
                   mask);
    open_network(&s, text, 0);
    for (int i = 0; i < runs; i++) {
        /* one query a head of keys here: those of the first of each group */
        float *q = tw_session_input(&s, 0);
        for (int head = 0; head < HEADS; head++)
            for (int t = 0; t < tokens; t++)
                memcpy(q + (head * tokens + t) * WIDTH, h->q[i * tokens + t] + head * WIDTH,
                       sizeof *q * WIDTH);
        put_rows(&s, 1, h->k[0], HEADS, i * tokens, tokens, tokens);
        put_rows(&s, 2, h->v[0], HEADS, i * tokens, tokens, tokens);
        assert_int_equal(tw_run(&s.context), !window && (i + 1) * tokens > 60 ? TW_E_FULL : TW_OK);
        if (!window && (i + 1) * tokens > 60)
            break;
        check_heads(tw_session_output(&s, 0), h, i * tokens, tokens, tokens, window, HEADS);
    }
    assert_int_equal(tw_rewind(&s.context, 0), TW_OK);
    tw_session_close(&s);
    free(h);
}

static void wrappers_are_the_history(void **state)
{
    (void)state;
    check_wrappers(1, 0, 61);
    check_wrappers(4, 0, 16);
    check_wrappers(1, 7, 40);
    check_wrappers(3, 5, 30);
}

/* Tables are read at the position, which the cache moves on; a convolution finds its last frames. */
static void wrappers_know_their_position(void **state)
{
    static const char text[] =
        "graph \"r\" {\n  input %x : f32[1,1,2,4]\n  input %c : f32[1,1,20,4]\n"
        "  input %s : f32[1,1,20,4]\n"
        "  %r = mobilint.StatefulRoPEWrapper (%x, %c, %s) {rope_type=1}\n"
        "  %h = mobilint.StatefulCausalConvCacheWrapper (%x) {cache_name=\"h\", cache_len=3}\n"
        "  output %r\n  output %h\n}\n";
    (void)state;
    tw_session s;
    uint64_t seed = 4;
    float cosine[20][4], sine[20][4], x[24][4] = {{0}};
    open_network(&s, text, 2);
    for (int t = 0; t < 80; t++) {
        cosine[t / 4][t % 4] = number(&seed);
        sine[t / 4][t % 4] = number(&seed);
        x[3 + t / 4][t % 4] = number(&seed);
    }
    for (int t = 0; t < 20; t += 2) {
        put(&s, 0, x[3 + t]);
        put(&s, 1, cosine);
        put(&s, 2, sine);
        assert_int_equal(run(&s), TW_OK);
        const float *r = tw_session_output(&s, 0);
        for (int i = 0; i < 8; i++) {
            const int at = t + i / 4, d = i % 4;
            const float other = d % 2 ? x[3 + at][d - 1] : -x[3 + at][d + 1];
            assert_true(fabsf(r[i] - (x[3 + at][d] * cosine[at][d] + other * sine[at][d])) < 1e-6f);
        }
        assert_memory_equal(tw_session_output(&s, 1), x[t], sizeof x[0] * 5);
    }
    assert_int_equal(tw_run(&s.context), TW_E_FULL);
    tw_session_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_are_lists_of_frames),
        cmocka_unit_test(buffers_stand_behind_each_other),
        cmocka_unit_test(caches_are_the_history),
        cmocka_unit_test(a_full_cache_changes_nothing),
        cmocka_unit_test(states_are_a_context_s_own),
        cmocka_unit_test(wrappers_are_the_history),
        cmocka_unit_test(wrappers_know_their_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
