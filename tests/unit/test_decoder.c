/* A decoder of a small language model over caches of 320 tokens: what it chooses against PyTorch's choices, with
 * caches in float and in int8, token by token and in chunks, from one plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "host/session.h"
#include "tilewright/compiler.h"

enum { TOKENS = 256, SLOTS = 320, CHUNK = 8, WORDS = 50 };

typedef struct tw_golden {
    int32_t token[TOKENS];
    int choice[TOKENS];
    float margin[TOKENS];
} tw_golden;

static void read_golden(tw_golden *g)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    void *data;
    size_t bytes;
    if (!tw_read_file(arena, "tests/data/decoder/golden.txt", 1 << 20, &data, &bytes, &diag))
        fail_msg("%s", diag.message);
    char *text = tw_strndup(arena, data, bytes), *at = strchr(text, '\n');
    for (int i = 0; i < TOKENS; i++) {
        assert_non_null(at);
        g->token[i] = (int32_t)strtol(at, &at, 10);
        g->choice[i] = (int)strtol(at, &at, 10);
        g->margin[i] = strtof(at, &at);
    }
    tw_arena_free(arena);
}

static void open_decoder(tw_session *s, const char *path, uint32_t *total)
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    tw_compile_options_default(&options);
    if (!tw_compile_file(path, &options, &compiled, &diag) ||
        !tw_session_open(s, compiled.plan, compiled.plan_bytes, &diag))
        fail_msg("%s", diag.message);
    *total = compiled.report.memory.total;
    tw_compiled_free(&compiled);
}

/* Take `count` tokens; the logits behind each, or null: refused. */
static const float *decode(tw_session *s, const int32_t *token, int32_t count)
{
    int32_t ids[CHUNK] = {0};
    memcpy(ids, token, sizeof *ids * (size_t)count);
    memcpy(tw_session_input(s, 0), ids, sizeof ids);
    memcpy(tw_session_input(s, 1), &count, sizeof count);
    return tw_run(&s->context) == TW_OK ? tw_session_output(s, 0) : NULL;
}

static int choice_of(const float *logits)
{
    int best = 0;
    for (int i = 1; i < WORDS; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

/* Choices that are PyTorch's; those by more than 1e-4 must be, in float. */
static int agreeing(tw_session *s, const tw_golden *g, bool exact)
{
    int same = 0;
    for (int t = 0; t < TOKENS; t++) {
        const float *logits = decode(s, &g->token[t], 1);
        assert_non_null(logits);
        const bool agrees = choice_of(logits) == g->choice[t];
        if (exact && !agrees && g->margin[t] > 1e-4f)
            fail_msg("token %d: %d instead of %d", t, choice_of(logits), g->choice[t]);
        same += agrees;
    }
    return same;
}

static void choices_are_pytorch_s(void **state)
{
    tw_golden g;
    uint32_t wide, narrow;
    (void)state;
    read_golden(&g);
    tw_session s;
    open_decoder(&s, "tests/data/decoder/decoder.twir", &wide);
    print_message("float caches: %d of %d, %u bytes of RAM\n", agreeing(&s, &g, true), TOKENS,
                  wide);
    tw_session_close(&s);
    open_decoder(&s, "tests/data/decoder/decoder_s8.twir", &narrow);
    const int same = agreeing(&s, &g, false);
    print_message("int8 caches: %d of %d, %u bytes of RAM\n", same, TOKENS, narrow);
    assert_true(same * 100 >= TOKENS * 98);
    assert_true(narrow * 3 < wide);
    tw_session_close(&s);
}

/* A prompt in chunks gives the bytes that it gives token by token, whatever its length. */
static void chunks_change_nothing(void **state)
{
    static const int prompts[] = {1, 5, 8, 13, 64};
    tw_golden g;
    uint32_t total;
    (void)state;
    read_golden(&g);
    tw_session one, many;
    open_decoder(&one, "tests/data/decoder/decoder_s8.twir", &total);
    open_decoder(&many, "tests/data/decoder/decoder_s8.twir", &total);
    for (size_t p = 0; p < sizeof prompts / sizeof *prompts; p++) {
        assert_int_equal(tw_rewind(&one.context, 0), TW_OK);
        assert_int_equal(tw_reset(&many.context), TW_OK);
        for (int t = 0; t < prompts[p]; t += CHUNK) {
            const int count = prompts[p] - t < CHUNK ? prompts[p] - t : CHUNK;
            const float *logits = decode(&many, g.token + t, count);
            assert_non_null(logits);
            for (int i = 0; i < count; i++)
                assert_memory_equal(decode(&one, g.token + t + i, 1), logits + i * WORDS,
                                    sizeof *logits * WORDS);
        }
        assert_memory_equal(decode(&one, g.token, 1), decode(&many, g.token, 1),
                            sizeof(float) * WORDS);
    }
    while (tw_tokens(&one.context) + CHUNK <= SLOTS)
        assert_non_null(decode(&one, g.token, CHUNK));
    assert_null(decode(&one, g.token, CHUNK));
    assert_int_equal(tw_run(&one.context), TW_E_FULL);
    tw_session_close(&one);
    tw_session_close(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_pytorch_s),
        cmocka_unit_test(chunks_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
