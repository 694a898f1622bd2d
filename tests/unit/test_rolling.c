/* Rolling execution: random networks give the same bytes whole, in the least memory, at budgets
 * between, with slow memory, fed and drained row by row; memory never rises when the budget falls, and
 * every memory is read and written as predicted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "support/layers.h"
#include "support/plans.h"
#include "support/traffic.h"

typedef struct tw_outcome {
    uint8_t bytes[1 << 19];
    uint32_t size, total, slow, smallest;
    bool rolled, columns;
} tw_outcome;

/* Runs what was compiled, and frees it. */
static void run_compiled(const char *text, tw_compiled *compiled, tw_outcome *outcome)
{
    tw_session session;
    tw_diag diag = {0};
    char message[2048];
    outcome->total = compiled->report.memory.total;
    outcome->smallest = compiled->report.smallest_budget;
    outcome->rolled = compiled->report.segment_count < compiled->report.step_count;
    outcome->columns = false;
    for (int i = 0; i < compiled->report.segment_count; i++)
        outcome->columns |= compiled->report.segments[i].columns > 0;
    assert_int_equal(compiled->report.macs_recomputed, 0);
    uint64_t seed = 9;
    if (!tw_session_open(&session, compiled->plan, compiled->plan_bytes, &diag)) {
        tw_diag_text(&diag, message, sizeof message);
        fail_msg("%s\n%s", message, text);
    }
    for (uint32_t i = 0; i < session.model.input_count; i++)
        tw_test_fill(tw_input_tensor(&session.model, i), tw_session_input(&session, i), &seed);
    tw_test_traffic traffic;
    tw_test_measure(&session, &traffic);
    if (!tw_session_run(&session, &diag)) {
        tw_diag_text(&diag, message, sizeof message);
        fail_msg("%s\n%s", message, text);
    }
    tw_test_expect_traffic(&traffic, &compiled->report, text);
    outcome->slow = compiled->report.slow.bytes;
    outcome->size = 0;
    for (uint32_t i = 0; i < session.model.output_count; i++) {
        uint32_t size = tw_tensor_bytes(tw_output_tensor(&session.model, i));
        assert_true(outcome->size + size <= sizeof outcome->bytes);
        memcpy(outcome->bytes + outcome->size, tw_session_output(&session, i), size);
        outcome->size += size;
    }
    tw_session_close(&session);
    tw_compiled_free(compiled);
}

static void run_network(const char *text, const tw_compile_options *options, tw_outcome *outcome)
{
    tw_compiled compiled;
    tw_test_compile(text, options, &compiled);
    run_compiled(text, &compiled, outcome);
}

/* The same where it may be refused; false: it is. */
static bool try_network(const char *text, const tw_compile_options *options, tw_outcome *outcome,
                        tw_diag *diag)
{
    tw_compiled compiled;
    if (!tw_test_try_compile(text, options, &compiled, diag)) {
        tw_compiled_free(&compiled);
        return false;
    }
    run_compiled(text, &compiled, outcome);
    return true;
}

static void expect_same(const tw_outcome *want, const tw_outcome *have, const char *how,
                        const char *text)
{
    if (have->size != want->size || memcmp(have->bytes, want->bytes, want->size) != 0)
        fail_msg("%s differs from whole execution:\n%s", how, text);
}

static int number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

/* Of so many networks, every TILEWRIGHT_RANDOM_PARTS-th from number TILEWRIGHT_RANDOM_PART on
 * (scripts/random-networks). */
static int network_count(void)
{
    return number_of("TILEWRIGHT_RANDOM_NETWORKS", 300);
}

/* The input, the last output or both by rows, where that is possible. */
static bool run_by_rows(const char *text, bool fed, bool drained, const tw_outcome *whole)
{
    static tw_outcome outcome;
    tw_compile_options options;
    tw_diag diag = {0};
    tw_compile_options_default(&options);
    options.prefer = TW_PREFER_MEMORY;
    const char *name = strrchr(text, '%') + 1; /* "output %NAME\n}\n" */
    char output[16];
    snprintf(output, sizeof output, "%.*s", (int)strcspn(name, "\n"), name);
    options.input_rows = fed ? "t0" : NULL;
    options.output_rows = drained ? output : NULL;
    if (!try_network(text, &options, &outcome, &diag)) {
        assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
        return false;
    }
    expect_same(whole, &outcome, "an end by rows", text);
    return true;
}

/* In two thirds of the least memory that suffices, with slow memory beside it, where that can be. */
static bool run_with_slow_memory(const char *text, const tw_outcome *least, const tw_outcome *whole)
{
    static tw_outcome outcome;
    tw_compile_options options;
    tw_diag diag = {0};
    tw_compile_options_default(&options);
    options.memories.fast.bounded = options.memories.fast.given = options.memories.slow.given =
        true;
    options.memories.fast.bytes = least->total / 3 * 2;
    options.no_recompute = true; /* tests/unit/test_recompute.c */
    if (!try_network(text, &options, &outcome, &diag))
        return false;
    expect_same(whole, &outcome, "with slow memory", text);
    assert_true(outcome.slow > 0 && outcome.total - outcome.slow <= options.memories.fast.bytes);
    return true;
}

/* Budgets below what rows need, down to the smallest: columns, and as little memory as was said. */
static bool run_below(const char *text, const tw_outcome *whole, const tw_outcome *least)
{
    static tw_outcome outcome;
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.memories.fast.bounded = options.memories.fast.given = true;
    assert_true(least->smallest <= least->total);
    for (int step = 0; step < 2; step++) {
        options.memories.fast.bytes =
            step == 0 ? least->smallest : least->smallest + (least->total - least->smallest) / 2;
        options.prefer = step == 0 ? TW_PREFER_MEMORY : TW_PREFER_BALANCED;
        run_network(text, &options, &outcome);
        expect_same(whole, &outcome, "a budget below rows", text);
        assert_true(outcome.total <= options.memories.fast.bytes);
        assert_true(outcome.columns);
        assert_int_equal(outcome.smallest, least->smallest);
    }
    return true;
}

static void random_networks_roll(void **state)
{
    (void)state;
    static tw_layers m;
    static tw_outcome whole, least, between;
    int rolled = 0, below = 0, spilled = 0, by_rows[4] = {0};
    double saved = 0;
    const int parts = number_of("TILEWRIGHT_RANDOM_PARTS", 1);
    const int part = number_of("TILEWRIGHT_RANDOM_PART", 0), count = network_count() / parts;
    for (int seed = part + 1; seed <= count * parts; seed += parts) {
        tw_compile_options options;
        tw_compile_options_default(&options);
        tw_layers_make(&m, (uint64_t)seed);
        options.prefer = TW_PREFER_SPEED;
        run_network(m.text, &options, &whole);
        options.prefer = TW_PREFER_MEMORY;
        run_network(m.text, &options, &least);
        expect_same(&whole, &least, "the least memory", m.text);
        assert_true(least.total <= whole.total);
        rolled += least.rolled;
        saved += (double)least.total / whole.total;

        for (int step = 0; step < 4; step++) {
            options.prefer = step % 2 ? TW_PREFER_SPEED : TW_PREFER_BALANCED;
            options.memories.fast.bounded = options.memories.fast.given = true;
            options.memories.fast.bytes =
                least.total + (uint32_t)((whole.total - least.total) * (uint64_t)step / 3);
            run_network(m.text, &options, &between);
            expect_same(&whole, &between, "a budget between", m.text);
            assert_true(between.total <= options.memories.fast.bytes);
            if (between.total < least.total)
                fail_msg("%u bytes at a budget of %u beat the least, %u:\n%s", between.total,
                         options.memories.fast.bytes, least.total, m.text);
        }

        if (least.smallest < least.total)
            below += run_below(m.text, &whole, &least);
        if ((seed - 1) / parts % 3 == 0)
            spilled += run_with_slow_memory(m.text, &least, &whole);
        for (int ends = 1; ends < 4; ends++)
            by_rows[ends] += run_by_rows(m.text, ends & 1, ends & 2, &whole);
    }
    print_message(
        "%d networks rolled, %d go lower by columns, %d took slow memory, %d fed by rows, "
        "%d drained, %d both; mean memory %.2f of whole execution\n",
        rolled, below, spilled, by_rows[1], by_rows[2], by_rows[3], saved / count);
    assert_true(below > 0);
    assert_true(rolled > count / 4);
    assert_true(spilled > count / 6);
    for (int ends = 1; ends < 4; ends++)
        assert_true(by_rows[ends] > count / 4);
}

/* The same model and options give the same bytes, plan for plan. */
static void plans_are_reproducible(void **state)
{
    (void)state;
    static tw_layers m;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        tw_compile_options options;
        tw_compiled first, second;
        tw_compile_options_default(&options);
        options.prefer = (tw_prefer)(seed % 3);
        tw_layers_make(&m, seed);
        tw_test_compile(m.text, &options, &first);
        void *disturb = malloc(1000 * seed); /* memory handed out again holds other bytes */
        if (disturb)
            memset(disturb, 0xA5, 1000 * seed);
        free(disturb);
        tw_test_compile(m.text, &options, &second);
        assert_int_equal(first.plan_bytes, second.plan_bytes);
        assert_memory_equal(first.plan, second.plan, first.plan_bytes);
        tw_compiled_free(&first);
        tw_compiled_free(&second);
    }
}

/* A causal window looks back only: the skip path's rows are still needed when the sum is made, so that
 * the sum must not take their place; it rolls all the same. */
static void causal_residuals_roll(void **state)
{
    (void)state;
    static tw_layers m;
    tw_compile_options options;
    tw_compiled compiled;
    m = (tw_layers){.count = 1, .s8 = true, .flat = true};
    tw_layers_say(&m, "graph \"causal\" {\n  input %%t0");
    tw_layers_type(&m, 256, 1, 8);
    tw_layers_say(&m, "\n");
    for (int x = 0, dilation = 1; dilation <= 8; dilation *= 2) {
        tw_layers_say(&m,
                      "  const %%w%d : s8[8,3,8] quant(scale=0.02, zero=0) = random %d -128 128\n",
                      m.count, m.count);
        int y = tw_layers_begin(&m, 256, 1, 8);
        tw_layers_say(&m, "Conv(%%t%d, %%w%d) {dilation=[%d], pad_begin=[%d]}\n", x, y, dilation,
                      2 * dilation);
        int sum = tw_layers_begin(&m, 256, 1, 8);
        tw_layers_say(&m, "Add(%%t%d, %%t%d)\n", x, y);
        x = sum;
    }
    int mean = tw_layers_begin(&m, 1, 1, 8);
    tw_layers_say(&m, "ReduceMean(%%t%d) {axes=[1]}\n  output %%t%d\n}\n", mean - 1, mean);
    tw_compile_options_default(&options);
    options.prefer = TW_PREFER_MEMORY;
    tw_test_compile(m.text, &options, &compiled);
    assert_true(compiled.report.segment_count < compiled.report.step_count);
    assert_true(compiled.report.memory.activations < 256 * 8 + 600); /* the input and windows */
    tw_compiled_free(&compiled);
}

/* Rows go out once each, in order, as soon as they are made. */
typedef struct tw_taken {
    int32_t next, calls;
    uint8_t bytes[64 * 8];
} tw_taken;

static int take(void *user, uint32_t output, int32_t row, int32_t rows, const void *from)
{
    tw_taken *taken = user;
    assert_int_equal(output, 0);
    assert_int_equal(row, taken->next);
    memcpy(taken->bytes + (size_t)row * 8, from, (size_t)rows * 8);
    taken->next += rows;
    taken->calls++;
    return taken->calls == 400 ? 1 : 0;
}

static void outputs_go_row_by_row(void **state)
{
    (void)state;
    static const char text[] =
        "graph \"rows\" {\n  input %t0 : s8[1,64,8] quant(scale=0.1, zero=0)\n"
        "  %t1 : s8[1,64,8] quant(scale=0.1, zero=0) = Relu(%t0)\n"
        "  %t2 : s8[1,64,8] quant(scale=0.1, zero=0) = Add(%t1, %t0)\n"
        "  output %t2\n}\n";
    tw_compile_options options;
    tw_compiled compiled;
    tw_session session;
    tw_diag diag = {0};
    tw_taken taken = {0};
    uint64_t seed = 3;
    tw_compile_options_default(&options);
    options.prefer = TW_PREFER_MEMORY;
    options.output_rows = "t2";
    tw_test_compile(text, &options, &compiled);
    assert_true(tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag));
    tw_test_fill(tw_input_tensor(&session.model, 0), tw_input(&session.context, 0), &seed);
    assert_null(tw_output(&session.context, 0));
    assert_true(tw_session_run(&session, &diag));
    tw_set_drain(&session.context, take, &taken);
    assert_int_equal(tw_run(&session.context), TW_OK);
    assert_int_equal(taken.next, 64);
    assert_memory_equal(taken.bytes, tw_session_output(&session, 0), sizeof taken.bytes);
    taken = (tw_taken){.calls = 399};
    assert_int_equal(tw_run(&session.context), TW_E_CALLBACK);
    tw_set_drain(&session.context, NULL, NULL);
    assert_int_equal(tw_run(&session.context), TW_E_CALLBACK);
    tw_session_close(&session);
    tw_compiled_free(&compiled);

    options.output_rows = "t1";
    assert_false(tw_test_try_compile(text, &options, &compiled, &diag));
    assert_int_equal(diag.code, TW_CODE_USAGE); /* not an output */
    tw_compiled_free(&compiled);
}

/* An input by rows that is read again behind attention is held whole all the same: then it is copied, and takes no more
 * than what is there from the start, but for a row. */
static void held_inputs_cost_a_row(void **state)
{
    (void)state;
    static const char text[] =
        "graph \"held\" {\n  input %t0 : f32[1,64,16]\n"
        "  const %a : f32[16,16] = random 1 -0.4 0.4\n"
        "  const %b : f32[16,16] = random 2 -0.4 0.4\n"
        "  const %c : f32[16,16] = random 3 -0.4 0.4\n"
        "  %q = FullyConnected(%t0, %a)\n  %k = FullyConnected(%t0, %b)\n"
        "  %v = FullyConnected(%t0, %c)\n  %s = Attend(%q, %k, %v) {heads=2}\n"
        "  %y = Add(%t0, %s)\n  output %y\n}\n";
    static tw_outcome whole, fed;
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.prefer = TW_PREFER_MEMORY;
    run_network(text, &options, &whole);
    options.input_rows = "t0";
    run_network(text, &options, &fed);
    expect_same(&whole, &fed, "an input by rows that is held", text);
    assert_true(fed.total <= whole.total + 64 + 64); /* a row, and counters */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks_roll),   cmocka_unit_test(plans_are_reproducible),
        cmocka_unit_test(causal_residuals_roll),  cmocka_unit_test(outputs_go_row_by_row),
        cmocka_unit_test(held_inputs_cost_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
