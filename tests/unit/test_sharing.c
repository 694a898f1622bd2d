/* Results that take the place of bytes no longer needed, in plans: over the input of the call that makes
 * them, over rows their segment has consumed, in windows that slide. Every call of random networks is
 * observed (support/witness.h), whole and rolling, at several budgets, with ends by rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/layers.h"
#include "support/plans.h"
#include "support/witness.h"

static int network_count(void)
{
    const char *text = getenv("TILEWRIGHT_RANDOM_NETWORKS");
    return text ? atoi(text) / 3 + 1 : 100;
}

/* Compile and observe; 0: it cannot be had so. The plan's total. */
static uint32_t observe(const char *text, const tw_compile_options *options, tw_witnessed *seen)
{
    tw_compiled compiled;
    tw_diag diag = {0};
    if (!tw_test_try_compile(text, options, &compiled, &diag)) {
        tw_compiled_free(&compiled);
        return 0;
    }
    uint32_t total = compiled.report.memory.total;
    tw_witness(&compiled, text, seen);
    tw_compiled_free(&compiled);
    return total;
}

static void no_needed_byte_is_overwritten(void **state)
{
    (void)state;
    static tw_layers m;
    tw_witnessed whole = {0}, rolled = {0};
    for (int seed = 1; seed <= network_count(); seed++) {
        tw_compile_options options;
        tw_layers_make(&m, (uint64_t)seed + 5000);
        tw_compile_options_default(&options);
        options.prefer = TW_PREFER_SPEED;
        uint32_t most = observe(m.text, &options, &whole);
        options.prefer = TW_PREFER_MEMORY;
        uint32_t least = observe(m.text, &options, &rolled);
        assert_true(least > 0 && least <= most);
        options.input_rows = "t0";
        (void)observe(m.text, &options, &rolled);
        options.input_rows = NULL;
        options.prefer = TW_PREFER_BALANCED;
        options.memories.fast.bounded = options.memories.fast.given = true;
        options.memories.fast.bytes = least + (most - least) / 2;
        assert_true(observe(m.text, &options, &rolled) > 0);
    }
    print_message("whole: %d calls, %d over their input; rolling: %d calls, %d over their input, "
                  "%d over consumed rows; %d operands inside another tensor\n",
                  whole.calls, whole.overlapped, rolled.calls, rolled.overlapped, rolled.replaced,
                  whole.strided + rolled.strided);
    assert_true(whole.overlapped > network_count() / 2);
    assert_true(rolled.overlapped > network_count());
    assert_true(rolled.replaced > network_count());
    assert_true(whole.strided > network_count() / 10);
}

/* A chain of layers of one shape stays where it is: every second one goes back up. */
static void chains_do_not_wander(void **state)
{
    (void)state;
    static tw_layers m;
    tw_compile_options options;
    tw_compiled compiled;
    tw_witnessed seen = {0};
    m = (tw_layers){.s8 = true};
    tw_layers_say(&m, "graph \"chain\" {\n  input %%t0");
    tw_layers_type(&m, 32, 8, 16);
    tw_layers_say(&m, "\n");
    m.count = 1;
    for (int i = 0; i < 12; i++) {
        tw_layers_say(&m,
                      "  const %%w%d : s8[3,3,16] quant(scale=0.02, zero=0) = random %d -128 128\n",
                      m.count, m.count);
        int y = tw_layers_begin(&m, 32, 8, 16);
        tw_layers_say(&m, "DepthwiseConv(%%t%d, %%w%d) {pad_begin=[1,1], pad_end=[1,1]}\n", y - 1,
                      y);
    }
    tw_layers_say(&m, "  output %%t%d\n}\n", m.count - 1);
    tw_compile_options_default(&options);
    options.prefer = TW_PREFER_SPEED;
    tw_test_compile(m.text, &options, &compiled);
    assert_int_equal(compiled.report.segment_count, 12);
    assert_true(compiled.report.memory.activations <= 32 * 8 * 16 + 2 * 8 * 16);
    tw_witness(&compiled, "the chain", &seen);
    assert_int_equal(seen.overlapped, 12);
    tw_compiled_free(&compiled);
}

/* Two branches are made inside what joins them; two halves are read inside what they are cut from. */
static const char branches[] =
    "graph \"branches\" {\n  input %x : s8[1,16,16,8] quant(scale=0.1, zero=0)\n"
    "  const %u : s8[8,3,3,8] quant(scale=0.02, zero=0) = random 1 -128 128\n"
    "  const %v : s8[8,1,1,8] quant(scale=0.02, zero=0) = random 2 -128 128\n"
    "  %a : s8[1,16,16,8] quant(scale=0.1, zero=0) = Conv(%x, %u) {pad_begin=[1,1], "
    "pad_end=[1,1]}\n"
    "  %b : s8[1,16,16,8] quant(scale=0.1, zero=0) = Conv(%x, %v)\n"
    "  %y : s8[1,16,16,16] quant(scale=0.1, zero=0) = Concat(%a, %b) {axis=3}\n"
    "  output %y\n}\n";
static const char halves[] =
    "graph \"halves\" {\n  input %x : s8[1,16,16,8] quant(scale=0.1, zero=0)\n"
    "  const %u : s8[32,1,1,8] quant(scale=0.02, zero=0) = random 1 -128 128\n"
    "  const %v : s8[4,3,3,16] quant(scale=0.02, zero=0) = random 2 -128 128\n"
    "  %a : s8[1,16,16,32] quant(scale=0.1, zero=0) = Conv(%x, %u)\n"
    "  %b : s8[1,16,16,16] quant(scale=0.1, zero=0) = Slice(%a) {begin=[0,0,0,0], "
    "size=[1,16,16,16]}\n"
    "  %c : s8[1,16,16,16] quant(scale=0.1, zero=0) = Slice(%a) {begin=[0,0,0,16], "
    "size=[1,16,16,16]}\n"
    "  %d : s8[1,16,16,4] quant(scale=0.1, zero=0) = Conv(%b, %v) {pad_begin=[1,1], "
    "pad_end=[1,1]}\n"
    "  %e : s8[1,16,16,4] quant(scale=0.1, zero=0) = Conv(%c, %v) {pad_begin=[1,1], "
    "pad_end=[1,1]}\n"
    "  %y : s8[1,16,16,4] quant(scale=0.1, zero=0) = Add(%d, %e)\n  output %y\n}\n";

static void parts_lie_inside(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t most; /* activations, every layer whole */
    } cases[] = {{branches, 2048 + 4096}, {halves, 8192 + 2 * 1024}};
    for (int i = 0; i < 2; i++) {
        tw_compile_options options;
        tw_compiled compiled;
        tw_witnessed seen = {0};
        tw_compile_options_default(&options);
        options.prefer = TW_PREFER_SPEED;
        tw_test_compile(cases[i].text, &options, &compiled);
        if (compiled.report.memory.activations > cases[i].most)
            fail_msg("%u bytes, at most %u:\n%s", compiled.report.memory.activations, cases[i].most,
                     cases[i].text);
        tw_witness(&compiled, cases[i].text, &seen);
        assert_true(seen.strided > 0);
        tw_compiled_free(&compiled);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_needed_byte_is_overwritten),
        cmocka_unit_test(chains_do_not_wander),
        cmocka_unit_test(parts_lie_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
