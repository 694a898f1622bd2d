/* Below what rows and columns reach, parts of a network are computed twice: the same bytes in less memory, never
 * more memory for a smaller budget, weights carried once, and every multiply-accumulate of it reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "runtime/kernel.h"
#include "support/layers.h"
#include "support/plans.h"
#include "support/traffic.h"

/* ---- networks ---- */

/* A convolution that covers its whole input. */
static int conv(tw_layers *m, int x, int channels, int kernel, int stride)
{
    const int h = (m->h[x] + stride - 1) / stride, w = (m->w[x] + stride - 1) / stride;
    const int pad = (h - 1) * stride + kernel - m->h[x], n = m->count;
    tw_layers_say(
        m, "  const %%w%d : s8[%d,%d,%d,%d] quant(scale=0.01, zero=0) = random %d -128 128\n", n,
        channels, kernel, kernel, m->c[x], n);
    int y = tw_layers_begin(m, h, w, channels);
    tw_layers_say(m,
                  "Conv(%%t%d, %%w%d) {stride=[%d,%d], pad_begin=[%d,%d], pad_end=[%d,%d]} "
                  "clamp(0, 6)\n",
                  x, n, stride, stride, pad / 2, pad / 2, pad - pad / 2, pad - pad / 2);
    return y;
}

static int upsample(tw_layers *m, int x, int channels)
{
    const int n = m->count;
    tw_layers_say(m,
                  "  const %%w%d : s8[%d,2,2,%d] quant(scale=0.01, zero=0) = random %d -128 128\n",
                  n, channels, m->c[x], n);
    int y = tw_layers_begin(m, 2 * m->h[x], 2 * m->w[x], channels);
    tw_layers_say(m, "ConvTranspose(%%t%d, %%w%d) {stride=[2,2]}\n", x, n);
    return y;
}

static int concat(tw_layers *m, int a, int b)
{
    int y = tw_layers_begin(m, m->h[a], m->w[a], m->c[a] + m->c[b]);
    tw_layers_say(m, "Concat(%%t%d, %%t%d) {axis=3}\n", a, b);
    return y;
}

/* Scaled by a gate computed from the mean over the image. */
static int excite(tw_layers *m, int x)
{
    int mean = tw_layers_begin(m, 1, 1, m->c[x]);
    tw_layers_say(m, "ReduceMean(%%t%d) {axes=[1,2]}\n", x);
    int gate = conv(m, conv(m, mean, 4, 1, 1), m->c[x], 1, 1);
    int y = tw_layers_begin(m, m->h[x], m->w[x], m->c[x]);
    tw_layers_say(m, "Mul(%%t%d, %%t%d)\n", x, gate);
    return y;
}

static void begin(tw_layers *m, const char *name, int extent)
{
    *m = (tw_layers){.s8 = true};
    tw_layers_say(m, "graph \"%s\" {\n  input %%t0", name);
    m->h[0] = m->w[0] = extent;
    m->c[0] = 3;
    m->count = 1;
    tw_layers_type(m, extent, extent, 3);
    tw_layers_say(m, "\n");
}

static void finish(tw_layers *m, int output)
{
    tw_layers_say(m, "  output %%t%d\n}\n", output);
}

static void make_unet(tw_layers *m)
{
    begin(m, "unet", 32);
    int a = conv(m, conv(m, 0, 8, 3, 1), 8, 3, 1);
    int b = conv(m, conv(m, a, 16, 3, 2), 16, 3, 1);
    int c = conv(m, conv(m, b, 32, 3, 2), 32, 3, 1);
    int up = conv(m, concat(m, upsample(m, c, 16), b), 16, 3, 1);
    finish(m, conv(m, concat(m, upsample(m, up, 8), a), 4, 3, 1));
}

static void make_excite(tw_layers *m)
{
    begin(m, "excite", 32);
    int x = conv(m, excite(m, conv(m, 0, 24, 3, 1)), 8, 1, 1);
    x = conv(m, excite(m, conv(m, x, 48, 3, 2)), 8, 1, 1);
    finish(m, conv(m, x, 4, 3, 2));
}

/* Every layer reads all before it; the last comes late. */
static void make_dense(tw_layers *m)
{
    begin(m, "dense", 24);
    int a = conv(m, 0, 16, 3, 1), b = conv(m, concat(m, 0, a), 16, 3, 1);
    int c = conv(m, concat(m, a, b), 8, 3, 1);
    int scaled = excite(m, c);
    finish(m, conv(m, concat(m, concat(m, a, b), scaled), 4, 1, 1));
}

/* ---- runs ---- */

typedef struct tw_outcome {
    uint8_t bytes[1 << 16];
    size_t size;
    uint32_t total, smallest, weights;
    uint64_t macs, again;
    bool fits;
} tw_outcome;

typedef struct tw_counted {
    const tw_report *report;
    uint64_t macs;
} tw_counted;

/* What a firing multiplies: its share of its step, by the rows it makes or sums up. */
static int count_macs(void *user, tw_context *context, const tw_firing *firing)
{
    tw_counted *counted = user;
    const tw_report_step *s = &counted->report->steps[firing->step];
    const tw_report_segment *g = &counted->report->segments[s->segment];
    (void)context;
    if (s->macs == 0)
        return 0;
    uint64_t rows = (uint64_t)s->dim[g->axis];
    if (strcmp(s->operator_name, "FullyConnectedMap") == 0) /* it sums up rows */
        rows = (uint64_t)firing->call->in[0].tensor->dim[g->axis];
    if (g->columns)
        rows *= (uint64_t)s->dim[g->axis + 1];
    assert_int_equal(s->macs % rows, 0);
    counted->macs += s->macs / rows * (uint64_t)firing->rows;
    return 0;
}

static void read_outputs(tw_session *session, tw_outcome *outcome)
{
    outcome->size = 0;
    for (uint32_t i = 0; i < session->model.output_count; i++) {
        uint32_t size = tw_tensor_bytes(tw_output_tensor(&session->model, i));
        assert_true(outcome->size + size <= sizeof outcome->bytes);
        memcpy(outcome->bytes + outcome->size, tw_session_output(session, i), size);
        outcome->size += size;
    }
}

static void run_plan(const tw_compiled *compiled, const char *text, tw_outcome *outcome)
{
    tw_session session;
    tw_diag diag = {0};
    tw_test_traffic traffic;
    tw_counted counted = {.report = &compiled->report};
    for (int round = 0; round < 2; round++) {
        uint64_t seed = 9;
        assert_true(tw_session_open(&session, compiled->plan, compiled->plan_bytes, &diag));
        tw_test_fill(tw_input_tensor(&session.model, 0), tw_session_input(&session, 0), &seed);
        if (round == 0)
            tw_test_measure(&session, &traffic);
        else
            tw_set_hook(&session.context, count_macs, &counted);
        if (!tw_session_run(&session, &diag))
            fail_msg("%s\n%s", diag.message, text);
        if (round == 0)
            tw_test_expect_traffic(&traffic, &compiled->report, text);
        read_outputs(&session, outcome);
        tw_session_close(&session);
    }
    if (compiled->report.macs)
        assert_int_equal(counted.macs, compiled->report.macs + compiled->report.macs_recomputed);
}

/* budget 0: none. Where the plan does not fit, only its sizes come out. */
static void run_within(const char *text, uint32_t budget, tw_prefer prefer, bool again,
                       tw_outcome *outcome)
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    tw_compile_options_default(&options);
    options.prefer = prefer;
    options.no_recompute = !again;
    options.memories.fast.given = options.memories.fast.bounded = budget > 0;
    options.memories.fast.bytes = budget;
    *outcome = (tw_outcome){.fits = tw_test_try_compile(text, &options, &compiled, &diag)};
    const tw_report *r = &compiled.report;
    if (!outcome->fits && !strstr(diag.message, "the smallest budget that works is"))
        fail_msg("%s\n%s", diag.message, text);
    outcome->total = r->memory.total;
    outcome->smallest = r->smallest_budget;
    outcome->weights = r->flash.weights;
    outcome->macs = r->macs;
    outcome->again = r->macs_recomputed;
    uint64_t segments = 0;
    for (int i = 0; i < r->segment_count; i++)
        segments += r->segments[i].macs_recomputed;
    assert_int_equal(segments, r->macs_recomputed);
    if (outcome->fits)
        run_plan(&compiled, text, outcome);
    tw_compiled_free(&compiled);
}

static void expect_same(const tw_outcome *want, const tw_outcome *have, uint32_t budget,
                        const char *text)
{
    if (!have->fits || have->size != want->size ||
        memcmp(have->bytes, want->bytes, want->size) != 0)
        fail_msg("within %u bytes it %s:\n%s", budget, have->fits ? "differs" : "does not fit",
                 text);
    assert_true(have->total <= budget);
    assert_int_equal(have->macs, want->macs);
}

static void expect_less(void (*make)(tw_layers *), const char *name)
{
    enum { BUDGETS = 6 };
    static tw_layers m;
    static tw_outcome whole, once, least, within;
    make(&m);
    run_within(m.text, 0, TW_PREFER_MEMORY, true, &whole);
    run_within(m.text, 1, TW_PREFER_BALANCED, false, &once);
    run_within(m.text, 1, TW_PREFER_BALANCED, true, &least);
    print_message("%-8s %7u bytes with nothing computed twice, %7u with %.1f%% more\n", name,
                  once.smallest, least.smallest, 100.0 * (double)least.again / (double)least.macs);
    assert_int_equal(whole.again, 0);
    assert_int_equal(once.again, 0);
    assert_true(least.again > 0 && least.again < 2 * least.macs);
    assert_true(least.smallest < once.smallest);
    uint32_t before = once.smallest;
    for (int i = 0; i < BUDGETS; i++) {
        const uint32_t budget = once.smallest - 1 -
                                (uint32_t)((uint64_t)(once.smallest - 1 - least.smallest) *
                                           (uint64_t)i / (BUDGETS - 1));
        run_within(m.text, budget, (tw_prefer)(i % 3), true, &within);
        expect_same(&whole, &within, budget, m.text);
        assert_true(within.again > 0 && within.total <= before);
        assert_true(within.weights <= whole.weights + 16);
        before = budget; /* preferences differ: what a budget allows */
    }
    run_within(m.text, once.smallest, TW_PREFER_BALANCED, true, &within);
    assert_int_equal(within.again, 0);
}

static void nothing_is_held_that_can_be_made_again(void **state)
{
    (void)state;
    expect_less(make_unet, "unet");
    expect_less(make_excite, "excite");
    expect_less(make_dense, "dense");
}

/* For one preference: the less is allowed, the less is taken. */
static void memory_never_rises(void **state)
{
    (void)state;
    static tw_layers m;
    static tw_outcome least, within;
    make_unet(&m);
    run_within(m.text, 1, TW_PREFER_BALANCED, true, &least);
    uint32_t before = UINT32_MAX;
    uint64_t again = 0;
    for (uint32_t part = 8; part <= 8; part--) {
        run_within(m.text, least.smallest + least.smallest * part / 16, TW_PREFER_MEMORY, true,
                   &within);
        assert_true(within.fits && within.total <= before && within.again >= again);
        before = within.total;
        again = within.again;
    }
    assert_true(again > 0);
}

static void layers_are_named(void **state)
{
    (void)state;
    static tw_layers m;
    static tw_outcome least;
    tw_compile_options options;
    tw_compiled compiled;
    make_excite(&m);
    run_within(m.text, 1, TW_PREFER_BALANCED, true, &least);
    tw_compile_options_default(&options);
    options.memories.fast.given = options.memories.fast.bounded = true;
    options.memories.fast.bytes = least.smallest;
    tw_test_compile(m.text, &options, &compiled);
    const tw_report *r = &compiled.report;
    int again = 0;
    for (int i = 0; i < r->step_count; i++) {
        const bool says = strstr(r->steps[i].name, " (again") != NULL;
        assert_int_equal(says, r->steps[i].again);
        again += says;
        for (int k = 0; k < i; k++)
            assert_string_not_equal(r->steps[i].name, r->steps[k].name);
    }
    assert_true(again > 0);
    tw_compiled_free(&compiled);
}

/* Slow memory is what comes after it: used where computing again does not suffice, or is forbidden. */
static void slow_memory_comes_last(void **state)
{
    (void)state;
    static tw_layers m;
    static tw_outcome least;
    tw_compile_options options;
    tw_compiled compiled;
    make_excite(&m);
    run_within(m.text, 1, TW_PREFER_BALANCED, true, &least);
    tw_compile_options_default(&options);
    options.memories.fast.given = options.memories.fast.bounded = true;
    options.memories.slow.given = true;
    for (int how = 0; how < 3; how++) {
        options.memories.fast.bytes = how == 1 ? least.smallest - 16 : least.smallest;
        options.no_recompute = how == 2;
        tw_test_compile(m.text, &options, &compiled);
        assert_int_equal(compiled.report.slow.bytes > 0, how > 0);
        assert_int_equal(compiled.report.macs_recomputed > 0, how == 0);
        if (how == 1)
            assert_int_equal(compiled.report.smallest_budget, least.smallest);
        tw_compiled_free(&compiled);
    }
}

/* Random networks: where something can be made again, halfway down and at the least. */
static void random_networks_compute_again(void **state)
{
    (void)state;
    enum { NETWORKS = 40 };
    static tw_layers m;
    static tw_outcome whole, least, within;
    int lower = 0;
    double saved = 0;
    for (uint64_t seed = 1; seed <= NETWORKS; seed++) {
        tw_layers_make(&m, seed);
        run_within(m.text, 0, TW_PREFER_MEMORY, true, &whole);
        run_within(m.text, 1, TW_PREFER_BALANCED, true, &least);
        if (least.smallest >= whole.smallest)
            continue;
        lower++;
        saved += (double)least.smallest / whole.smallest;
        for (int i = 0; i < 2; i++) {
            const uint32_t budget =
                i ? least.smallest : least.smallest + (whole.smallest - least.smallest) / 2;
            run_within(m.text, budget, (tw_prefer)(seed % 3), true, &within);
            expect_same(&whole, &within, budget, m.text);
        }
    }
    print_message("%d of %d networks need less where parts are computed twice: %.2f of it\n", lower,
                  NETWORKS, lower ? saved / lower : 1);
    assert_true(lower > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_held_that_can_be_made_again),
        cmocka_unit_test(memory_never_rises),
        cmocka_unit_test(layers_are_named),
        cmocka_unit_test(slow_memory_comes_last),
        cmocka_unit_test(random_networks_compute_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
