/* Random channels-first networks, normalised and not: equal outputs, in both boundary layouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"
#include "support/normalized.h"
#include "support/random_graph.h"

#define GRAPHS 300

/* Arithmetic on int8. */
static int count_int8(const tw_graph *graph)
{
    int count = 0;
    for (int n = 0; n < graph->node_count; n++) {
        const tw_node *node = graph->nodes[n];
        bool computes = node->op->kind == TW_MATH || node->op->kind == TW_LUT;
        count += computes && strcmp(node->op->name, "Requantize") != 0 &&
                 node->in[0]->shape.dtype == TW_S8 && node->out[0]->shape.dtype == TW_S8;
    }
    return count;
}

static void compare(tw_io_layout io_layout, bool quantized)
{
    int before = 0, after = 0, int8 = 0;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        tw_arena *arena = tw_arena_new();
        tw_normalize_case c = {tw_random_graph(arena, seed, quantized), io_layout, 1, -3, 3};
        tw_normalized n = tw_normalize_text(&c);
        if (n.difference != 0)
            fail_msg("seed %d differs by %g:\n%s", (int)seed, n.difference, c.text);
        int was = tw_count_nodes(n.before, "Transpose"), is = tw_count_nodes(n.after, "Transpose");
        assert_true(is <= was + 1);
        before += was;
        after += is;
        int8 += count_int8(n.after);
        tw_normalized_free(&n);
        tw_arena_free(arena);
    }
    print_message("%d graphs: %d transposes before, %d after; %d int8 operators\n", GRAPHS, before,
                  after, int8);
    assert_true(after * 3 < before);
    assert_true(int8 > GRAPHS || !quantized);
}

static void test_keep(void **state)
{
    (void)state;
    compare(TW_IO_KEEP, false);
}

static void test_channels_last(void **state)
{
    (void)state;
    compare(TW_IO_NHWC, false);
}

static void test_quantized(void **state)
{
    (void)state;
    compare(TW_IO_KEEP, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keep),
                                       cmocka_unit_test(test_channels_last),
                                       cmocka_unit_test(test_quantized)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
