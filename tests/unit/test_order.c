/* Execution order: equal to brute force on small random graphs, valid and never worse on large ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/order.h"
#include "support/plans.h"

enum { MOST = 300 };

typedef struct tw_graph_case {
    tw_task task[MOST];
    tw_item item[2 * MOST];
    int reads[MOST][4], makes[MOST][2], after[MOST][1];
    int tasks, items;
} tw_graph_case;

/* A random graph: each task reads up to three items made before it and makes one or two. */
static void make_case(tw_graph_case *g, int tasks, int reach, uint64_t *random)
{
    memset(g, 0, sizeof *g);
    g->tasks = tasks;
    g->item[g->items++] = (tw_item){16 * (1 + (int64_t)(tw_test_random(random) % 8)), -1, false};
    for (int t = 0; t < tasks; t++) {
        tw_task *task = &g->task[t];
        int most = g->items;
        task->reads = g->reads[t];
        task->makes = g->makes[t];
        task->after = g->after[t];
        for (int r = 0; r < 3; r++) {
            int low = most > reach ? most - reach : 0;
            int item = low + (int)(tw_test_random(random) % (uint64_t)(most - low));
            bool twice = false;
            for (int k = 0; k < task->read_count; k++)
                twice |= g->reads[t][k] == item;
            if (!twice && tw_test_random(random) % 3)
                g->reads[t][task->read_count++] = item;
        }
        for (int m = 0; m < 1 + (tw_test_random(random) % 5 == 0); m++) {
            g->item[g->items] = (tw_item){16 * (1 + (int64_t)(tw_test_random(random) % 32)), t,
                                          tw_test_random(random) % 8 == 0};
            g->makes[t][task->make_count++] = g->items++;
        }
        if (t && tw_test_random(random) % 10 == 0)
            g->after[t][task->after_count++] = (int)(tw_test_random(random) % (uint64_t)t);
        task->extra = tw_test_random(random) % 4 ? 0 : 64;
        task->over = task->read_count && tw_test_random(random) % 2 ? g->reads[t][0] : -1;
    }
}

static bool can_run(const tw_graph_case *g, int t, const bool *done)
{
    for (int r = 0; r < g->task[t].read_count; r++) {
        int maker = g->item[g->reads[t][r]].maker;
        if (maker >= 0 && !done[maker])
            return false;
    }
    for (int a = 0; a < g->task[t].after_count; a++)
        if (!done[g->after[t][a]])
            return false;
    return true;
}

/* The lowest peak over all orders. The peak of a partial order is that of the order completed in any
 * way, so it is measured on the whole only: twelve tasks at most. */
static void try_all(const tw_graph_case *g, int depth, int *order, bool *done, int64_t *best)
{
    if (depth == g->tasks) {
        int64_t peak = tw_order_peak(g->task, g->tasks, g->item, g->items, order);
        if (peak < *best)
            *best = peak;
        return;
    }
    for (int t = 0; t < g->tasks; t++) {
        if (done[t] || !can_run(g, t, done))
            continue;
        done[t] = true;
        order[depth] = t;
        try_all(g, depth + 1, order, done, best);
        done[t] = false;
    }
}

static void check_valid(const tw_graph_case *g, const int *order)
{
    bool done[MOST] = {false};
    for (int i = 0; i < g->tasks; i++) {
        assert_in_range(order[i], 0, g->tasks - 1);
        assert_false(done[order[i]]);
        assert_true(can_run(g, order[i], done));
        done[order[i]] = true;
    }
}

static void equals_brute_force(void **state)
{
    (void)state;
    static tw_graph_case g;
    uint64_t random = 11;
    int improved = 0;
    for (int round = 0; round < 400; round++) {
        int order[MOST];
        bool done[MOST] = {false};
        make_case(&g, 3 + (int)(tw_test_random(&random) % 6), 5, &random);
        for (int t = 0; t < g.tasks; t++)
            order[t] = t;
        int64_t given = tw_order_peak(g.task, g.tasks, g.item, g.items, order), best = INT64_MAX;
        int trial[MOST];
        try_all(&g, 0, trial, done, &best);
        assert_int_equal(tw_order_search(g.task, g.tasks, g.item, g.items, order), best);
        check_valid(&g, order);
        assert_int_equal(tw_order_peak(g.task, g.tasks, g.item, g.items, order), best);
        improved += best < given;
    }
    assert_true(improved > 40);
}

/* Twelve tasks in a few long branches: few enough orders for brute force. */
static void equals_brute_force_at_twelve(void **state)
{
    (void)state;
    static tw_graph_case g;
    uint64_t random = 13;
    for (int round = 0; round < 10; round++) {
        make_case(&g, 12, 2, &random);
        int order[MOST], trial[MOST];
        bool done[MOST] = {false};
        int64_t best = INT64_MAX;
        for (int t = 0; t < g.tasks; t++) {
            order[t] = t;
            if (g.task[t].read_count == 0) { /* keep the number of orders small */
                g.reads[t][0] = t ? g.makes[t - 1][0] : 0;
                g.task[t].read_count = 1;
                g.task[t].over = -1;
            }
        }
        try_all(&g, 0, trial, done, &best);
        assert_int_equal(tw_order_search(g.task, g.tasks, g.item, g.items, order), best);
        check_valid(&g, order);
    }
}

static void large_graphs_are_never_worse(void **state)
{
    (void)state;
    static tw_graph_case g;
    uint64_t random = 17;
    for (int round = 0; round < 12; round++) {
        int order[MOST];
        make_case(&g, MOST - 1, round % 2 ? 6 : 60, &random);
        for (int t = 0; t < g.tasks; t++)
            order[t] = t;
        int64_t given = tw_order_peak(g.task, g.tasks, g.item, g.items, order);
        int64_t found = tw_order_search(g.task, g.tasks, g.item, g.items, order);
        check_valid(&g, order);
        assert_true(found <= given);
        assert_int_equal(tw_order_peak(g.task, g.tasks, g.item, g.items, order), found);
    }
}

/* A block: four branches of a wide and a narrow item each, added up by one task; given breadth first,
 * which is the worst. It reads the last item there is. */
static void add_block(tw_graph_case *g, int wide)
{
    enum { BRANCHES = 4 };
    const int from = g->items - 1, first = g->tasks;
    for (int i = 0; i < 2 * BRANCHES + 1; i++) {
        const int t = g->tasks++;
        tw_task *task = &g->task[t];
        task->reads = g->reads[t];
        task->makes = g->makes[t];
        task->after = g->after[t];
        task->over = -1;
        task->make_count = 1;
        task->read_count = i < 2 * BRANCHES ? 1 : BRANCHES;
        for (int k = 0; k < task->read_count; k++)
            g->reads[t][k] = i < BRANCHES       ? from
                             : i < 2 * BRANCHES ? g->makes[first + i - BRANCHES][0]
                                                : g->makes[first + BRANCHES + k][0];
        g->item[g->items] = (tw_item){i < BRANCHES ? wide + 16 * i : 16, t, false};
        g->makes[t][0] = g->items++;
    }
}

static int64_t peak_of_blocks(tw_graph_case *g, const int *wide, int blocks)
{
    int order[MOST];
    memset(g, 0, sizeof *g);
    g->item[g->items++] = (tw_item){16, -1, false};
    for (int b = 0; b < blocks; b++)
        add_block(g, wide[b]);
    for (int t = 0; t < g->tasks; t++)
        order[t] = t;
    int64_t found = tw_order_search(g->task, g->tasks, g->item, g->items, order);
    check_valid(g, order);
    assert_int_equal(tw_order_peak(g->task, g->tasks, g->item, g->items, order), found);
    return found;
}

/* Blocks with nothing beside them take what the widest takes alone, wherever it stands among blocks that
 * are alike. */
static void blocks_that_repeat(void **state)
{
    (void)state;
    static tw_graph_case g;
    static const int rows[][12] = {{64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64},
                                   {64, 80, 64, 80, 64, 80, 64, 80, 64, 80, 64, 80},
                                   {64, 64, 64, 64, 64, 64, 64, 96, 64, 64, 64, 64},
                                   {96, 64, 32, 96, 64, 32, 112, 32, 64, 96, 32, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t most = 0;
        for (int b = 0; b < 12; b++) {
            int64_t alone = peak_of_blocks(&g, &rows[i][b], 1);
            most = alone > most ? alone : most;
        }
        assert_int_equal(peak_of_blocks(&g, rows[i], 12), most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force),
        cmocka_unit_test(equals_brute_force_at_twelve),
        cmocka_unit_test(large_graphs_are_never_worse),
        cmocka_unit_test(blocks_that_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
