/* What rolling must achieve on well-known networks: activation bytes, nothing computed twice, the bytes of
 * whole execution, and what that takes. Real files where they are there, and networks of scripts/networks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "host/session.h"
#include "support/model_folder.h"
#include "support/plans.h"

typedef struct tw_target {
    const char *name;    /* of the table */
    const char *network; /* of scripts/networks, or null */
    const char *file;    /* below the data folder, or null */
    /* activation bytes, least memory preferred */
    uint32_t resident; /* at most, the whole input there */
    uint32_t by_rows;  /* at most, the input fed row by row */
    uint32_t whole;    /* at most, every layer whole */
    uint64_t macs;     /* 0: not said */
    uint32_t below;    /* a budget below what rows need, fed row by row; 0: none */
} tw_target;

/* clang-format off */
static const tw_target targets[] = {
    {"ResNet-8", "resnet8", "mlperf_resnet_int8", 16000, 13000, 33300, 12501632, 0},
    {"DS-CNN", "dscnn", "mlperf_kws_int8", 6300, 5900, 8700, 2656768, 0},
    {"visual wake words", "vww", "mlperf_vww_int8", 40800, 15200, 37000, 7489664, 12288},
    {"MobileNetV1 1.0 128", "mobilenet_v1_128", NULL, 134000, 86000, 263000, 0, 65536},
    {"MobileNetV2 0.35 224", "mobilenet_v2_035_224", NULL, 202500, 59000, 603000, 0, 49152},
    {"MobileNetV2 1.0 224", "mobilenet_v2_224", "mobilenet_v2_tinynn_int8", 279600, 146800, 1205000, 0, 0},
};
/* clang-format on */
enum { TARGETS = sizeof targets / sizeof targets[0] };

/* Rows that a step's firings computed or, where it accumulates, took. */
typedef struct tw_counted {
    int64_t *rows; /* by step */
    int64_t firings;
} tw_counted;

static int count_rows(void *user, tw_context *context, const tw_firing *firing)
{
    tw_counted *counted = user;
    (void)context;
    counted->rows[firing->step] += firing->rows;
    counted->firings++;
    return 0;
}

/* Every step has computed each of its rows once: what the work of a whole execution is. */
static void expect_nothing_twice(const tw_session *s, const tw_counted *counted, const char *name)
{
    for (uint32_t g = 0; g < s->model.segment_count; g++)
        for (uint32_t i = 0; i < s->model.segments[g].step_count; i++) {
            uint32_t index = s->model.segments[g].first_step + i, axis = s->model.segments[g].axis;
            const tw_plan_step *step = &s->model.steps[index];
            const tw_plan_operand *operands = &s->model.operands[step->first_operand];
            const tw_tensor *counts = &s->model.tensors[operands[step->input_count].tensor];
            for (uint32_t k = 0; k < step->input_count; k++)
                if (operands[k].rows == TW_ROWS_ACCUMULATED)
                    counts = &s->model.tensors[operands[k].tensor];
            int32_t extent = axis < counts->rank ? counts->dim[axis] : 1;
            if (s->model.segments[g].columns)
                extent *= counts->dim[axis + 1];
            if (counted->rows[index] != extent)
                fail_msg("%s: step %u computed %d rows of %d", name, index,
                         (int)counted->rows[index], (int)extent);
        }
}

/* Run on random inputs; the outputs of all, end to end, in the arena. */
static void *run(const tw_compiled *compiled, const char *name, tw_arena *arena, size_t *size)
{
    tw_session session;
    tw_diag diag = {0};
    uint64_t seed = 5;
    tw_counted counted = {NULL, 0};
    assert_true(tw_session_open(&session, compiled->plan, compiled->plan_bytes, &diag));
    counted.rows = tw_alloc_array(arena, session.model.step_count, sizeof *counted.rows);
    tw_set_hook(&session.context, count_rows, &counted);
    for (uint32_t i = 0; i < session.model.input_count; i++)
        tw_test_fill(tw_input_tensor(&session.model, i), tw_session_input(&session, i), &seed);
    assert_true(tw_session_run(&session, &diag));
    expect_nothing_twice(&session, &counted, name);
    uint8_t *bytes = NULL;
    *size = 0;
    for (uint32_t i = 0; i < session.model.output_count; i++) {
        uint32_t more = tw_tensor_bytes(tw_output_tensor(&session.model, i));
        uint8_t *longer = tw_alloc(arena, *size + more);
        memcpy(longer, bytes ? bytes : longer, *size);
        memcpy(longer + *size, tw_session_output(&session, i), more);
        bytes = longer;
        *size += more;
    }
    tw_session_close(&session);
    return bytes;
}

/* Are there several values in the outputs? A network that says one thing tests nothing. */
static bool varies(const uint8_t *bytes, size_t size)
{
    bool seen[256] = {false};
    int different = 0;
    for (size_t i = 0; i < size; i++) {
        different += !seen[bytes[i]];
        seen[bytes[i]] = true;
    }
    return different > 1;
}

static void compile(const char *model, const tw_compile_options *options, tw_compiled *compiled)
{
    tw_diag diag = {0};
    char message[2048];
    if (!tw_compile_file(model, options, compiled, &diag)) {
        tw_diag_text(&diag, message, sizeof message);
        fail_msg("%s", message);
    }
}

static void expect_target(const tw_target *target, const char *model)
{
    tw_arena *arena = tw_arena_new();
    tw_compile_options options;
    tw_compiled whole, rolled;
    size_t want_size, have_size;
    tw_compile_options_default(&options);
    options.io_layout = TW_IO_NHWC;
    options.prefer = TW_PREFER_SPEED;
    compile(model, &options, &whole);
    assert_int_equal(whole.report.segment_count, whole.report.step_count);
    if (target->macs)
        assert_int_equal(whole.report.macs, target->macs);
    assert_true(whole.report.memory.activations <= target->whole);
    const void *want = run(&whole, target->name, arena, &want_size);
    assert_true(varies(want, want_size));

    for (int how = 0; how < (target->below ? 3 : 2); how++) {
        uint32_t most = how == 2 ? target->below : how ? target->by_rows : target->resident;
        options.prefer = TW_PREFER_MEMORY;
        options.input_rows = how ? whole.report.inputs[0].name : NULL;
        options.memories.fast.bounded = options.memories.fast.given = how == 2;
        options.memories.fast.bytes = target->below;
        compile(model, &options, &rolled);
        print_message("%-22s %-8s %9u bytes of activations, at most %9u; whole execution %9u\n",
                      target->name,
                      how == 2 ? "below"
                      : how    ? "by rows"
                               : "resident",
                      rolled.report.memory.activations, most, whole.report.memory.activations);
        assert_true(rolled.report.memory.activations <= most);
        assert_int_equal(rolled.report.macs, whole.report.macs);
        assert_int_equal(rolled.report.macs_recomputed, 0);
        assert_int_equal(rolled.report.slow.bytes, 0);
        const void *have = run(&rolled, target->name, arena, &have_size);
        assert_int_equal(have_size, want_size);
        assert_memory_equal(have, want, want_size);
        tw_compiled_free(&rolled);
    }
    tw_compiled_free(&whole);
    tw_arena_free(arena);
}

static void built_networks(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    if (system("python3 --version >/dev/null 2>&1") != 0) {
        print_error("skipped: scripts/networks needs python3 (scripts/setup test)\n");
        skip();
    }
    mkdir(TW_TEST_WORK, 0777);
    for (int i = 0; i < TARGETS; i++) {
        const char *name = targets[i].network;
        const char *path = tw_format(arena, "%s/%s.twir", TW_TEST_WORK, name);
        if (system(tw_format(arena, "scripts/networks %s >'%s'", name, path)) != 0)
            fail_msg("scripts/networks %s failed", name);
        expect_target(&targets[i], path);
    }
    tw_arena_free(arena);
}

static void real_files(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    for (int i = 0; i < TARGETS; i++) {
        if (!targets[i].file)
            continue;
        const char *part = tw_format(arena, "models/tflite/%s/model.tflite", targets[i].file);
        const char *data = tw_test_data(arena, part);
        if (!data) {
            tw_arena_free(arena);
            skip();
        }
        expect_target(&targets[i], tw_format(arena, "%s/%s", data, part));
    }
    tw_arena_free(arena);
}

/* What a run costs in the planner's terms, from what it did; kernels five times as fast as the portable ones. */
static double cost_of(const char *path, const tw_compile_options *options)
{
    tw_compiled compiled;
    tw_session session;
    tw_diag diag = {0};
    compile(path, options, &compiled);
    assert_true(tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag));
    assert_true(tw_session_run(&session, &diag));
    const double cost = (double)compiled.report.macs / 5 + session.context.firings * 1150.0 +
                        session.context.moved * 0.25;
    tw_session_close(&session);
    tw_compiled_free(&compiled);
    return cost;
}

/* For a named processor a plan costs what it was chosen for: at most a tenth more than the fastest within its
 * memory. Where paths meet again, bands are shorter than asked for, and only a simulated run knows. */
static void balanced_within_a_tenth(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *path = tw_format(arena, "%s/resnet8.twir", TW_TEST_WORK);
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.backends = "reference,cmsis-nn:m55";
    options.memories.fast.bounded = options.memories.fast.given = true;
    for (uint32_t kilobytes = 20; kilobytes <= 44; kilobytes += 8) {
        options.memories.fast.bytes = kilobytes * 1024;
        options.prefer = TW_PREFER_SPEED;
        const double fastest = cost_of(path, &options);
        options.prefer = TW_PREFER_BALANCED;
        assert_true(cost_of(path, &options) <= fastest * 1.101);
    }
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_networks),
        cmocka_unit_test(real_files),
        cmocka_unit_test(balanced_within_a_tenth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
