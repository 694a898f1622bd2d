/* Random channels-first networks, normalised and not: equal outputs, in both boundary layouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/normalized.h"
#include "support/random_graph.h"

#define GRAPHS 300

static void compare(tw_io_layout io_layout)
{
    int before = 0, after = 0;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        tw_arena *arena = tw_arena_new();
        tw_normalize_case c = {tw_random_graph(arena, seed), io_layout, 1, -3, 3};
        tw_normalized n = tw_normalize_text(&c);
        if (n.difference != 0)
            fail_msg("seed %d differs by %g:\n%s", (int)seed, n.difference, c.text);
        int was = tw_count_nodes(n.before, "Transpose"), is = tw_count_nodes(n.after, "Transpose");
        assert_true(is <= was + 1);
        before += was;
        after += is;
        tw_normalized_free(&n);
        tw_arena_free(arena);
    }
    print_message("%d graphs: %d transposes before, %d after\n", GRAPHS, before, after);
    assert_true(after * 3 < before);
}

static void test_keep(void **state)
{
    (void)state;
    compare(TW_IO_KEEP);
}

static void test_channels_last(void **state)
{
    (void)state;
    compare(TW_IO_NHWC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keep),
                                       cmocka_unit_test(test_channels_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
