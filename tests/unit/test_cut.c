/* Minimum cuts against all cuts of small random networks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "normalize/layout/cut.h"
#include "support/reference.h"

#define MOST 9

typedef struct network {
    int nodes, pairs;
    int64_t unary[MOST];
    struct {
        int from, to;
        int64_t cost;
    } pair[MOST * MOST];
} network;

static int64_t number(uint64_t *seed, int64_t low, int64_t high)
{
    return low + (int64_t)(tw_reference_next(seed) % (uint64_t)(high - low + 1));
}

static network random_network(uint64_t *seed)
{
    network n = {.nodes = (int)number(seed, 1, MOST)};
    n.pairs = (int)number(seed, 0, 3 * n.nodes);
    for (int i = 0; i < n.nodes; i++)
        n.unary[i] = number(seed, -6, 6);
    for (int i = 0; i < n.pairs; i++) {
        n.pair[i].from = (int)number(seed, 0, n.nodes - 1);
        n.pair[i].to = (int)number(seed, 0, n.nodes - 1);
        n.pair[i].cost = number(seed, 0, 5);
    }
    return n;
}

/* Bit i: node i lies on the sink's side. */
static int64_t cost_of(const network *n, unsigned sink)
{
    int64_t cost = 0;
    for (int i = 0; i < n->nodes; i++)
        if (sink >> i & 1)
            cost += n->unary[i];
    for (int i = 0; i < n->pairs; i++)
        if (!(sink >> n->pair[i].from & 1) && sink >> n->pair[i].to & 1)
            cost += n->pair[i].cost;
    return cost;
}

static unsigned solve(tw_arena *arena, const network *n)
{
    tw_cut *cut = tw_cut_new(arena, n->nodes);
    for (int i = 0; i < n->nodes; i++)
        tw_cut_unary(cut, i, n->unary[i]);
    for (int i = 0; i < n->pairs; i++)
        tw_cut_pair(cut, n->pair[i].from, n->pair[i].to, n->pair[i].cost);
    tw_cut_solve(cut);
    unsigned sink = 0;
    for (int i = 0; i < n->nodes; i++)
        sink |= (unsigned)tw_cut_on_sink_side(cut, i) << i;
    return sink;
}

static void test_all_cuts(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 2000; round++) {
        tw_arena *arena = tw_arena_new();
        network n = random_network(&seed);
        unsigned found = solve(arena, &n);
        int64_t cost = cost_of(&n, found);
        for (unsigned sink = 0; sink < 1u << n.nodes; sink++) {
            int64_t other = cost_of(&n, sink);
            assert_true(other >= cost);
            /* Of equal cuts, the one with the most on the sink's side holds all others. */
            assert_true(other > cost || (sink & ~found) == 0);
        }
        tw_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
