/* The windows of a stream against the clip's network: see streams.h. */
#include "support/streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/kernel.h"

void tw_stream_require(bool ok, const tw_diag *diag, const char *what)
{
    char message[2048];
    tw_diag_text(diag, message, sizeof message);
    if (!ok)
        fail_msg("%s\nof %s", message, what);
}

void tw_stream_open(const char *path, const tw_stream_spec *stream, const char *what,
                    tw_streamed *o)
{
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    if (stream)
        options.stream = *stream;
    tw_stream_require(tw_compile_file(path, &options, &o->compiled, &diag), &diag, what);
    tw_stream_require(tw_session_open(&o->session, o->compiled.plan, o->compiled.plan_bytes, &diag),
                      &diag, what);
}

void tw_stream_close(tw_streamed *o)
{
    tw_session_close(&o->session);
    tw_compiled_free(&o->compiled);
}

/* Compile what must be refused; the message into `text`. */
tw_code tw_stream_refusal(const char *path, const tw_stream_spec *stream, char *text,
                          unsigned bytes)
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

char *tw_stream_write(tw_arena *arena, const char *text)
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

uint8_t *tw_stream_frames(tw_arena *arena, const tw_tensor *t, size_t frames, size_t bytes,
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

static void expect_output(tw_streamed *clip, tw_streamed *hop, uint32_t i, const char *what,
                          uint64_t run)
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
void tw_stream_compare(const char *clip_path, const char *path, const tw_stream_spec *spec,
                       int runs, const char *what)
{
    tw_streamed clip, hop;
    tw_diag diag = {0};
    tw_arena *arena = tw_arena_new();
    tw_stream_open(clip_path, NULL, what, &clip);
    tw_stream_open(path, spec, what, &hop);
    const tw_report_stream *r = &hop.compiled.report.stream;
    const tw_tensor *whole = tw_input_tensor(&clip.session.model, 0);
    const tw_tensor *few = tw_input_tensor(&hop.session.model, 0);
    layout l = layout_of(whole, spec->axis), f = layout_of(few, spec->axis), all = l;
    assert_int_equal(f.rows, r->hop);
    assert_int_equal(tw_region_bytes(&clip.session.model, TW_REGION_STATE), 0);
    runs += (int)r->first_run + (int)(l.rows / f.rows);
    all.rows = (size_t)runs * f.rows;
    const uint8_t *frames =
        tw_stream_frames(arena, whole, all.rows, l.outer * l.inner, (uint64_t)runs);
    int yielded = 0;
    for (int run = 1; run <= runs; run++) {
        copy_rows(tw_session_input(&hop.session, 0), f, 0, frames, all, (size_t)(run - 1) * f.rows,
                  f.rows);
        tw_stream_require(tw_session_run(&hop.session, &diag), &diag, what);
        assert_int_equal(hop.session.status, run < (int)r->first_run ? TW_NO_OUTPUT : TW_OK);
        const int64_t end = (int64_t)run * r->hop - (spec->history ? 0 : r->latency);
        if (hop.session.status != TW_OK || end < (int64_t)l.rows)
            continue;
        yielded++;
        copy_rows(tw_session_input(&clip.session, 0), l, 0, frames, all,
                  (size_t)(end - (int64_t)l.rows), l.rows);
        tw_stream_require(tw_session_run(&clip.session, &diag), &diag, what);
        for (uint32_t i = 0; i < clip.session.model.output_count; i++)
            expect_output(&clip, &hop, i, what, (uint64_t)run);
    }
    assert_true(yielded > 0);
    tw_stream_close(&clip);
    tw_stream_close(&hop);
    tw_arena_free(arena);
}

void tw_stream_compare_text(const char *text, int axis, uint32_t hop, int runs)
{
    tw_arena *arena = tw_arena_new();
    const char *path = tw_stream_write(arena, text);
    tw_stream_compare(path, path, &(tw_stream_spec){.given = true, .axis = axis, .hop = hop}, runs,
                      text);
    unlink(path);
    tw_arena_free(arena);
}
