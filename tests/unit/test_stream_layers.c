/* Recurrent layers in streams with real history: what a run yields is what the network without padding gives for
 * all frames since the layer began; what cannot go on is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/plans.h"
#include "support/streams.h"

enum { CLIP = 24, CHANNELS = 3 };

/* A network over `frames` frames of CHANNELS numbers. `dropped`: rows that its second layer does not see. */
typedef struct tw_layered {
    const char *type,
        *body;          /* body: with FRAMES, ROWS and SEEN, which is ROWS less what is dropped */
    int stride, extent; /* of the rows that the first layer takes */
    int back; /* rows behind a fresh one that the second layer's rows need; 0: no second */
} tw_layered;

/* The text with its numbers. */
static const char *text_of(tw_arena *arena, const tw_layered *l, int frames, int dropped)
{
    const int rows = (frames - l->extent) / l->stride + 1;
    const char *text =
        tw_format(arena, "graph \"layers\" {\n  input %%x : %s\n%s}\n", l->type, l->body);
    const struct {
        const char *word;
        int number;
    } words[] = {{"FRAMES", frames},
                 {"ROWS", rows},
                 {"BEHIND", rows - l->back},
                 {"DROPPED", dropped},
                 {"SEEN", rows - l->back - dropped}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const char *at; (at = strstr(text, words[i].word)) != NULL;)
            text = tw_format(arena, "%.*s%d%s", (int)(at - text), text, words[i].number,
                             at + strlen(words[i].word));
    return text;
}

static void open_text(tw_arena *arena, const char *text, const tw_stream_spec *spec, tw_streamed *o)
{
    const char *path = tw_stream_write(arena, text);
    tw_stream_open(path, spec, text, o);
    unlink(path);
}

/* Runs until nothing comes in which the layers have begun, then all outputs of each. */
static void check(const tw_layered *l, int hop, int runs)
{
    const tw_stream_spec spec = {.given = true, .axis = 1, .hop = (uint32_t)hop, .history = true};
    const int fresh = hop / l->stride;
    const int unused = (CLIP - l->extent) % l->stride; /* of the clip's last frames */
    const int depth = (fresh - 1) * l->stride + l->extent + unused;
    const int first =
        (depth + hop - 1) / hop; /* the run, counted from 1, in which the layer begins */
    const int second = (first * hop + l->back * l->stride + hop - 1) / hop;
    const int dropped = l->back ? (second - first) * fresh - l->back : 0;
    const int begin = first * hop - depth;
    tw_streamed stream;
    tw_diag diag = {0};
    tw_arena *arena = tw_arena_new();
    open_text(arena, text_of(arena, l, CLIP, 0), &spec, &stream);
    const tw_tensor *few = tw_input_tensor(&stream.session.model, 0);
    const size_t frame = CHANNELS * tw_dtype_bytes(few->dtype);
    const uint8_t *frames = tw_stream_frames(arena, few, (size_t)runs * (size_t)hop, frame, 3);
    assert_int_equal(stream.compiled.report.stream.first_run, second);
    for (int run = 1; run <= runs; run++) {
        tw_streamed whole;
        memcpy(tw_session_input(&stream.session, 0),
               frames + (size_t)(run - 1) * (size_t)hop * frame, (size_t)hop * frame);
        tw_stream_require(tw_session_run(&stream.session, &diag), &diag, l->body);
        assert_int_equal(stream.session.status, run < second ? TW_NO_OUTPUT : TW_OK);
        if (run < second)
            continue;
        open_text(arena, text_of(arena, l, run * hop - begin, dropped), NULL, &whole);
        memcpy(tw_session_input(&whole.session, 0), frames + (size_t)begin * frame,
               (size_t)(run * hop - begin) * frame);
        tw_stream_require(tw_session_run(&whole.session, &diag), &diag, l->body);
        for (uint32_t i = 0; i < whole.session.model.output_count; i++) {
            const uint32_t all = tw_tensor_bytes(tw_output_tensor(&whole.session.model, i));
            const uint32_t part = tw_tensor_bytes(tw_output_tensor(&stream.session.model, i));
            const uint8_t *want = tw_session_output(&whole.session, i);
            if (memcmp(tw_session_output(&stream.session, i), want + (all - part), part) != 0)
                fail_msg("output %u of run %d of %d frames:\n%s", i, run, hop, l->body);
        }
        tw_stream_close(&whole);
    }
    tw_stream_close(&stream);
    tw_arena_free(arena);
}

/* ---- one layer ---- */

#define CONVOLVED                                                                                  \
    "  const %v : f32[4,3,3] = random 1 -1 1\n  %a = Conv (%x, %v) {stride=[2]}\n"                 \
    "  %t = Tanh (%a)\n"
#define WEIGHTS(gates)                                                                             \
    "  const %w : f32[" #gates ",5,4] = random 2 -1 1\n"                                           \
    "  const %r : f32[" #gates ",5,5] = random 3 -1 1\n"
#define SCORES                                                                                     \
    "  const %u : f32[2,5] = random 5 -1 1\n  %z = FullyConnected (%h, %u)\n  output %z\n"

/* The last state, and all results of a layer that begins from constants, are read; a layer without a
 * convolution in front. */
static const tw_layered alone[] = {
    {"f32[1,FRAMES,3]",
     CONVOLVED WEIGHTS(
         3) "  const %b : f32[2,3,5] = random 4 -1 1\n  %s, %h = Gru (%t, %w, %r, %b)\n" SCORES,
     2, 3, 0},
    {"f32[1,FRAMES,3]",
     CONVOLVED WEIGHTS(
         4) "  const %b : f32[4,5] = random 4 -1 1\n"
            "  const %i : f32[1,5] = random 6 -1 1\n  const %c : f32[1,5] = random 7 -1 1\n"
            "  %s, %h = Lstm (%t, %w, %r, %b, %i, %c)\n  output %s\n" SCORES,
     2, 3, 0},
    {"f32[1,FRAMES,3]",
     CONVOLVED WEIGHTS(
         4) "  const %p : f32[3,5] = random 8 -1 1\n"
            "  %s = PeepholeLstm (%t, %w, %r, _, _, _, _, %p) {clip=0.8}\n  output %s\n",
     2, 3, 0},
    {"f32[1,FRAMES,3]",
     "  const %w : f32[1,5,3] = random 2 -1 1\n  const %r : f32[1,5,5] = random 3 -1 1\n"
     "  %s, %h = Rnn (%x, %w, %r)\n  output %s\n  output %h\n",
     1, 1, 0},
    /* int8: what it knows at first is a zero point. */
    {"s8[1,FRAMES,3] quant(scale=0.03, zero=-20)",
     "  const %v : s8[4,3,3] quant(scale=0.01, zero=0) = random 1 -127 128\n"
     "  %a : s8[1,ROWS,4] quant(scale=0.05, zero=9) = Conv (%x, %v) {stride=[2]}\n"
     "  const %w : s8[4,5,4] quant(scale=0.01, zero=0) = random 2 -127 128\n"
     "  const %r : s8[4,5,5] quant(scale=0.01, zero=0) = random 3 -127 128\n"
     "  const %b : s32[4,5] = random 4 -1000 1000\n"
     "  const %i : s8[1,5] quant(scale=0.008, zero=-4) = [-4,-4,-4,-4,-4]\n"
     "  const %c : s16[1,5] quant(scale=0.00048828125, zero=0) = [0,0,0,0,0]\n"
     "  %s : s8[1,ROWS,5] quant(scale=0.008, zero=-4) = Lstm (%a, %w, %r, %b, %i, %c)\n"
     "  output %s\n",
     2, 3, 0},
    {"s8[1,FRAMES,3] quant(scale=0.03, zero=-20)",
     "  const %w : s8[3,5,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"
     "  const %r : s8[1,15,5] quant(scale=0.01, zero=0) = random 3 -127 128\n"
     "  %s : s8[1,FRAMES,5] quant(scale=0.008, zero=-4), "
     "%h : s8[1,5] quant(scale=0.008, zero=-4) = Gru (%x, %w, %r)\n  output %s\n  output %h\n",
     1, 1, 0},
    {"s8[1,FRAMES,3] quant(scale=0.03, zero=-20)",
     "  const %w : s8[4,5,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"
     "  const %r : s8[1,20,5] quant(scale=0.01, zero=0) = random 3 -127 128\n"
     "  const %p : f32[3,5] = random 8 -1 1\n"
     "  %s : s8[1,FRAMES,5] quant(scale=0.008, zero=-4) = "
     "PeepholeLstm (%x, %w, %r, _, _, _, _, %p)\n  output %s\n",
     1, 1, 0},
};

static void test_layers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        for (int hop = 2; hop <= 6; hop += 2)
            check(&alone[i], hop, 12);
    check(&alone[3], 1, 30);
    check(&alone[3], 5, 6);
}

/* ---- layers behind one another ---- */

/* The second begins later: its rows are made of several results of the first. */
static const tw_layered stacked = {
    "f32[1,FRAMES,3]",
    CONVOLVED WEIGHTS(
        4) "  %s = Lstm (%t, %w, %r)\n  const %k : f32[4,2,5] = random 8 -1 1\n"
           "  %d = Conv (%s, %k)\n  %e = Slice (%d) {begin=[0,DROPPED,0], size=[1,SEEN,4], "
           "step=[1,1,1]}\n"
           "  const %ww : f32[3,5,4] = random 9 -1 1\n  const %rr : f32[3,5,5] = random 10 -1 1\n"
           "  %q, %h = Gru (%e, %ww, %rr)\n  output %q\n" SCORES,
    2, 3, 1};

static void test_stack(void **state)
{
    (void)state;
    check(&stacked, 2, 10);
    check(&stacked, 4, 8);
    check(&stacked, 8, 5);
}

/* ---- resets, and what goes with a save ---- */

static void test_saved(void **state)
{
    enum { HOP = 2, RUNS = 20, HALF = 9 };
    const tw_stream_spec spec = {.given = true, .axis = 1, .hop = HOP, .history = true};
    tw_streamed stream;
    tw_diag diag = {0};
    float out[RUNS][2], again[RUNS][2];
    (void)state;
    tw_arena *arena = tw_arena_new();
    open_text(arena, text_of(arena, &alone[0], CLIP, 0), &spec, &stream);
    const uint32_t bytes = tw_saved_bytes(&stream.session.model);
    void *saved = tw_alloc(arena, bytes);
    const uint8_t *frames = tw_stream_frames(arena, tw_input_tensor(&stream.session.model, 0),
                                             RUNS * HOP, CHANNELS * sizeof(float), 3);
    for (int round = 0; round < 3; round++) { /* as it is; from a save on; from a reset on */
        float(*to)[2] = round ? again : out;
        if (round == 1)
            assert_int_equal(tw_restore(&stream.session.context, saved, bytes), TW_OK);
        if (round == 2)
            assert_int_equal(tw_reset(&stream.session.context), TW_OK);
        for (int run = round == 1 ? HALF : 0; run < RUNS; run++) {
            if (round == 0 && run == HALF)
                assert_int_equal(tw_save(&stream.session.context, saved, bytes), TW_OK);
            memcpy(tw_session_input(&stream.session, 0),
                   frames + (size_t)run * HOP * CHANNELS * sizeof(float),
                   HOP * CHANNELS * sizeof(float));
            tw_stream_require(tw_session_run(&stream.session, &diag), &diag, "saved");
            memset(to[run], 0, sizeof to[run]);
            if (stream.session.status == TW_OK)
                memcpy(to[run], tw_session_output(&stream.session, 0), sizeof to[run]);
            if (round)
                assert_memory_equal(again[run], out[run], sizeof out[run]);
        }
    }
    tw_stream_close(&stream);
    tw_arena_free(arena);
}

/* ---- refused ---- */

static void expect_refusal(const char *body, const char *part)
{
    char message[2048];
    const tw_stream_spec spec = {.given = true, .axis = 1, .history = true};
    tw_arena *arena = tw_arena_new();
    const char *path = tw_stream_write(
        arena, tw_format(arena, "graph \"g\" {\n  input %%x : f32[1,9,4]\n%s}\n", body));
    const tw_code code = tw_stream_refusal(path, &spec, message, sizeof message);
    if (code != TW_CODE_UNSUPPORTED || !strstr(message, part))
        fail_msg("'%s' is not in: %s", part, message);
    unlink(path);
    tw_arena_free(arena);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_refusal(
        WEIGHTS(3) "  input %n : s32[1]\n  %s, %h = Gru (%x, %w, %r, _, %n)\n  output %h\n",
        "(Gru): cannot be streamed along axis 1 of x: has a length of its own");
    expect_refusal(WEIGHTS(3) "  input %i : f32[1,5]\n  %s, %h = Gru (%x, %w, %r, _, _, %i)\n"
                              "  output %h\n",
                   "begins from a state that is computed or given");
    expect_refusal(WEIGHTS(4) "  %s, %h, %c = Lstm (%x, %w, %r)\n  output %s\n  output %c\n",
                   "(Lstm): cannot be streamed along axis 1 of x: gives the last cell");
    /* From the last frame to the first: a stream has no last one. */
    expect_refusal(WEIGHTS(3) "  %b = Slice (%x) {begin=[0,8,0], size=[1,9,4], step=[1,-1,1]}\n"
                              "  %s, %h = Gru (%b, %w, %r)\n  output %h\n",
                   "reverses time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
