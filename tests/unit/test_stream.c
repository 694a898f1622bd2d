/* Streaming conversion: a run for every hop of frames, held against the network on a whole clip run at
 * every position of the window. Equal to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "host/session.h"
#include "support/model_folder.h"
#include "tilewright/compiler.h"

typedef struct opened {
    tw_compiled compiled;
    tw_session session;
} opened;

static void require(bool ok, const tw_diag *diag, const char *what)
{
    char message[2048];
    tw_diag_text(diag, message, sizeof message);
    if (!ok)
        fail_msg("%s\nof %s", message, what);
}

static void open_model(const char *path, const tw_stream_spec *stream, const char *what, opened *o)
{
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    if (stream)
        options.stream = *stream;
    require(tw_compile_file(path, &options, &o->compiled, &diag), &diag, what);
    require(tw_session_open(&o->session, o->compiled.plan, o->compiled.plan_bytes, &diag), &diag,
            what);
}

static void close_model(opened *o)
{
    tw_session_close(&o->session);
    tw_compiled_free(&o->compiled);
}

/* Compile what must be refused; the message into `text`. */
static tw_code refusal(const char *path, const tw_stream_spec *stream, char *text, unsigned bytes)
{
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compiled compiled;
    tw_compile_options_default(&options);
    options.stream = *stream;
    assert_false(tw_compile_file(path, &options, &compiled, &diag));
    tw_compiled_free(&compiled);
    tw_diag_text(&diag, text, bytes);
    return diag.code;
}

static char *write_text(tw_arena *arena, const char *text)
{
    char *path = tw_strdup(arena, "/tmp/tilewright-stream-XXXXXX");
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    assert_int_equal(write(handle, text, strlen(text)), (ssize_t)strlen(text));
    close(handle);
    return path;
}

/* Elements of `rows` rows of axis `axis` of a dense tensor, and back: a frame of a clip need not be
 * contiguous in it. */
typedef struct layout {
    size_t outer, rows, inner; /* bytes of an index inside the axis */
} layout;

static layout layout_of(const tw_tensor *t, int axis)
{
    layout l = {1, (size_t)t->dim[axis], tw_dtype_bytes(t->dtype)};
    for (int k = 0; k < (int)t->rank; k++)
        *(k < axis ? &l.outer : k > axis ? &l.inner : &(size_t){0}) *= (size_t)t->dim[k];
    return l;
}

static void copy_rows(uint8_t *to, layout l, size_t to_row, const uint8_t *from, layout f,
                      size_t from_row, size_t rows)
{
    for (size_t i = 0; i < l.outer; i++)
        memcpy(to + (i * l.rows + to_row) * l.inner, from + (i * f.rows + from_row) * f.inner,
               rows * l.inner);
}

static uint8_t *random_frames(tw_arena *arena, const tw_tensor *t, size_t frames, size_t bytes,
                              uint64_t seed)
{
    uint8_t *data = tw_alloc(arena, frames * bytes + 8);
    for (size_t i = 0; i < frames * bytes / tw_dtype_bytes(t->dtype); i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (t->dtype == TW_F32)
            ((float *)(void *)data)[i] = (float)((double)(seed >> 40) / (1 << 23) - 1);
        else
            data[i] = (uint8_t)(seed >> 56);
    }
    return data;
}

/* The axis on which the stream's output has fewer rows; -1: it has all. */
static int shorter_axis(const tw_tensor *clip, const tw_tensor *hop)
{
    for (int k = 0; k < (int)clip->rank; k++)
        if (clip->dim[k] != hop->dim[k])
            return k;
    return -1;
}

static void expect_output(opened *clip, opened *hop, uint32_t i, const char *what, uint64_t run)
{
    const tw_tensor *a = tw_output_tensor(&clip->session.model, i);
    const tw_tensor *b = tw_output_tensor(&hop->session.model, i);
    tw_arena *arena = tw_arena_new();
    uint8_t *want = tw_alloc(arena, tw_tensor_bytes(a) + 1);
    uint8_t *have = tw_alloc(arena, tw_tensor_bytes(b) + 1);
    uint8_t *part = tw_alloc(arena, tw_tensor_bytes(b) + 1);
    const int axis = shorter_axis(a, b);
    assert_true(tw_is_dense(a) && tw_is_dense(b));
    memcpy(want, tw_session_output(&clip->session, i), tw_tensor_bytes(a));
    memcpy(have, tw_session_output(&hop->session, i), tw_tensor_bytes(b));
    if (axis < 0)
        memcpy(part, want, tw_tensor_bytes(b));
    else
        copy_rows(part, layout_of(b, axis), 0, want, layout_of(a, axis),
                  (size_t)(a->dim[axis] - b->dim[axis]), (size_t)b->dim[axis]);
    if (memcmp(part, have, tw_tensor_bytes(b)) != 0)
        fail_msg("output %u of run %d is not the clip's: %s", i, (int)run, what);
    tw_arena_free(arena);
}

/* Stream random frames and compare with the clip's network at every window that a run yields. */
static void compare(const char *clip_path, const char *path, const tw_stream_spec *spec, int runs,
                    const char *what)
{
    opened clip, hop;
    tw_diag diag = {0};
    tw_arena *arena = tw_arena_new();
    open_model(clip_path, NULL, what, &clip);
    open_model(path, spec, what, &hop);
    const tw_report_stream *r = &hop.compiled.report.stream;
    const tw_tensor *whole = tw_input_tensor(&clip.session.model, 0);
    const tw_tensor *few = tw_input_tensor(&hop.session.model, 0);
    layout l = layout_of(whole, spec->axis), f = layout_of(few, spec->axis), all = l;
    assert_int_equal(f.rows, r->hop);
    assert_int_equal(tw_region_bytes(&clip.session.model, TW_REGION_STATE), 0);
    runs += (int)r->first_run + (int)(l.rows / f.rows);
    all.rows = (size_t)runs * f.rows;
    const uint8_t *frames =
        random_frames(arena, whole, all.rows, l.outer * l.inner, (uint64_t)runs);
    int yielded = 0;
    for (int run = 1; run <= runs; run++) {
        copy_rows(tw_session_input(&hop.session, 0), f, 0, frames, all, (size_t)(run - 1) * f.rows,
                  f.rows);
        require(tw_session_run(&hop.session, &diag), &diag, what);
        assert_int_equal(hop.session.status, run < (int)r->first_run ? TW_NO_OUTPUT : TW_OK);
        const int64_t end = (int64_t)run * r->hop - (spec->history ? 0 : r->latency);
        if (hop.session.status != TW_OK || end < (int64_t)l.rows)
            continue;
        yielded++;
        copy_rows(tw_session_input(&clip.session, 0), l, 0, frames, all,
                  (size_t)(end - (int64_t)l.rows), l.rows);
        require(tw_session_run(&clip.session, &diag), &diag, what);
        for (uint32_t i = 0; i < clip.session.model.output_count; i++)
            expect_output(&clip, &hop, i, what, (uint64_t)run);
    }
    assert_true(yielded > 0);
    close_model(&clip);
    close_model(&hop);
    tw_arena_free(arena);
}

static void compare_text(const char *text, int axis, uint32_t hop, int runs)
{
    tw_arena *arena = tw_arena_new();
    const char *path = write_text(arena, text);
    compare(path, path, &(tw_stream_spec){.given = true, .axis = axis, .hop = hop}, runs, text);
    unlink(path);
    tw_arena_free(arena);
}

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
    compare_text(branches, 1, 0, 9);
    compare_text(branches, 1, 8, 9);
    compare_text(branches, 1, 36, 4);
}

/* Causal padding touches only what the newest frames of a long clip do not see. */
static const char causal[] =
    "graph \"causal\" {\n  input %x : f32[1,4,40]\n  const %w : f32[4,3,4] = random 1 -1 1\n"
    "  const %v : f32[4,3,4] = random 2 -1 1\n"
    "  %t = Transpose (%x) {perm=[0,2,1]}\n"
    "  %a = Conv (%t, %w) {pad_begin=[2], pad_end=[0]}\n  %r = Relu (%a)\n  %e = Add (%r, %t)\n"
    "  %c = Conv (%e, %v) {dilation=[4], pad_begin=[8], pad_end=[0]}\n  %d = Add (%c, %e)\n"
    "  %y = Transpose (%d) {perm=[0,2,1]}\n  output %y\n}\n";

static void test_causal(void **state)
{
    (void)state;
    compare_text(causal, 2, 1, 20);
    compare_text(causal, -1 + 3, 5, 20);
}

/* ---- refused ---- */

static void expect_refusal(const char *text, uint32_t hop, tw_code code, const char *part)
{
    char message[2048];
    tw_arena *arena = tw_arena_new();
    const char *path = write_text(arena, text);
    assert_int_equal(refusal(path, &(tw_stream_spec){.given = true, .axis = 1, .hop = hop}, message,
                             sizeof message),
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
        opened hop;
        compare(path, path, &(tw_stream_spec){.given = true, .axis = 1}, 60, "the wake word");
        compare(path, path, &(tw_stream_spec){.given = true, .axis = 1, .hop = 7}, 10, "by 7");
        open_model(path, &(tw_stream_spec){.given = true, .axis = 1}, "the wake word", &hop);
        assert_true(hop.compiled.report.macs * 8 <= hop.compiled.report.stream.clip_macs);
        close_model(&hop);
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
        assert_int_equal(refusal(path, &spec, message, sizeof message), TW_CODE_UNSUPPORTED);
        assert_non_null(strstr(message, "MirrorPad (MIRROR_PAD)"));
        assert_non_null(strstr(message, "(REDUCE_MIN)"));
        path = model_of(arena, "onnx/basic_pitch/model.onnx");
        assert_int_equal(refusal(path, &spec, message, sizeof message), TW_CODE_UNSUPPORTED);
        assert_non_null(strstr(message, "MirrorPad (Pad)"));
        assert_non_null(strstr(message, "(ReduceMin)"));
    }
    tw_arena_free(arena);
    if (!path)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branches), cmocka_unit_test(test_causal),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_wake_word),
        cmocka_unit_test(test_basic_pitch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
