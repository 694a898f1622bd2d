/* The ONNX project's own operator tests through the whole compiler and runtime: those that Debian
 * packages (libonnx-testdata) and the current ones (onnx-node-tests under the test data), where they
 * are installed. A model is right, or it is refused as unsupported; anything else fails this test:
 * a wrong result, another error, a result that changes when the steps are split into bands. Inputs
 * are offered to the compiler, which takes those that fix shapes, and no others.
 *
 * Leaves a line a test in onnx-suite.tsv in the work folder, which scripts/docs makes
 * docs/onnx-conformance.md of: suite, test, outcome, whether all types are plain, operator, why; for an
 * unsupported one, the operator that was refused. With TW_SUITE_LIST set, prints the outcomes too. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "host/compare.h"
#include "host/session.h"
#include "import/wire.h"
#include "import/onnx/tensor.h"
#include "onnx.pb-c.h"
#include "support/archive.h"
#include "support/onnx_model.h"
#include "tilewright/compiler.h"

enum { MOST = 64 };

typedef enum tw_outcome { PASS, EXCLUDED, UNSUPPORTED, FAILED, WRONG, OUTCOMES } tw_outcome;
static const char *const outcome_names[] = {"PASS", "EXCLUDED", "UNSUPPORTED", "FAILED", "WRONG"};

static FILE *listing;    /* onnx-suite.tsv */
static int plain_passes; /* of the suite in hand */

typedef struct tw_test {
    tw_arena *arena;
    const char *folder;
    tw_tensor_data in[MOST], out[MOST];
    int in_count, out_count;
    bool readable; /* every tensor of the test is one */
    char why[2048];
    char refused[64], reason[1024]; /* the operator that is not supported, and why */
} tw_test;

static bool file_exists(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f)
        fclose(f);
    return f != NULL;
}

static const Tw__Onnx__Graph *read_graph(tw_test *t, const char *folder);

static void fail_to_read(tw_test *t, const char *what, const tw_diag *diag)
{
    t->readable = false;
    snprintf(t->why, sizeof t->why, "%s: %s", what, diag->message);
    snprintf(t->reason, sizeof t->reason, "%s", diag->message);
}

/* Tensors of a sequence or an optional, as the model has inputs or outputs of their own for them: a
 * sequence's are NAME.0 and on. */
static void read_parts(tw_test *t, const char *path, const char *name, tw_tensor_data *tensors,
                       int *count)
{
    void *data;
    size_t bytes;
    tw_diag diag = {0};
    tw_onnx_files none = {.arena = t->arena};
    const Tw__Onnx__Held *held = NULL;
    if (tw_read_file(t->arena, path, INT32_MAX, &data, &bytes, &diag))
        held = (const Tw__Onnx__Held *)tw_wire_unpack(&tw__onnx__held__descriptor, "held", data,
                                                      bytes, t->arena, &diag);
    if (!held)
        fail_to_read(t, name, &diag);
    held = held && held->sequence ? held->sequence : held;
    for (size_t i = 0; held && i < held->n_tensors && *count < MOST; i++) {
        tw_tensor_data *to = &tensors[(*count)++];
        if (!tw_onnx_tensor(&none, held->tensors[i], to, &diag))
            fail_to_read(t, name, &diag);
        to->name = tw_format(t->arena, "%s.%zu", name, i);
    }
}

/* test_data_set_0/KIND_0.pb and on. */
static int read_tensors(tw_test *t, const char *kind, tw_tensor_data *tensors)
{
    const Tw__Onnx__Graph *g = read_graph(t, t->folder);
    const bool in = strcmp(kind, "input") == 0;
    int count = 0;
    for (int file = 0; count < MOST; file++) {
        tw_diag diag = {0};
        const char *path =
            tw_format(t->arena, "%s/test_data_set_0/%s_%d.pb", t->folder, kind, file);
        const size_t values = !g ? 0 : in ? g->n_input : g->n_output;
        const Tw__Onnx__ValueInfo *info = (size_t)file >= values ? NULL
                                          : in                   ? g->input[file]
                                                                 : g->output[file];
        const Tw__Onnx__Type *type = info ? info->type : NULL;
        const bool optional = type && type->optional_type;
        if (!file_exists(path))
            break;
        type = optional ? type->optional_type->elem_type : type;
        if (optional || (type && type->sequence_type)) {
            const int before = count;
            read_parts(t, path, info->name, tensors, &count);
            if (count == before && in) /* nothing is in it */
                tensors[count++] = (tw_tensor_data){.name = info->name, .shape.rank = -1};
            else if (type && !type->sequence_type)
                tensors[before].name = info->name;
            continue;
        }
        if (!tw_tensor_read(t->arena, path, NULL, &tensors[count], &diag))
            fail_to_read(t, tw_format(t->arena, "%s %d", kind, file), &diag);
        count++;
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
    snprintf(t->refused, sizeof t->refused, "%s", diag->operator_name);
    snprintf(t->reason, sizeof t->reason, "%s", diag->message);
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

/* An output beside the model's, NAME.count, says what extent output NAME should have. */
static bool is_right_count(const tw_test *t, tw_session *s, uint32_t output)
{
    const char *name = s->output_names[output];
    const size_t length = strlen(name) > 6 ? strlen(name) - 6 : 0;
    const int64_t *count = tw_session_output(s, output);
    for (int i = 0; i < t->out_count && length && strcmp(name + length, ".count") == 0; i++)
        for (int k = 0; strncmp(s->output_names[i], name, length) == 0 && k < t->out[i].shape.rank;
             k++)
            if (*count == t->out[i].shape.dim[k])
                return true;
    return false;
}

/* Compare every output; keep the bytes of all for comparing runs. */
static tw_outcome judge(tw_test *t, tw_session *s, uint8_t **all, size_t *bytes)
{
    static const tw_tolerance tolerance = {1e-3, 1e-7, 0};
    *bytes = 0;
    *all = tw_alloc(t->arena, 1);
    for (uint32_t i = 0; i < s->model.output_count; i++) {
        const tw_tensor *record = tw_output_tensor(&s->model, i);
        if ((int)i >= t->out_count && is_right_count(t, s, i))
            continue;
        const tw_tensor_data *want = &t->out[i];
        if ((int)i >= t->out_count || !matches(want, record)) {
            snprintf(t->why, sizeof t->why, "output %u has another type or shape", i);
            return WRONG;
        }
        uint8_t *dense = tw_alloc(t->arena, *bytes + want->bytes + 1);
        memcpy(dense, *all, *bytes);
        tw_gather(record, tw_session_output(s, i), dense + *bytes);
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

/* --- what a test is about ---------------------------------------------------------------------- */

static const Tw__Onnx__Graph *read_graph(tw_test *t, const char *folder)
{
    void *data;
    size_t bytes;
    tw_diag diag = {0};
    const char *path = tw_format(t->arena, "%s/model.onnx", folder);
    if (!tw_read_file(t->arena, path, INT32_MAX, &data, &bytes, &diag))
        return NULL;
    const Tw__Onnx__Model *model = (const Tw__Onnx__Model *)tw_wire_unpack(
        &tw__onnx__model__descriptor, "model", data, bytes, t->arena, &diag);
    return model ? model->graph : NULL;
}

/* The operator under test: the only node's; where a function has been expanded, that of the test
 * without the expansion; else the last node's. */
static const char *operator_of(tw_test *t)
{
    const Tw__Onnx__Graph *g = read_graph(t, t->folder);
    const char *expanded = strstr(t->folder, "_expanded");
    if (g && g->n_node > 1 && expanded) {
        const Tw__Onnx__Graph *plain =
            read_graph(t, tw_strndup(t->arena, t->folder, (size_t)(expanded - t->folder)));
        g = plain ? plain : g;
    }
    if (!g || !g->n_node)
        return "";
    const Tw__Onnx__Node *node = g->node[g->n_node - 1];
    return node->domain && *node->domain ? tw_format(t->arena, "%s.%s", node->domain, node->op_type)
                                         : node->op_type;
}

static bool is_plain(const Tw__Onnx__ValueInfo *const *values, size_t count)
{
    static const int64_t plain[] = {ONNX_FLOAT, ONNX_UINT8, ONNX_INT8,
                                    ONNX_INT32, ONNX_INT64, ONNX_BOOL};
    for (size_t i = 0; i < count; i++) {
        const Tw__Onnx__Type *type = values[i]->type;
        bool found = false;
        for (size_t k = 0; k < sizeof plain / sizeof *plain && type && type->tensor_type; k++)
            found = found || type->tensor_type->elem_type == plain[k];
        if (!found)
            return false;
    }
    return true;
}

/* One line of the listing. Counted are those that pass with plain types. */
static void list(tw_test *t, const char *suite, tw_outcome outcome)
{
    const Tw__Onnx__Graph *g = read_graph(t, t->folder);
    bool plain = g && is_plain((const Tw__Onnx__ValueInfo *const *)g->input, g->n_input) &&
                 is_plain((const Tw__Onnx__ValueInfo *const *)g->output, g->n_output);
    plain_passes += plain && outcome == PASS;
    fprintf(listing, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", suite, strrchr(t->folder, '/') + 1,
            outcome_names[outcome], plain ? "plain" : "other", operator_of(t), t->refused,
            t->reason);
}

/* --- one test ---------------------------------------------------------------------------------- */

static tw_outcome try_test(const char *suite, const char *folder)
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
    list(&t, suite, outcome);
    tw_arena_free(t.arena);
    return outcome;
}

static tw_outcome exclude_test(const char *suite, const char *folder, const char *why)
{
    tw_test t = {.arena = tw_arena_new(), .folder = folder};
    snprintf(t.reason, sizeof t.reason, "%s", why);
    list(&t, suite, EXCLUDED);
    tw_arena_free(t.arena);
    return EXCLUDED;
}

/* --- folders of tests -------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Why a test is left out, or null: its own data is wrong. */
static const char *excluded(const char *root, const char *name)
{
    if (strstr(root, "libonnx-testdata") && strstr(name, "BFLOAT16"))
        return "the data is wrong: UINT16 tensors, some without a shape, cut off where the "
               "operator rounds; the current suite has it right";
    if (strstr(name, "/test_adam_multiple") && strstr(root, "libonnx-testdata"))
        return "the model leaves out the epsilon that the expected values were computed with; the "
               "current suite has it right";
    if (strstr(name, "/test_dft_inverse") && !strstr(root, "libonnx-testdata"))
        return "the expected values that should be 0 are rounding errors of up to 2e-7, beyond the "
               "suite's own tolerance";
    return NULL;
}

/* Every folder in `root` that holds a model; `least` of all must pass, `least_plain` of those with plain
 * types. */
static void run_folder(const char *suite, const char *root, int least, int least_plain)
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
        if (!file_exists(tw_format(arena, "%s/model.onnx", folder)))
            continue;
        tw_grow(arena, &names, count, &capacity, sizeof *names);
        names[count++] = folder;
    }
    closedir(dir);
    if (count)
        qsort(names, (size_t)count, sizeof *names, by_name);
    plain_passes = 0;
    for (int i = 0; i < count; i++) {
        const char *why = excluded(root, names[i]);
        counts[why ? exclude_test(suite, names[i], why) : try_test(suite, names[i])]++;
    }
    printf("%s: %d pass, %d unsupported, %d excluded, %d failed, %d wrong\n", root, counts[PASS],
           counts[UNSUPPORTED], counts[EXCLUDED], counts[FAILED], counts[WRONG]);
    tw_arena_free(arena);
    assert_int_equal(counts[FAILED] + counts[WRONG], 0);
    assert_true(counts[PASS] >= least);
    assert_true(plain_passes >= least_plain);
}

static void debian(void **state)
{
    (void)state;
    run_folder("Debian node", "/usr/share/libonnx-testdata/data/node", 891, 802);
}

static void debian_simple(void **state)
{
    (void)state;
    run_folder("Debian simple", "/usr/share/libonnx-testdata/data/simple", 15, 14);
}

static void debian_pytorch(void **state)
{
    (void)state;
    run_folder("Debian pytorch-converted", "/usr/share/libonnx-testdata/data/pytorch-converted", 82,
               82);
}

static void debian_pytorch_operator(void **state)
{
    (void)state;
    run_folder("Debian pytorch-operator", "/usr/share/libonnx-testdata/data/pytorch-operator", 35,
               30);
}

static void run_current(const char *part, int least, int least_plain)
{
    const char *folder = tw_test_unpacked("onnx-node-tests/onnx-1.23.0-928f941-node.tar.xz");
    char path[2048], suite[64];
    if (!folder)
        skip();
    snprintf(path, sizeof path, "%s/%s", folder, part);
    snprintf(suite, sizeof suite, "current %s", part);
    run_folder(suite, path, least, least_plain);
}

static void current(void **state)
{
    (void)state;
    run_current("node", 1739, 1367);
}

static void current_simple(void **state)
{
    (void)state;
    run_current("simple", 15, 14);
}

/* Beside the listing until all has run: a partial one is never read. */
static int begin_listing(void **state)
{
    (void)state;
    listing = fopen(TW_TEST_WORK "/onnx-suite.part", "w");
    return !listing;
}

static int end_listing(void **state)
{
    (void)state;
    return fclose(listing) ||
           rename(TW_TEST_WORK "/onnx-suite.part", TW_TEST_WORK "/onnx-suite.tsv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(debian),         cmocka_unit_test(debian_simple),
        cmocka_unit_test(debian_pytorch), cmocka_unit_test(debian_pytorch_operator),
        cmocka_unit_test(current),        cmocka_unit_test(current_simple),
    };
    return cmocka_run_group_tests(tests, begin_listing, end_listing);
}
