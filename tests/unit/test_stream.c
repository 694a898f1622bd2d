/* Streaming conversion: a run for every hop of frames, held against the network on a whole clip run at
 * every position of the window; what is refused; a long run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "import/import.h"
#include "ops/op.h"
#include "support/model_folder.h"
#include "support/reference.h"
#include "support/streams.h"
#include "normalize/pass.h"

/* ---- written out ---- */

/* Look-ahead, a residual edge that waits for the convolution beside it, two strides, a pooling over
 * time, a result. */
static const char branches[] =
    "graph \"branches\" {\n  input %x : f32[1,37,4]\n"
    "  const %w : f32[6,5,4] = random 1 -1 1\n  const %b : f32[6] = random 2 -1 1\n"
    "  const %v : f32[6,3,6] = random 3 -1 1\n  const %u : f32[3,6] = random 4 -1 1\n"
    "  %a = Conv (%x, %w, %b) {stride=[2]}\n  %r = Relu (%a)\n"
    "  %c = Conv (%r, %v) {dilation=[2]}\n"
    "  %s = Slice (%r) {begin=[0,2,0], size=[1,13,6], step=[1,1,1]}\n"
    "  %d = Add (%c, %s)\n  %p = MaxPool (%d) {kernel=[3], stride=[2]}\n"
    "  %m = ReduceMean (%p) {axes=[1], keepdims=0}\n"
    "  %f = FullyConnected (%m, %u)\n  %y = Softmax (%f) {axis=1}\n  output %y\n  output %p\n}\n";

static void test_branches(void **state)
{
    (void)state;
    tw_stream_compare_text(branches, 1, 0, 9);
    tw_stream_compare_text(branches, 1, 8, 9);
    tw_stream_compare_text(branches, 1, 36, 4);
}

/* Causal padding touches only what the newest frames of a long clip do not see. */
static const char causal[] =
    "graph \"causal\" {\n  input %x : f32[1,4,40]\n  const %w : f32[4,3,4] = random 1 -1 1\n"
    "  const %v : f32[4,3,4] = random 2 -1 1\n"
    "  %t = Transpose (%x) {perm=[0,2,1]}\n"
    "  %a = Conv (%t, %w) {pad_begin=[2], pad_end=[0]}\n  %r = Relu (%a)\n  %e = Add (%r, %t)\n"
    "  %c = Conv (%e, %v) {dilation=[4], pad_begin=[8], pad_end=[0]}\n  %d = Add (%c, %e)\n"
    "  %y = Transpose (%d) {perm=[0,2,1]}\n  output %y\n}\n";

/* Of which only the last frame counts. */
static const char last_frame[] =
    "graph \"last\" {\n  input %x : f32[1,40,4]\n  const %w : f32[4,3,4] = random 1 -1 1\n"
    "  const %u : f32[2,4] = random 2 -1 1\n"
    "  %a = Conv (%x, %w) {dilation=[2], pad_begin=[4], pad_end=[0]}\n  %r = Relu (%a)\n"
    "  %l = Slice (%r) {begin=[0,39,0], size=[1,1,4], step=[1,1,1]}\n"
    "  %y = FullyConnected (%l, %u)\n  output %y\n}\n";

static void test_causal(void **state)
{
    (void)state;
    tw_stream_compare_text(last_frame, 1, 1, 10);
    tw_stream_compare_text(last_frame, 1, 4, 10);
    tw_stream_compare_text(causal, 2, 1, 20);
    tw_stream_compare_text(causal, -1 + 3, 5, 20);
}

/* A recurrent layer begins anew in every window; only what stands before it is kept. */
static const char recurrent[] =
    "graph \"recurrent\" {\n  input %x : f32[1,24,3]\n  const %v : f32[4,3,3] = random 1 -1 1\n"
    "  const %w : f32[3,5,4] = random 2 -1 1\n  const %r : f32[3,5,5] = random 3 -1 1\n"
    "  const %b : f32[2,3,5] = random 4 -1 1\n  const %u : f32[2,5] = random 5 -1 1\n"
    "  %a = Conv (%x, %v) {stride=[2]}\n  %t = Tanh (%a)\n"
    "  %s, %h = Gru (%t, %w, %r, %b)\n  %y = FullyConnected (%h, %u)\n  output %y\n}\n";

static void test_recurrent(void **state)
{
    (void)state;
    tw_stream_compare_text(recurrent, 1, 0, 12);
    tw_stream_compare_text(recurrent, 1, 6, 5);
}

/* ---- refused ---- */

static void expect_refusal(const char *text, uint32_t hop, tw_code code, const char *part)
{
    char message[2048];
    tw_arena *arena = tw_arena_new();
    const char *path = tw_stream_write(arena, text);
    assert_int_equal(tw_stream_refusal(path,
                                       &(tw_stream_spec){.given = true, .axis = 1, .hop = hop},
                                       message, sizeof message),
                     code);
    if (!strstr(message, part))
        fail_msg("'%s' is not in: %s", part, message);
    unlink(path);
    tw_arena_free(arena);
}

static void test_refusals(void **state)
{
    static const char head[] = "graph \"g\" {\n  input %x : f32[1,20,4]\n"
                               "  const %w : f32[4,3,4] = random 1 -1 1\n";
    (void)state;
    tw_arena *arena = tw_arena_new();
#define REFUSED(body, part)                                                                        \
    expect_refusal(tw_format(arena, "%s%s  output %%y\n}\n", head, body), 0, TW_CODE_UNSUPPORTED,  \
                   part)
    REFUSED("  %a = Conv (%x, %w) {pad_begin=[1], pad_end=[1]}\n"
            "  %y = ReduceMean (%a) {axes=[1]}\n",
            "--stream-padding history");
    REFUSED("  %y = Conv (%x, %w) {pad_begin=[1], pad_end=[1]}\n", "pads time with zeros");
    REFUSED("  %y = Pad (%x) {before=[0,2,0], after=[0,2,0], mode=reflect}\n", "mirror image");
    REFUSED("  %m = ReduceMin (%x) {axes=[1]}\n  %y = Sub (%x, %m)\n", "(ReduceMin)");
    REFUSED("  %y = CumSum (%x) {axis=1}\n", "(CumSum)");
    REFUSED("  const %c : f32[1,20,1] = random 2 -1 1\n  %y = Add (%x, %c)\n", "every frame");
    expect_refusal(branches, 6, TW_CODE_USAGE, "a multiple of 4 frames");
    expect_refusal(branches, 40, TW_CODE_USAGE, "at most");
#undef REFUSED
    tw_arena_free(arena);
}

/* ---- models ---- */

static const char *model_of(tw_arena *arena, const char *name)
{
    const char *data = tw_test_data(arena, "models");
    return data ? tw_format(arena, "%s/models/%s", data, name) : NULL;
}

static void test_wake_word(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *path = model_of(arena, "tflite/mlperf_streaming_wakeword_int8/model.tflite");
    if (path) {
        tw_streamed hop;
        tw_stream_compare(path, path, &(tw_stream_spec){.given = true, .axis = 1}, 60,
                          "the wake word");
        tw_stream_compare(path, path, &(tw_stream_spec){.given = true, .axis = 1, .hop = 7}, 10,
                          "by 7");
        tw_stream_open(path, &(tw_stream_spec){.given = true, .axis = 1}, "the wake word", &hop);
        assert_true(hop.compiled.report.macs * 8 <= hop.compiled.report.stream.clip_macs);
        tw_stream_close(&hop);
    }
    tw_arena_free(arena);
    if (!path)
        skip();
}

/* The network with VALID padding in time, on as many frames as its pooling over time asks for. */
static tw_graph *without_padding(tw_arena *arena, const char *path, int32_t frames)
{
    tw_diag diag = {0};
    tw_compile_options options;
    tw_import_options import = {.input_shapes = NULL};
    const char *format;
    tw_compile_options_default(&options);
    tw_graph *g = tw_import(arena, path, &import, &format, &diag);
    tw_stream_require(g && tw_normalize(g, &options, &diag), &diag, path);
    g->inputs[0]->shape.dim[1] = frames;
    for (int n = 0; n < g->node_count; n++) {
        tw_node *node = g->nodes[n];
        tw_ints *before = tw_ints_of(node, "pad_begin"), *after = tw_ints_of(node, "pad_end");
        tw_shape_call call = {.op = node->op,
                              .node = node->name,
                              .in_count = node->in_count,
                              .out_count = node->out_count,
                              .in = node->in,
                              .attributes = node->attributes,
                              .out = &node->out[0]->shape,
                              .diag = &diag};
        if (before && before->count)
            before->v[0] = 0;
        if (after && after->count)
            after->v[0] = 0;
        tw_stream_require((node->op->shape ? node->op->shape : tw_shape_default)(&call), &diag,
                          path);
    }
    return g;
}

static void test_keywords(void **state)
{
    enum { WINDOW = 74, RUNS = 60, HOP = 2, FRAME = 10 };
    char message[2048];
    const tw_stream_spec zeros = {.given = true, .axis = 1},
                         history = {.given = true, .axis = 1, .history = true};
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *path = model_of(arena, "tflite/mlperf_kws_int8/model.tflite");
    if (path) {
        tw_streamed hop;
        tw_diag diag = {0};
        assert_int_equal(tw_stream_refusal(path, &zeros, message, sizeof message),
                         TW_CODE_UNSUPPORTED);
        assert_non_null(strstr(message, "Conv2D1 (CONV_2D)"));
        assert_non_null(strstr(message, "--stream-padding history"));
        tw_graph *valid = without_padding(arena, path, WINDOW);
        tw_stream_open(path, &history, path, &hop);
        const tw_report_stream *r = &hop.compiled.report.stream;
        assert_int_equal(r->window, WINDOW);
        assert_int_equal(r->hop, HOP);
        const uint8_t *frames =
            tw_stream_frames(arena, tw_input_tensor(&hop.session.model, 0), RUNS * HOP, FRAME, 5);
        for (int run = 1; run <= RUNS; run++) {
            memcpy(tw_session_input(&hop.session, 0), frames + (run - 1) * HOP * FRAME,
                   HOP * FRAME);
            tw_stream_require(tw_session_run(&hop.session, &diag), &diag, path);
            assert_int_equal(hop.session.status, run * HOP < WINDOW ? TW_NO_OUTPUT : TW_OK);
            if (run * HOP < WINDOW)
                continue;
            const void *in = frames + (run * HOP - WINDOW) * FRAME, *want;
            tw_stream_require(tw_reference_run(valid, arena, &in, &want, 0, &diag), &diag, path);
            assert_memory_equal(tw_session_output(&hop.session, 0), want, 12);
        }
        tw_stream_close(&hop);
    }
    tw_arena_free(arena);
    if (!path)
        skip();
}

/* A cache of frames that a model takes and gives back is the plan's own: what the model computes from the
 * six frames before. */
static void test_cache(void **state)
{
    enum { FRAMES = 30, PAST = 6, CHANNELS = 8 };
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *path = model_of(arena, "torch-own/causal_tcn/model.onnx");
    if (path) {
        tw_streamed one, hop;
        tw_diag diag = {0};
        tw_stream_open(path, NULL, path, &one);
        tw_stream_open(path, &(tw_stream_spec){.given = true, .axis = 2}, path, &hop);
        assert_int_equal(hop.session.model.input_count, 1);
        assert_int_equal(hop.session.model.output_count, 1);
        const tw_tensor *frame = tw_input_tensor(&hop.session.model, 0);
        const float *frames =
            (void *)tw_stream_frames(arena, frame, FRAMES, CHANNELS * sizeof(float), 7);
        for (int t = 0; t < FRAMES; t++) {
            float *cache = tw_session_input(&one.session, 1);
            for (int k = 0; k < PAST; k++)
                for (int c = 0; c < CHANNELS; c++)
                    cache[c * PAST + k] = t + k < PAST ? 0 : frames[(t + k - PAST) * CHANNELS + c];
            memcpy(tw_session_input(&one.session, 0), frames + t * CHANNELS, sizeof(float) * 8);
            memcpy(tw_session_input(&hop.session, 0), frames + t * CHANNELS, sizeof(float) * 8);
            tw_stream_require(tw_session_run(&one.session, &diag), &diag, path);
            tw_stream_require(tw_session_run(&hop.session, &diag), &diag, path);
            assert_int_equal(hop.session.status, TW_OK);
            assert_memory_equal(tw_session_output(&hop.session, 0),
                                tw_session_output(&one.session, 0), sizeof(float) * CHANNELS);
        }
        tw_stream_close(&one);
        tw_stream_close(&hop);
    }
    tw_arena_free(arena);
    if (!path)
        skip();
}

static void test_basic_pitch(void **state)
{
    char message[2048];
    const tw_stream_spec spec = {.given = true, .axis = 1};
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *path = model_of(arena, "tflite/basic_pitch/model.tflite");
    if (path) {
        assert_int_equal(tw_stream_refusal(path, &spec, message, sizeof message),
                         TW_CODE_UNSUPPORTED);
        assert_non_null(strstr(message, "MirrorPad (MIRROR_PAD)"));
        assert_non_null(strstr(message, "(REDUCE_MIN)"));
        path = model_of(arena, "onnx/basic_pitch/model.onnx");
        assert_int_equal(tw_stream_refusal(path, &spec, message, sizeof message),
                         TW_CODE_UNSUPPORTED);
        assert_non_null(strstr(message, "MirrorPad (Pad)"));
        assert_non_null(strstr(message, "(ReduceMin)"));
    }
    tw_arena_free(arena);
    if (!path)
        skip();
}

/* ---- a day ---- */

/* Runs without end forget: after very many the state is what a context has that began a window ago. By
 * TILEWRIGHT_STREAM_RUNS, 8,640,000 for a day of frames of 10 ms. */
static void test_long_run(void **state)
{
    enum { FRAME = 4, HOP = 4, RING = 1021 };
    const char *given = getenv("TILEWRIGHT_STREAM_RUNS");
    const uint64_t runs = given ? strtoull(given, NULL, 10) : 86400, late = 30;
    tw_diag diag = {0};
    tw_streamed day, fresh;
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *path = tw_stream_write(arena, branches);
    const tw_stream_spec spec = {.given = true, .axis = 1, .hop = HOP};
    tw_stream_open(path, &spec, branches, &day);
    tw_stream_open(path, &spec, branches, &fresh);
    const uint32_t bytes = tw_saved_bytes(&day.session.model);
    const size_t block = HOP * FRAME * sizeof(float);
    const uint8_t *frames =
        tw_stream_frames(arena, tw_input_tensor(&day.session.model, 0), RING, block, 9);
    uint8_t *a = tw_alloc(arena, bytes), *b = tw_alloc(arena, bytes);
    assert_true(late >= day.compiled.report.stream.first_run && runs > late);
    for (uint64_t run = 0; run < runs; run++) {
        const uint8_t *frame = frames + (run % RING) * block;
        memcpy(tw_session_input(&day.session, 0), frame, block);
        tw_stream_require(tw_session_run(&day.session, &diag), &diag, path);
        if (run < runs - late)
            continue;
        memcpy(tw_session_input(&fresh.session, 0), frame, block);
        tw_stream_require(tw_session_run(&fresh.session, &diag), &diag, path);
    }
    assert_int_equal(tw_save(&day.session.context, a, bytes), TW_OK);
    assert_int_equal(tw_save(&fresh.session.context, b, bytes), TW_OK);
    assert_memory_equal(a, b, bytes);
    for (uint32_t i = 0; i < day.session.model.output_count; i++)
        assert_memory_equal(tw_session_output(&day.session, i),
                            tw_session_output(&fresh.session, i),
                            tw_tensor_bytes(tw_output_tensor(&day.session.model, i)));
    tw_stream_close(&day);
    tw_stream_close(&fresh);
    unlink(path);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branches),  cmocka_unit_test(test_causal),
        cmocka_unit_test(test_recurrent), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_wake_word), cmocka_unit_test(test_keywords),
        cmocka_unit_test(test_cache),     cmocka_unit_test(test_basic_pitch),
        cmocka_unit_test(test_long_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
