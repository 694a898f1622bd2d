/* Random networks through the whole compiler and runtime, whole and in random bands, held against
 * the same networks evaluated node by node as they were written: equal to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph/print.h"
#include "host/compare.h"
#include "host/session.h"
#include "support/normalized.h"
#include "support/random_graph.h"
#include "support/reference.h"

#define GRAPHS 120

static void require(bool ok, const tw_diag *diag, const char *text)
{
    char message[2048];
    tw_diag_text(diag, message, sizeof message);
    if (!ok)
        fail_msg("%s\nin\n%s", message, text);
}

/* The graph as a file. */
static char *write_model(tw_arena *arena, const tw_graph *graph)
{
    char *path = tw_strdup(arena, "/tmp/tilewright-network-XXXXXX");
    tw_diag diag = {0};
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    assert_non_null(file);
    assert_true(tw_text_print(graph, file, NULL, &diag));
    fclose(file);
    return path;
}

/* Integer data: -0 and 0 are the same result. */
static void compare_run(const char *path, const tw_graph *graph, const void *const *in,
                        const void *const *want, uint64_t bands, const char *text)
{
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.random_bands = bands;
    tw_compiled compiled;
    tw_session session;
    require(tw_compile_file(path, &options, &compiled, &diag), &diag, text);
    require(tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag), &diag, text);
    assert_int_equal(session.model.input_count, graph->input_count);
    assert_int_equal(session.model.output_count, graph->output_count);
    for (int i = 0; i < graph->input_count; i++)
        tw_scatter(tw_input_tensor(&session.model, (uint32_t)i),
                   tw_input(&session.context, (uint32_t)i), in[i]);
    require(tw_session_run(&session, &diag), &diag, text);
    for (int i = 0; i < graph->output_count; i++) {
        const tw_shape *shape = &graph->outputs[i]->shape;
        void *have = tw_alloc(session.arena, tw_shape_bytes(shape) + 1);
        tw_gather(tw_output_tensor(&session.model, (uint32_t)i),
                  tw_session_output(&session, (uint32_t)i), have);
        double difference = tw_reference_difference(shape, want[i], have);
        if (difference != 0)
            fail_msg("bands %d: output %d differs by %g:\n%s", (int)bands, i, difference, text);
    }
    tw_session_close(&session);
    tw_compiled_free(&compiled);
}

static void compare(bool quantized)
{
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        tw_arena *arena = tw_arena_new();
        const char *text = tw_random_graph(arena, 1000 + seed, quantized);
        tw_graph *graph = tw_parse_rounded(arena, text, 1);
        const char *path = write_model(arena, graph);
        const void *in[16], *want[16];
        uint64_t data = seed;
        tw_diag diag = {0};
        for (int i = 0; i < graph->input_count; i++)
            in[i] = tw_reference_random(arena, &graph->inputs[i]->shape, &data, -3, 3, 1);
        require(tw_reference_run(graph, arena, in, want, 0, &diag), &diag, text);
        for (uint64_t bands = 0; bands < 3; bands++)
            compare_run(path, graph, in, want, bands, text);
        unlink(path);
        tw_arena_free(arena);
    }
}

static void test_float(void **state)
{
    (void)state;
    compare(false);
}

static void test_quantized(void **state)
{
    (void)state;
    compare(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_float),
                                       cmocka_unit_test(test_quantized)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
