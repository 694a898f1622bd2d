/* Addresses reach what no assignment can beat: on chains, residual networks, inception blocks and U-Nets of
 * many sizes the memory announced for whole layers is the bound, and near it where segments roll into what
 * they consume, one below the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/layers.h"
#include "support/plans.h"

enum { SEEDS = 8 };

static uint32_t pick(tw_layers *m, uint32_t low, uint32_t high)
{
    return low + (uint32_t)(tw_test_random(&m->random) % (high - low + 1));
}

/* A convolution that keeps rows and columns. */
static int conv(tw_layers *m, int x, int kernel, int channels)
{
    int pad = kernel / 2;
    tw_layers_say(m, "  const %%w%d : %s[%d,%d,%d,%d]%s = random %d -1 1\n", m->count,
                  m->s8 ? "s8" : "f32", channels, kernel, kernel, m->c[x],
                  m->s8 ? " quant(scale=0.02, zero=0)" : "", m->count);
    int y = tw_layers_begin(m, m->h[x], m->w[x], channels);
    tw_layers_say(m, "Conv(%%t%d, %%w%d) {pad_begin=[%d,%d], pad_end=[%d,%d]}\n", x, y, pad, pad,
                  pad, pad);
    return y;
}

static int halve(tw_layers *m, int x)
{
    int y = tw_layers_begin(m, m->h[x] / 2, m->w[x] / 2, m->c[x]);
    tw_layers_say(m, "MaxPool(%%t%d) {kernel=[2,2], stride=[2,2]}\n", x);
    return y;
}

static int twice_as_large(tw_layers *m, int x)
{
    int y = tw_layers_begin(m, m->h[x] * 2, m->w[x] * 2, m->c[x]);
    tw_layers_say(m, "ResizeNearest(%%t%d) {size=[1,%d,%d,%d]}\n", x, m->h[y], m->w[y], m->c[y]);
    return y;
}

static int join(tw_layers *m, const int *x, int count)
{
    int channels = 0;
    for (int i = 0; i < count; i++)
        channels += m->c[x[i]];
    int y = tw_layers_begin(m, m->h[x[0]], m->w[x[0]], channels);
    tw_layers_say(m, "Concat(");
    for (int i = 0; i < count; i++)
        tw_layers_say(m, "%s%%t%d", i ? ", " : "", x[i]);
    tw_layers_say(m, ") {axis=3}\n");
    return y;
}

static int chain(tw_layers *m, int x)
{
    for (int i = 0; i < 10; i++)
        x = i == 4 ? halve(m, x) : conv(m, x, (int)pick(m, 0, 1) * 2 + 1, (int)pick(m, 1, 6) * 4);
    return x;
}

static int residual(tw_layers *m, int x)
{
    x = conv(m, x, 3, 8);
    for (int i = 0; i < 5; i++) {
        int y = conv(m, conv(m, x, 3, (int)pick(m, 1, 4) * 4), 3, 8);
        int sum = tw_layers_begin(m, m->h[x], m->w[x], 8);
        tw_layers_say(m, "Add(%%t%d, %%t%d)\n", x, y);
        x = sum;
    }
    return x;
}

static int inception(tw_layers *m, int x)
{
    for (int i = 0; i < 3; i++) {
        int branch[3] = {conv(m, x, 1, (int)pick(m, 1, 4) * 4), 0, 0};
        branch[1] = conv(m, conv(m, x, 1, (int)pick(m, 1, 3) * 4), 3, (int)pick(m, 1, 4) * 4);
        branch[2] = conv(m, conv(m, x, 1, 4), 5, (int)pick(m, 1, 4) * 4);
        x = join(m, branch, 3);
    }
    return x;
}

static int u_net(tw_layers *m, int x)
{
    int skip[3];
    for (int level = 0; level < 3; level++) {
        skip[level] = conv(m, x, 3, 8 << level);
        x = halve(m, skip[level]);
    }
    x = conv(m, x, 3, 64);
    for (int level = 2; level >= 0; level--) {
        int both[2] = {twice_as_large(m, x), skip[level]};
        x = conv(m, join(m, both, 2), 3, 8 << level);
    }
    return x;
}

static void expect_bound(const char *name, int (*make)(tw_layers *m, int x))
{
    static tw_layers m;
    uint32_t total = 0, bound = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        m = (tw_layers){.count = 1, .s8 = seed % 2 == 0, .random = (uint64_t)seed + 1};
        m.h[0] = 8 * (int)pick(&m, 1, 4);
        m.w[0] = 8 * (int)pick(&m, 1, 3);
        m.c[0] = (int)pick(&m, 1, 8);
        tw_layers_say(&m, "graph \"%s %d\" {\n  input %%t0", name, seed);
        tw_layers_type(&m, m.h[0], m.w[0], m.c[0]);
        tw_layers_say(&m, "\n");
        tw_layers_say(&m, "  output %%t%d\n}\n", make(&m, 0));
        for (tw_prefer prefer = 0; prefer <= TW_PREFER_SPEED; prefer++) {
            tw_compile_options options;
            tw_compiled compiled;
            tw_compile_options_default(&options);
            options.prefer = prefer;
            tw_test_compile(m.text, &options, &compiled);
            total += compiled.report.memory.total;
            bound += compiled.report.bound;
            uint64_t most = compiled.report.bound;
            if (prefer != TW_PREFER_SPEED)
                most += most / 12;
            if (compiled.report.memory.total > most)
                fail_msg("%s, preference %d: %u bytes, the bound is %u\n%s", name, (int)prefer,
                         compiled.report.memory.total, (unsigned)compiled.report.bound, m.text);
            tw_compiled_free(&compiled);
        }
    }
    print_message("%-10s %8u bytes in all, bound %8u\n", name, total, bound);
}

static void chains(void **state)
{
    (void)state;
    expect_bound("chain", chain);
}

static void residual_networks(void **state)
{
    (void)state;
    expect_bound("residual", residual);
}

static void inception_blocks(void **state)
{
    (void)state;
    expect_bound("inception", inception);
}

static void u_nets(void **state)
{
    (void)state;
    expect_bound("U-Net", u_net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),
        cmocka_unit_test(residual_networks),
        cmocka_unit_test(inception_blocks),
        cmocka_unit_test(u_nets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
