/* The same network saved by five frameworks (scripts/fixtures/five_ways.py): plans of one size, in memory
 * and in weights, that compute the same, whole and in the least memory that they can be planned for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "host/session.h"
#include "support/model_folder.h"

static const char *const ways[] = {"model.onnx", "model.tflite", "model.pt2", "model.keras",
                                   "saved_model"};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct tw_way {
    uint32_t activations, scratch, state, context, weights, smallest;
    int steps;
} tw_way;

/* Channels last; budget 0: none. */
static tw_compile_options options_for(uint32_t budget)
{
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.io_layout = TW_IO_NHWC;
    options.memories.fast.given = options.memories.fast.bounded = budget > 0;
    options.memories.fast.bytes = budget;
    return options;
}

/* in, out: of one step. */
static void run(const char *path, const tw_compiled *compiled, const tw_io_row *in,
                const tw_io_row *out)
{
    tw_session session;
    tw_diag diag = {0};
    if (!tw_session_open(&session, compiled->plan, compiled->plan_bytes, &diag))
        fail_msg("%s: %s", path, diag.message);
    memcpy(tw_session_input(&session, 0), in->data, in->bytes);
    assert_true(tw_session_run(&session, &diag));
    const float *have = (const float *)tw_session_output(&session, 0);
    const float *want = (const float *)(const void *)out->data;
    for (size_t i = 0; i < out->bytes / sizeof *want; i++)
        if (!(fabsf(have[i] - want[i]) <= 1e-6F + 1e-5F * fabsf(want[i])))
            fail_msg("%s: element %zu is %g, not %g", path, i, (double)have[i], (double)want[i]);
    tw_session_close(&session);
}

static tw_way compile(const tw_model_folder *folder, uint32_t budget)
{
    const tw_compile_options options = options_for(budget);
    tw_compiled compiled;
    tw_diag diag = {0};
    if (!tw_compile_file(folder->model, &options, &compiled, &diag))
        fail_msg("%s: %s", folder->model, diag.message);
    run(folder->model, &compiled, &folder->rows[0], &folder->rows[1]);
    const tw_report *r = &compiled.report;
    const tw_way way = {.activations = r->memory.activations,
                        .scratch = r->memory.scratch,
                        .state = r->memory.state,
                        .context = r->memory.context,
                        .weights = r->flash.weights,
                        .smallest = r->smallest_budget,
                        .steps = r->step_count};
    tw_compiled_free(&compiled);
    return way;
}

static void compare(const char *network)
{
    tw_arena *arena = tw_arena_new();
    tw_way first[2] = {{0}};
    for (int i = 0; i < WAYS; i++) {
        tw_model_folder folder;
        tw_model_folder_read(arena, tw_format(arena, "tests/data/five-ways/%s", network), ways[i],
                             &folder);
        for (int tight = 0; tight < 2; tight++) {
            const tw_way way = compile(&folder, tight ? first[0].smallest : 0);
            if (i == 0)
                first[tight] = way;
            if (memcmp(&way, &first[tight], sizeof way) != 0)
                fail_msg("%s: %u bytes of activations, %u of weights and %d steps; %s: %u, %u, %d",
                         folder.model, way.activations, way.weights, way.steps, ways[0],
                         first[tight].activations, first[tight].weights, first[tight].steps);
        }
    }
    assert_true(first[1].activations <= first[0].activations);
    tw_arena_free(arena);
}

static void images(void **state)
{
    (void)state;
    compare("image");
}

static void residuals(void **state)
{
    (void)state;
    compare("residual");
}

static void vectors(void **state)
{
    (void)state;
    compare("vector");
}

/* Loops of TensorFlow and TFLite are the layers that they are. */
static void recurrences(void **state)
{
    (void)state;
    compare("recurrent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images),
        cmocka_unit_test(residuals),
        cmocka_unit_test(vectors),
        cmocka_unit_test(recurrences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
