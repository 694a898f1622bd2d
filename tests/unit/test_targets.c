/* Plans that serve several back ends: how they are asked for, what they hold, and the plan of one taken
 * out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "emit/select.h"
#include "host/session.h"
#include "support/plans.h"

/* A convolution with neighbours, one without, and a sigmoid that no library has. */
static const char network[] =
    "graph \"targets\" {\n"
    "  input %x : s8[1,9,6,3] quant(scale=0.05, zero=-20)\n"
    "  const %v : s8[8,3,3,3] quant(scale=0.01, zero=0) = random 1 -127 128\n"
    "  const %b : s32[8] = random 2 -4000 4000\n"
    "  %y : s8[1,9,6,8] quant(scale=0.15, zero=5) = Conv (%x, %v, %b) {pad_begin=[1,1], "
    "pad_end=[1,1]}\n"
    "  const %w : s8[5,1,1,8] quant(scale=0.01, zero=0) = random 3 -127 128\n"
    "  %z : s8[1,9,6,5] quant(scale=0.1, zero=0) = Conv (%y, %w)\n"
    "  %s : s8[1,9,6,5] quant(scale=0.00390625, zero=-128) = Sigmoid (%z)\n"
    "  output %s\n"
    "}\n";

static void compile(const char *backends, tw_compiled *compiled)
{
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.backends = backends;
    tw_test_compile(network, &options, compiled);
}

static void expect_usage(const char *list, const char *part)
{
    tw_arena *arena = tw_arena_new();
    tw_target *targets;
    int count;
    tw_diag diag = {0};
    assert_false(tw_targets_parse(arena, list, &targets, &count, &diag));
    assert_int_equal(diag.code, TW_CODE_USAGE);
    assert_non_null(strstr(diag.message, part));
    tw_arena_free(arena);
}

static void lists(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_target *targets;
    int count;
    tw_diag diag = {0};
    assert_true(tw_targets_parse(arena, NULL, &targets, &count, &diag));
    assert_int_equal(count, 1);
    assert_true(tw_targets_parse(arena, "cmsis-nn:m55,reference,cmsis-nn:mve,cmsis-nn", &targets,
                                 &count, &diag));
    assert_int_equal(count, 3); /* m55 and mve are one; without a processor: all */
    assert_string_equal(targets[0].text, "reference");
    assert_string_equal(targets[1].text, "cmsis-nn:m55");
    assert_int_equal(targets[2].cpus, 7);
    tw_arena_free(arena);
    expect_usage("cmsis-nn:z80", "m55");
    expect_usage("reference:m4", "none to name");
    expect_usage("nonsense", "cmsis-nn");
    expect_usage("reference,,cmsis-nn", "there are");
}

static const tw_plan_target *target_of(const tw_session *session, uint32_t index)
{
    uint32_t count;
    const tw_plan_target *targets =
        tw_plan_items(&session->model, TW_SECTION_TARGETS, sizeof *targets, &count);
    assert_true(index < count);
    return &targets[index];
}

static void open_plan(tw_session *session, const void *plan, uint32_t bytes)
{
    tw_diag diag = {0};
    if (!tw_session_open(session, plan, bytes, &diag))
        fail_msg("%s", diag.message);
}

static void select_target(tw_session *from, const tw_plan_target *target, tw_session *selected)
{
    const void *plan;
    uint32_t bytes;
    tw_diag diag = {0};
    if (!tw_select_plan(from->arena, &from->model, target, &plan, &bytes, &diag))
        fail_msg("%s", diag.message);
    open_plan(selected, plan, bytes);
}

static void run_on(tw_session *session, int8_t *out)
{
    tw_diag diag = {0};
    int8_t *in = tw_session_input(session, 0);
    for (int i = 0; i < 9 * 6 * 3; i++)
        in[i] = (int8_t)(i * 37 % 251 - 125);
    assert_true(tw_session_run(session, &diag));
    memcpy(out, tw_session_output(session, 0), 9 * 6 * 5);
}

static void portable_again(void **state)
{
    (void)state;
    int8_t whole[9 * 6 * 5], alone[9 * 6 * 5];
    tw_compiled several, one;
    tw_session session, selected, plain;
    compile("reference,cmsis-nn:m4,cmsis-nn:m55", &several);
    compile(NULL, &one);
    open_plan(&session, several.plan, several.plan_bytes);
    open_plan(&plain, one.plan, one.plan_bytes);
    select_target(&session, NULL, &selected);
    assert_int_equal(selected.model.constants_bytes, plain.model.constants_bytes);
    assert_int_equal(selected.model.tensor_count, plain.model.tensor_count);
    for (uint32_t i = 0; i < plain.model.tensor_count; i++)
        assert_string_equal(selected.tensor_names[i], plain.tensor_names[i]);
    run_on(&selected, whole);
    run_on(&plain, alone);
    assert_memory_equal(whole, alone, sizeof whole);
    tw_session_close(&selected);
    tw_session_close(&plain);
    tw_session_close(&session);
    tw_compiled_free(&several);
    tw_compiled_free(&one);
}

static void native_kernels(void **state)
{
    (void)state;
    tw_compiled compiled;
    tw_session session, selected;
    compile("cmsis-nn:m55", &compiled);
    open_plan(&session, compiled.plan, compiled.plan_bytes);
    const tw_plan_target *target = target_of(&session, 0);
    assert_string_equal(target->text, "cmsis-nn:m55");
    assert_int_equal(target->natives, 2);
    assert_int_equal(target->scratch, 4 * 32); /* four pixels' 27 taps, multiples of 16 */
    select_target(&session, target, &selected);
    assert_int_equal(selected.model.step_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t id = selected.model.kernels[selected.model.steps[i].kernel]->id;
        const tw_plan_variant *v = tw_plan_variant_of(&session.model, target, i);
        assert_int_equal(id >> 24, i < 2 ? 1 : 0);
        assert_int_equal(v->kernel, i < 2 ? id : TW_ABSENT);
        assert_int_equal(*tw_plan_reason(&session.model, v) != 0, i == 2);
    }
    assert_int_equal(compiled.report.target_count, 2);
    assert_int_equal(compiled.report.targets[1].native, 2);
    assert_int_equal(compiled.report.targets[1].flash, selected.model.header->bytes);
    tw_session_close(&selected);
    tw_session_close(&session);
    tw_compiled_free(&compiled);
}

/* A convolution whose library lays the weights of all outputs out in scratch, or of some at a time. */
static const char parted[] =
    "graph \"parted\" {\n"
    "  input %x : s8[1,9,6,3] quant(scale=0.05, zero=-20)\n"
    "  const %v : s8[64,3,3,3] quant(scale=0.01, zero=0) = random 1 -127 128\n"
    "  const %b : s32[64] = random 2 -4000 4000\n"
    "  %y : s8[1,9,6,64] quant(scale=0.15, zero=5) = Conv (%x, %v, %b) {pad_begin=[1,1], "
    "pad_end=[1,1]}\n"
    "  output %y\n"
    "}\n";

/* Its scratch in a plan within a budget, and what is said of it. */
static uint32_t scratch_within(uint32_t budget, tw_report *report, char remark[64])
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_session session;
    tw_compile_options_default(&options);
    options.backends = "esp-nn";
    options.memories.fast.bounded = budget != 0;
    options.memories.fast.bytes = budget;
    tw_test_compile(parted, &options, &compiled);
    open_plan(&session, compiled.plan, compiled.plan_bytes);
    const tw_plan_variant *v = tw_plan_variant_of(&session.model, target_of(&session, 0), 0);
    const uint32_t scratch = v->scratch_bytes;
    assert_int_not_equal(v->kernel, TW_ABSENT);
    snprintf(remark, 64, "%s", tw_plan_reason(&session.model, v));
    *report = compiled.report;
    tw_session_close(&session);
    tw_compiled_free(&compiled);
    return scratch;
}

static void scratch_in_parts(void **state)
{
    (void)state;
    enum { ROWS = 3 * 8 * 3 + 8, WHOLE = ROWS + 65 * 32 + 64 * 4 };
    enum { HALF = ROWS + 33 * 32 + 32 * (4 + 6), QUARTER = ROWS + 17 * 32 + 16 * (4 + 6) };
    char remark[64];
    tw_report report, ignored;
    assert_int_equal(scratch_within(0, &report, remark), WHOLE);
    assert_string_equal(remark, "");
    const uint32_t total = report.memory.total;
    assert_int_equal(scratch_within(total, &ignored, remark), WHOLE);
    assert_int_equal(scratch_within(total - 16, &ignored, remark), HALF);
    assert_string_equal(remark, "in up to 2 parts, for want of scratch");
    assert_int_equal(scratch_within(total - (WHOLE - HALF), &ignored, remark), HALF);
    assert_int_equal(scratch_within(total - (WHOLE - HALF) - 16, &ignored, remark), QUARTER);
    assert_string_equal(remark, "in up to 4 parts, for want of scratch");
    assert_int_equal(scratch_within(report.smallest_budget, &ignored, remark), QUARTER);
    assert_int_equal(ignored.smallest_budget, report.smallest_budget);
}

/* Whatever the sections for targets say, selecting ends in a plan that the loader judges, or a message. */
static void damaged_targets(void **state)
{
    (void)state;
    tw_compiled compiled;
    tw_session session;
    uint64_t random = 7;
    compile("cmsis-nn:m55", &compiled);
    open_plan(&session, compiled.plan, compiled.plan_bytes);
    static const uint32_t kinds[] = {TW_SECTION_VARIANTS, TW_SECTION_VARIANT_BLOBS};
    for (int round = 0; round < 400; round++) {
        uint32_t bytes, made;
        const void *plan;
        tw_diag diag = {0};
        tw_plan_target target = *target_of(&session, 0);
        const uint32_t kind = kinds[round % 2];
        uint32_t *words = (uint32_t *)(uintptr_t)tw_plan_items(&session.model, kind, 1, &bytes);
        const uint32_t at = (uint32_t)(tw_test_random(&random) % (bytes / 4)), was = words[at];
        words[at] = round % 3 ? (uint32_t)tw_test_random(&random)
                              : was + (uint32_t)(tw_test_random(&random) % 64) - 32u;
        if (round % 5 == 0)
            target.first_variant = (uint32_t)tw_test_random(&random);
        if (tw_select_plan(session.arena, &session.model, &target, &plan, &made, &diag)) {
            tw_session selected;
            tw_diag ignored = {0};
            (void)tw_session_open(&selected, plan, made, &ignored);
            tw_session_close(&selected);
        } else {
            assert_true(diag.message[0] != 0);
        }
        words[at] = was;
    }
    tw_session_close(&session);
    tw_compiled_free(&compiled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),           cmocka_unit_test(portable_again),
        cmocka_unit_test(native_kernels),  cmocka_unit_test(scratch_in_parts),
        cmocka_unit_test(damaged_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
