/* The ONNX project's own operator tests through the whole compiler and runtime: those that Debian
 * packages (libonnx-testdata) and the current ones (onnx-node-tests under the test data), where they
 * are installed. A model is right, or it is refused as unsupported; anything else fails this test:
 * a wrong result, another error, a result that changes when the steps are split into bands. Inputs
 * are offered to the compiler, which takes those that fix shapes, and no others.
 *
 * With TW_SUITE_LIST set, prints a line a test: PASS, UNSUPPORTED (why) or what went wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "host/compare.h"
#include "host/session.h"
#include "import/tensor_file.h"
#include "support/archive.h"
#include "tilewright/compiler.h"

enum { MOST = 64 };

typedef enum tw_outcome { PASS, UNSUPPORTED, FAILED, WRONG, OUTCOMES } tw_outcome;
static const char *const outcome_names[] = {"PASS", "UNSUPPORTED", "FAILED", "WRONG"};

typedef struct tw_test {
    tw_arena *arena;
    const char *folder;
    tw_tensor_data in[MOST], out[MOST];
    int in_count, out_count;
    bool readable; /* every tensor of the test is one */
    char why[2048];
} tw_test;

static bool file_exists(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f)
        fclose(f);
    return f != NULL;
}

/* test_data_set_0/KIND_0.pb and on. */
static int read_tensors(tw_test *t, const char *kind, tw_tensor_data *tensors)
{
    int count = 0;
    for (; count < MOST; count++) {
        tw_diag diag = {0};
        const char *path =
            tw_format(t->arena, "%s/test_data_set_0/%s_%d.pb", t->folder, kind, count);
        if (!file_exists(path))
            break;
        if (!tw_tensor_read(t->arena, path, NULL, &tensors[count], &diag)) {
            t->readable = false;
            snprintf(t->why, sizeof t->why, "%s %d: %s", kind, count, diag.message);
        }
    }
    return count;
}

static const tw_tensor_data *find_input(const tw_test *t, const char *name, uint32_t position)
{
    for (int i = 0; i < t->in_count; i++)
        if (strcmp(t->in[i].name, name) == 0)
            return &t->in[i];
    /* Old tests have files without names; nothing of theirs is taken by the compiler. */
    return position < (uint32_t)t->in_count && !t->in[position].name[0] ? &t->in[position] : NULL;
}

/* Is the file's tensor what the plan's record says? */
static bool matches(const tw_tensor_data *file, const tw_tensor *record)
{
    return file->shape.dtype == record->dtype && file->shape.rank == record->rank &&
           memcmp(file->shape.dim, record->dim, sizeof *record->dim * record->rank) == 0;
}

static tw_outcome refuse(tw_test *t, const tw_diag *diag)
{
    tw_diag_text(diag, t->why, sizeof t->why);
    return diag->code == TW_CODE_UNSUPPORTED ? UNSUPPORTED : FAILED;
}

static tw_outcome compile(tw_test *t, uint64_t bands, tw_compiled *compiled)
{
    tw_offered_input offered[MOST];
    for (int i = 0; i < t->in_count; i++) {
        const tw_tensor_data *in = &t->in[i];
        offered[i] = (tw_offered_input){
            .name = in->name, .dtype = in->shape.dtype, .rank = in->shape.rank, .data = in->data};
        memcpy(offered[i].dim, in->shape.dim, sizeof offered[i].dim);
    }
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.random_bands = bands;
    options.offered = offered;
    options.offered_count = t->readable ? t->in_count : 0;
    tw_diag diag = {0};
    const char *model = tw_format(t->arena, "%s/model.onnx", t->folder);
    return tw_compile_file(model, &options, compiled, &diag) ? PASS : refuse(t, &diag);
}

static bool feed(tw_test *t, tw_session *s)
{
    for (uint32_t i = 0; i < s->model.input_count; i++) {
        const tw_tensor *record = tw_input_tensor(&s->model, i);
        const tw_tensor_data *data = find_input(t, s->input_names[i], i);
        if (!data || !matches(data, record)) {
            snprintf(t->why, sizeof t->why, "input '%s' and the file for it do not match",
                     s->input_names[i]);
            return false;
        }
        memcpy(tw_session_input(s, i), data->data, data->bytes);
    }
    return true;
}

/* Compare every output; keep the bytes of all for comparing runs. */
static tw_outcome judge(tw_test *t, tw_session *s, uint8_t **all, size_t *bytes)
{
    static const tw_tolerance tolerance = {1e-3, 1e-7, 0};
    *bytes = 0;
    *all = tw_alloc(t->arena, 1);
    for (uint32_t i = 0; i < s->model.output_count; i++) {
        const tw_tensor *record = tw_output_tensor(&s->model, i);
        const tw_tensor_data *want = &t->out[i];
        if ((int)i >= t->out_count || !matches(want, record)) {
            snprintf(t->why, sizeof t->why, "output %u has another type or shape", i);
            return WRONG;
        }
        uint8_t *dense = tw_alloc(t->arena, *bytes + want->bytes + 1);
        memcpy(dense, *all, *bytes);
        tw_gather(record, tw_output(&s->context, i), dense + *bytes);
        tw_difference d = tw_no_difference();
        if (!tw_compare((tw_dtype)record->dtype, tw_shape_elements(&want->shape), dense + *bytes,
                        want->data, &tolerance, 0, &d)) {
            snprintf(t->why, sizeof t->why,
                     "output %u: %lld elements differ, number %lld is %.9g, expected %.9g", i,
                     (long long)d.differing, (long long)d.first, d.got, d.want);
            return WRONG;
        }
        *all = dense;
        *bytes += want->bytes;
    }
    return PASS;
}

static tw_outcome run(tw_test *t, uint64_t bands, uint8_t **all, size_t *bytes)
{
    tw_compiled compiled;
    tw_session session;
    tw_diag diag = {0};
    tw_outcome outcome = compile(t, bands, &compiled);
    if (outcome == PASS && !t->readable)
        outcome = FAILED;
    if (outcome == PASS) {
        if (!tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag)) {
            outcome = refuse(t, &diag);
        } else if (!feed(t, &session)) {
            outcome = FAILED;
        } else if (!tw_session_run(&session, &diag)) {
            outcome = refuse(t, &diag);
        } else {
            outcome = judge(t, &session, all, bytes);
        }
        tw_session_close(&session);
    }
    tw_compiled_free(&compiled);
    return outcome;
}

static tw_outcome try_test(const char *folder)
{
    tw_test t = {.arena = tw_arena_new(), .folder = folder, .readable = true};
    t.in_count = read_tensors(&t, "input", t.in);
    t.out_count = read_tensors(&t, "output", t.out);
    uint8_t *whole, *banded;
    size_t bytes, again;
    tw_outcome outcome = run(&t, 0, &whole, &bytes);
    if (outcome == PASS) {
        outcome = run(&t, 1, &banded, &again);
        if (outcome == PASS && (again != bytes || memcmp(whole, banded, bytes) != 0)) {
            snprintf(t.why, sizeof t.why, "bands change the result");
            outcome = WRONG;
        }
    }
    if (outcome > UNSUPPORTED || getenv("TW_SUITE_LIST"))
        fprintf(outcome > UNSUPPORTED ? stderr : stdout, "%s %s%s%s\n", outcome_names[outcome],
                folder, *t.why ? ": " : "", outcome == PASS ? "" : t.why);
    tw_arena_free(t.arena);
    return outcome;
}

/* --- folders of tests -------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Tests whose own data is wrong: Debian's BFLOAT16 ones hold UINT16 tensors, some without their
 * shape, cut off where the operator rounds (the current tests have it right). */
static bool is_excluded(const char *root, const char *name)
{
    return strstr(root, "libonnx-testdata") && strstr(name, "BFLOAT16");
}

/* Every folder in `root` that holds a model; `least` of them must pass. */
static void run_folder(const char *root, int least)
{
    tw_arena *arena = tw_arena_new();
    const char **names = NULL;
    int count = 0, capacity = 0, counts[OUTCOMES] = {0};
    DIR *dir = opendir(root);
    if (!dir) {
        fprintf(stderr, "SKIPPED: %s is not there\n", root);
        tw_arena_free(arena);
        skip();
        return;
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        const char *folder = tw_format(arena, "%s/%s", root, e->d_name);
        if (is_excluded(root, e->d_name) || !file_exists(tw_format(arena, "%s/model.onnx", folder)))
            continue;
        tw_grow(arena, &names, count, &capacity, sizeof *names);
        names[count++] = folder;
    }
    closedir(dir);
    if (count)
        qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++)
        counts[try_test(names[i])]++;
    printf("%s: %d pass, %d unsupported, %d failed, %d wrong\n", root, counts[PASS],
           counts[UNSUPPORTED], counts[FAILED], counts[WRONG]);
    tw_arena_free(arena);
    assert_int_equal(counts[FAILED] + counts[WRONG], 0);
    assert_true(counts[PASS] >= least);
}

static void debian(void **state)
{
    (void)state;
    run_folder("/usr/share/libonnx-testdata/data/node", 400);
}

static void debian_simple(void **state)
{
    (void)state;
    run_folder("/usr/share/libonnx-testdata/data/simple", 1);
}

static void debian_pytorch(void **state)
{
    (void)state;
    run_folder("/usr/share/libonnx-testdata/data/pytorch-converted", 40);
}

static void debian_pytorch_operator(void **state)
{
    (void)state;
    run_folder("/usr/share/libonnx-testdata/data/pytorch-operator", 15);
}

static void run_current(const char *part, int least)
{
    const char *folder = tw_test_unpacked("onnx-node-tests/onnx-1.23.0-928f941-node.tar.xz");
    char path[2048];
    if (!folder)
        skip();
    snprintf(path, sizeof path, "%s/%s", folder, part);
    run_folder(path, least);
}

static void current(void **state)
{
    (void)state;
    run_current("node", 700);
}

static void current_simple(void **state)
{
    (void)state;
    run_current("simple", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(debian),         cmocka_unit_test(debian_simple),
        cmocka_unit_test(debian_pytorch), cmocka_unit_test(debian_pytorch_operator),
        cmocka_unit_test(current),        cmocka_unit_test(current_simple),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
