/* What real networks read and write in a run, by memory: as predicted, to the byte, at budgets that need
 * slow memory and at ones that do not. (Random networks: test_rolling.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/diag.h"
#include "support/model_folder.h"
#include "support/plans.h"
#include "support/traffic.h"

static const char *const models[] = {"mlperf_resnet_int8", "mlperf_kws_int8",
                                     "mlperf_vww_int8",    "mlperf_ad01_int8",
                                     "person_detect",      "tinymaix_mnist_resnet_q"};
static const char *const budgets[] = {"1G", "32K+1M", "20K+1M", "12K+1M",
                                      "sram:6K,psram:8M@6,flash@4"};

static void expect_predicted(const char *path, const char *budget, tw_prefer prefer, int *slow)
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    tw_session session;
    tw_test_traffic traffic;
    uint64_t seed = 3;
    tw_compile_options_default(&options);
    assert_true(tw_parse_memories(budget, &options.memories, &diag));
    options.prefer = prefer;
    if (!tw_compile_file(path, &options, &compiled, &diag))
        fail_msg("%s in %s: %s", path, budget, diag.message);
    assert_true(tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag));
    for (uint32_t i = 0; i < session.model.input_count; i++)
        tw_test_fill(tw_input_tensor(&session.model, i), tw_session_input(&session, i), &seed);
    tw_test_measure(&session, &traffic);
    assert_true(tw_session_run(&session, &diag));
    tw_test_expect_traffic(&traffic, &compiled.report, path);
    *slow += compiled.report.slow.bytes != 0;
    tw_session_close(&session);
    tw_compiled_free(&compiled);
}

static void networks_move_what_is_predicted(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    int slow = 0;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const char *part = tw_format(arena, "models/tflite/%s/model.tflite", models[i]);
        const char *data = tw_test_data(arena, part);
        if (!data) {
            tw_arena_free(arena);
            skip();
        }
        const char *path = tw_format(arena, "%s/%s", data, part);
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++)
            expect_predicted(path, budgets[b], (tw_prefer)(b % 3), &slow);
    }
    assert_true(slow > 6); /* else slow memory was not tested */
    tw_arena_free(arena);
}

/* Behind 16 KB, visual wake words needs slow memory for its input alone: each row of it is read once and a
 * half, the rows that two calls share twice, and nothing is written there. */
static void the_cheapest_tensors_go_to_slow_memory(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    const char *part = "models/tflite/mlperf_vww_int8/model.tflite";
    const char *data = tw_test_data(arena, part);
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    tw_compile_options_default(&options);
    assert_true(tw_parse_memories("16K+1M", &options.memories, &diag));
    assert_true(tw_compile_file(tw_format(arena, "%s/%s", data, part), &options, &compiled, &diag));
    assert_int_equal(compiled.report.slow.bytes, 96 * 96 * 3);
    assert_int_equal(compiled.report.slow.traffic_written, 0);
    assert_true(compiled.report.slow.traffic_read <= 96 * 96 * 3 * 3 / 2);
    tw_compiled_free(&compiled);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_move_what_is_predicted),
        cmocka_unit_test(the_cheapest_tensors_go_to_slow_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
