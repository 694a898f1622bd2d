/* Models beside a file of cases, through the whole compiler. */
#include "support/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/number.h"
#include "host/compare.h"
#include "host/session.h"
#include "tilewright/compiler.h"

enum { MOST = 16, SEEDS = 2 };

typedef struct tw_case {
    tw_arena *arena;
    const char *folder, *file;
    tw_tolerance tolerance;
    tw_named in[MOST], out[MOST];
    int in_count, out_count;
    bool refused, failed;
} tw_case;

tw_named tw_named_read(tw_arena *arena, const char *title, char *text)
{
    tw_named t = {.name = strtok(text, " ")};
    char *type = strtok(NULL, " "), *bracket = type ? strchr(type, '[') : NULL;
    if (!bracket)
        fail_msg("%s: %s: no type", title, text);
    *bracket = 0;
    int32_t dim[TW_MAX_RANK];
    int rank = 0;
    for (char *at = bracket + 1; *at != ']'; at += *at == ',')
        dim[rank++] = (int32_t)strtol(at, &at, 10);
    t.shape = tw_shape_of(tw_dtype_from_name(type), rank, dim);
    size_t size = tw_dtype_bytes(t.shape.dtype);
    t.data = tw_alloc(arena, tw_shape_bytes(&t.shape) + 1);
    strtok(NULL, " "); /* = */
    for (int64_t i = 0; i < tw_shape_elements(&t.shape); i++) {
        const char *number = strtok(NULL, " ");
        if (!number || tw_number_parse(t.shape.dtype, number, (char *)t.data + (size_t)i * size) !=
                           TW_NUMBER_OK)
            fail_msg("%s: %s: '%s' is no %s", title, t.name, number ? number : "", type);
    }
    return t;
}

static void complain(tw_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(tw_case *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", c->file);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    c->failed = true;
}

static void complain_diag(tw_case *c, const tw_diag *diag)
{
    c->refused = diag->code == TW_CODE_UNSUPPORTED;
    if (c->refused && !getenv("TW_SUITE_LIST"))
        c->failed = true;
    else
        complain(c, "%s (%s): %s", diag->node, diag->operator_name, diag->message);
}

/* --- running ----------------------------------------------------------------------------------- */

/* By name, or by position where the names are not the model's. */
static const tw_named *input_for(const tw_case *c, const char *name, uint32_t position)
{
    for (int i = 0; i < c->in_count; i++)
        if (strcmp(c->in[i].name, name) == 0)
            return &c->in[i];
    return position < (uint32_t)c->in_count ? &c->in[position] : NULL;
}

static bool feed(tw_case *c, tw_session *s)
{
    for (uint32_t i = 0; i < s->model.input_count; i++) {
        const tw_tensor *record = tw_input_tensor(&s->model, i);
        const tw_named *in = input_for(c, s->input_names[i], i);
        tw_shape shape = tw_shape_of((tw_dtype)record->dtype, record->rank, record->dim);
        if (!in || !tw_shape_equal(&shape, &in->shape)) {
            complain(c, "input %s has another shape", s->input_names[i]);
            return false;
        }
        memcpy(tw_session_input(s, i), in->data, tw_shape_bytes(&shape));
    }
    return true;
}

/* Output i, dense; compared with what is expected. */
static const void *judge(tw_case *c, tw_session *s, uint32_t i)
{
    const tw_tensor *record = tw_output_tensor(&s->model, i);
    const tw_named *want = &c->out[i];
    tw_shape shape = tw_shape_of((tw_dtype)record->dtype, record->rank, record->dim);
    void *got = tw_alloc(c->arena, tw_shape_bytes(&shape) + 1);
    char have[96], expected[96];
    tw_gather(record, tw_session_output(s, i), got);
    tw_shape_text(&shape, have, sizeof have);
    tw_shape_text(&want->shape, expected, sizeof expected);
    tw_difference d = tw_no_difference();
    if (strcmp(have, expected) != 0)
        complain(c, "output %s is %s, expected %s", want->name, have, expected);
    else if (!tw_compare(shape.dtype, tw_shape_elements(&shape), got, want->data, &c->tolerance, 0,
                         &d))
        complain(c, "output %s: %lld of %lld differ; number %lld is %.9g, expected %.9g",
                 want->name, (long long)d.differing, (long long)tw_shape_elements(&shape),
                 (long long)d.first, d.got, d.want);
    return got;
}

static bool run(tw_case *c, uint64_t seed, const void **outputs)
{
    tw_compiled compiled;
    tw_session session;
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.random_bands = seed;
    bool opened = tw_compile_file(tw_format(c->arena, "%s/%s", c->folder, c->file), &options,
                                  &compiled, &diag) &&
                  tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag);
    bool ok = opened && feed(c, &session) && tw_session_run(&session, &diag);
    if (diag.code != TW_CODE_OK)
        complain_diag(c, &diag);
    if (ok && session.model.output_count != (uint32_t)c->out_count)
        complain(c, "%u outputs, %d are expected", session.model.output_count, c->out_count);
    for (uint32_t i = 0; ok && !c->failed && i < session.model.output_count; i++)
        outputs[i] = judge(c, &session, i);
    if (opened)
        tw_session_close(&session);
    tw_compiled_free(&compiled);
    return !c->failed;
}

static void run_case(tw_case *c)
{
    const void *whole[MOST], *banded[MOST];
    bool ok = run(c, 0, whole);
    for (uint64_t seed = 1; ok && seed <= SEEDS; seed++) {
        ok = run(c, seed, banded);
        for (int i = 0; ok && i < c->out_count; i++)
            if (memcmp(whole[i], banded[i], tw_shape_bytes(&c->out[i].shape)) != 0)
                complain(c, "bands of seed %d change output %s", (int)seed, c->out[i].name);
    }
}

/* --- reading ----------------------------------------------------------------------------------- */

/* FILE [RTOL ATOL] */
static void begin_case(tw_case *c, const char *folder, char *text)
{
    *c = (tw_case){.arena = tw_arena_new(), .folder = folder, .tolerance = {1e-4, 1e-5, 0}};
    c->file = strtok(text, " ");
    const char *rtol = strtok(NULL, " "), *atol = strtok(NULL, " ");
    if (rtol && atol)
        c->tolerance = (tw_tolerance){strtod(rtol, NULL), strtod(atol, NULL), 0};
}

static void add_tensor(tw_case *c, bool output, char *text)
{
    int *count = output ? &c->out_count : &c->in_count;
    if (*count == MOST)
        fail_msg("%s: too many tensors", c->file);
    (output ? c->out : c->in)[(*count)++] = tw_named_read(c->arena, c->file, text);
}

tw_cases_result tw_cases_run(const char *folder)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_case c = {.arena = NULL};
    void *data;
    size_t bytes;
    tw_cases_result result = {0, 0, 0};
    if (!tw_read_file(arena, tw_format(arena, "%s/cases.txt", folder), 1 << 26, &data, &bytes,
                      &diag))
        fail_msg("%s", diag.message);
    for (char *line = data, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (strncmp(line, "case ", 5) == 0) {
            begin_case(&c, folder, line + 5);
        } else if (strncmp(line, "in ", 3) == 0 || strncmp(line, "out ", 4) == 0) {
            add_tensor(&c, *line == 'o', strchr(line, ' ') + 1);
        } else if (strcmp(line, "end") == 0) {
            run_case(&c);
            result.refused += c.refused;
            result.failed += c.failed && !c.refused;
            result.passed += !c.failed;
            tw_arena_free(c.arena);
        }
    }
    tw_arena_free(arena);
    return result;
}
