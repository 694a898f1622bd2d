/* Fully connected layers that sum up rows: less memory where a map or a wide middle was whole, the same bytes, and only
 * where it was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "support/plans.h"

/* An image or a series, a window over it, and a head over all of it. */
#define HEAD_S8(x, conv, y, elements, attributes)                                                  \
    "graph \"head\" {\n  input %x : s8" x " quant(scale=0.1, zero=-3)\n"                           \
    "  const %k : s8" conv " quant(scale=0.02, zero=0) = random 1 -128 128\n"                      \
    "  %m : s8" y " quant(scale=0.1, zero=-3) = Conv(%x, %k) {" attributes "}\n"                   \
    "  %v : s8[1," elements "] quant(scale=0.1, zero=-3) = Reshape(%m) {shape=[1," elements "]}\n" \
    "  const %w : s8[4," elements "] quant(scale=0.01, zero=0) = random 2 -128 128\n"              \
    "  const %b : s32[4] = random 3 -3000 3000\n"                                                  \
    "  %y : s8[1,4] quant(scale=0.4, zero=5) = FullyConnected(%v, %w, %b)\n  output %y\n}\n"

#define PAIR(type, weights, quant, last, bias, sums)                                               \
    "graph \"pair\" {\n  input %x : " type "[1,64]" quant "\n"                                     \
    "  const %a : " weights "[1024,64]" last " = random 1 -1 1\n"                                  \
    "  const %b : " weights "[64,1024]" last " = random 2 -1 1\n"                                  \
    "  const %s : " bias "[1024]" sums " = random 3 -1 1\n"                                        \
    "  %m : " type "[1,1024]" quant " = FullyConnected(%x, %a, %s)\n"                              \
    "  %g : " type "[1,1024]" quant " = Tanh(%m)\n"                                                \
    "  %y : " type "[1,64]" quant " = FullyConnected(%g, %b)\n  output %y\n}\n"

static const struct {
    const char *what, *text;
    unsigned most; /* bytes that summing up may take */
} networks[] = {
    {"image", HEAD_S8("[1,30,20,1]", "[8,3,3,1]", "[1,28,18,8]", "4032", ""), 1300},
    {"time", HEAD_S8("[1,1,400,2]", "[16,1,5,2]", "[1,1,396,16]", "6336", ""), 1300},
    {"pair of int8",
     PAIR("s8", "s8", " quant(scale=0.02, zero=1)", " quant(scale=0.01, zero=0)", "s32", ""), 900},
    {"pair of int16",
     PAIR("s16", "s8", " quant(scale=0.0002, zero=0)", " quant(scale=0.01, zero=0)", "s64", ""),
     1400},
    {"pair of floats", PAIR("f32", "f32", "", "", "f32", ""), 1100},
};

typedef struct tw_result {
    uint32_t total, smallest, bytes;
    uint64_t macs;
    int summed;
    uint8_t data[4096];
} tw_result;

static void run(const char *text, const tw_compile_options *options, tw_result *result)
{
    tw_compiled compiled;
    tw_session session;
    tw_diag diag = {0};
    uint64_t seed = 5;
    tw_test_compile(text, options, &compiled);
    const tw_report *r = &compiled.report;
    *result = (tw_result){r->memory.total, r->smallest_budget, 0, r->macs, 0, {0}};
    assert_int_equal(r->macs_recomputed, 0);
    for (int i = 0; i < r->step_count; i++)
        result->summed += strcmp(r->steps[i].operator_name, "FullyConnectedMap") == 0;
    assert_true(tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag));
    tw_test_fill(tw_input_tensor(&session.model, 0), tw_session_input(&session, 0), &seed);
    assert_true(tw_session_run(&session, &diag));
    result->bytes = tw_tensor_bytes(tw_output_tensor(&session.model, 0));
    assert_true(result->bytes <= sizeof result->data);
    memcpy(result->data, tw_session_output(&session, 0), result->bytes);
    tw_session_close(&session);
    tw_compiled_free(&compiled);
}

static void expect_same(const tw_result *have, const tw_result *want, const char *what)
{
    if (have->bytes != want->bytes || memcmp(have->data, want->data, want->bytes) != 0)
        fail_msg("%s: other bytes", what);
    assert_int_equal(have->macs, want->macs);
}

/* Memory is what is preferred, or what is short: at the smallest budget whatever is preferred. */
static void it_takes_less(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        static tw_result whole, least, short_of;
        tw_compile_options options;
        tw_compile_options_default(&options);
        run(networks[i].text, &options, &whole);
        assert_int_equal(whole.summed, 0);
        options.prefer = TW_PREFER_MEMORY;
        run(networks[i].text, &options, &least);
        expect_same(&least, &whole, networks[i].what);
        if (least.summed != 1 || least.total > networks[i].most)
            fail_msg("%s: %u bytes, %d layers summed up", networks[i].what, least.total,
                     least.summed);
        assert_true(least.total < whole.total);
        assert_int_equal(whole.smallest, least.smallest);
        for (tw_prefer prefer = 0; prefer <= TW_PREFER_SPEED; prefer++) {
            options.prefer = prefer;
            options.memories.fast.bounded = options.memories.fast.given = true;
            options.memories.fast.bytes = least.total;
            run(networks[i].text, &options, &short_of);
            expect_same(&short_of, &whole, networks[i].what);
            assert_int_equal(short_of.summed, 1);
            assert_true(short_of.total <= least.total);
        }
    }
}

/* Every way to cut them gives the same bytes: the first seed leaves the layers whole, odd ones sum them up. */
static void any_bands(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        static tw_result whole, cut;
        tw_compile_options options;
        tw_compile_options_default(&options);
        run(networks[i].text, &options, &whole);
        for (uint64_t seed = 1; seed < 20; seed += 2) {
            options.random_bands = seed;
            run(networks[i].text, &options, &cut);
            expect_same(&cut, &whole, networks[i].what);
            assert_int_equal(cut.summed, 1);
        }
    }
}

/* What has nothing to gain, or no such sums, stays as it is. */
static const char *const kept[] = {
    /* as many outputs as bytes could be saved */
    "graph \"wide\" {\n  input %x : s8[1,16] quant(scale=0.1, zero=0)\n"
    "  const %a : s8[40,16] quant(scale=0.01, zero=0) = random 1 -128 128\n"
    "  const %b : s8[10,40] quant(scale=0.01, zero=0) = random 2 -128 128\n"
    "  %m : s8[1,40] quant(scale=0.1, zero=0) = FullyConnected(%x, %a)\n"
    "  %y : s8[1,10] quant(scale=0.1, zero=0) = FullyConnected(%m, %b)\n  output %y\n}\n",
    /* its input is quantised whole */
    "graph \"hybrid\" {\n  input %x : f32[1,64]\n"
    "  const %a : s8[1024,64] quant(scale=0.01, zero=0) = random 1 -128 128\n"
    "  const %b : s8[64,1024] quant(scale=0.01, zero=0) = random 2 -128 128\n"
    "  %m = FullyConnected(%x, %a)\n  %y = FullyConnected(%m, %b)\n  output %y\n}\n",
    /* a vector each row */
    "graph \"rows\" {\n  input %x : s8[1,20,64] quant(scale=0.1, zero=0)\n"
    "  const %a : s8[256,64] quant(scale=0.01, zero=0) = random 1 -128 128\n"
    "  const %b : s8[8,256] quant(scale=0.01, zero=0) = random 2 -128 128\n"
    "  %m : s8[1,20,256] quant(scale=0.1, zero=0) = FullyConnected(%x, %a)\n"
    "  %y : s8[1,20,8] quant(scale=0.1, zero=0) = FullyConnected(%m, %b)\n  output %y\n}\n",
    /* the input is there anyway */
    "graph \"input\" {\n  input %x : s8[1,20,64] quant(scale=0.1, zero=0)\n"
    "  %v : s8[1,1280] quant(scale=0.1, zero=0) = Reshape(%x) {shape=[1,1280]}\n"
    "  const %b : s8[8,1280] quant(scale=0.01, zero=0) = random 2 -128 128\n"
    "  %y : s8[1,8] quant(scale=0.1, zero=0) = FullyConnected(%v, %b)\n  output %y\n}\n",
};

static void it_stays_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        static tw_result result;
        tw_compile_options options;
        tw_compile_options_default(&options);
        options.prefer = TW_PREFER_MEMORY;
        run(kept[i], &options, &result);
        assert_int_equal(result.summed, 0);
    }
}

/* An input by rows goes into the sums as it comes, through its reshape. */
static void an_input_comes_by_rows(void **state)
{
    (void)state;
    static tw_result whole, fed;
    tw_compile_options options;
    tw_compile_options_default(&options);
    run(kept[3], &options, &whole);
    options.prefer = TW_PREFER_MEMORY;
    options.input_rows = "x";
    run(kept[3], &options, &fed);
    assert_int_equal(fed.summed, 1);
    expect_same(&fed, &whole, "an input by rows");
    assert_true(fed.total < whole.total - 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_takes_less),
        cmocka_unit_test(any_bands),
        cmocka_unit_test(it_stays_whole),
        cmocka_unit_test(an_input_comes_by_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
