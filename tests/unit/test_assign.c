/* Address assignment: placements never overlap, equal brute force on small problems, and reach the
 * bound where it can be reached; minimalloc's hard instances where MINIMALLOC_DIR has them. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/assign_memo.h"
#include "support/plans.h"

static void check_disjoint(const tw_interval *in, int count, uint64_t size)
{
    for (int i = 0; i < count; i++) {
        assert_true((uint64_t)in[i].offset + in[i].bytes <= size);
        for (int k = 0; k < i; k++) {
            bool time = in[i].first <= in[k].last && in[k].first <= in[i].last;
            bool space = in[i].offset < in[k].offset + in[k].bytes &&
                         in[k].offset < in[i].offset + in[i].bytes;
            assert_false(time && space);
        }
    }
}

/* The least size by trying every order, each interval in the lowest place above those before it that
 * overlap: one of the orders gives an optimal placement. */
static void try_orders(const tw_interval *in, int count, int depth, bool *used, uint64_t *offset,
                       int *order, uint64_t size, uint64_t *best)
{
    if (size >= *best)
        return;
    if (depth == count) {
        *best = size;
        return;
    }
    for (int i = 0; i < count; i++) {
        if (used[i])
            continue;
        uint64_t at = 0;
        for (int d = 0; d < depth; d++) {
            int k = order[d];
            if (in[i].first <= in[k].last && in[k].first <= in[i].last &&
                offset[k] + in[k].bytes > at)
                at = offset[k] + in[k].bytes;
        }
        used[i] = true;
        offset[i] = at;
        order[depth] = i;
        uint64_t top = at + in[i].bytes;
        try_orders(in, count, depth + 1, used, offset, order, top > size ? top : size, best);
        used[i] = false;
    }
}

static int make_problem(tw_interval *in, int most, int times, uint64_t *random)
{
    int count = 2 + (int)(tw_test_random(random) % (uint64_t)(most - 1));
    for (int i = 0; i < count; i++) {
        in[i] = (tw_interval){0};
        in[i].first = (int)(tw_test_random(random) % (uint64_t)times);
        in[i].last = in[i].first + (int)(tw_test_random(random) % 4);
        in[i].bytes = 16 * (1 + (uint32_t)(tw_test_random(random) % 9));
    }
    return count;
}

static void small_problems_are_optimal(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 600; round++) {
        tw_interval in[8];
        int count = make_problem(in, 8, 6, &random);
        bool used[8] = {false};
        uint64_t offset[8], best = UINT64_MAX;
        int order[8];
        try_orders(in, count, 0, used, offset, order, 0, &best);
        assert_int_equal(tw_assign_best(in, count, 100000), best);
        check_disjoint(in, count, best);
        assert_int_equal(tw_assign(in, count, best - 16, 100000), TW_ASSIGN_IMPOSSIBLE);
    }
}

static void large_problems_are_disjoint(void **state)
{
    (void)state;
    static tw_interval in[600];
    uint64_t random = 4;
    for (int round = 0; round < 20; round++) {
        int count = make_problem(in, 600, 200, &random);
        uint64_t size = tw_assign_greedy(in, count);
        check_disjoint(in, count, size);
        assert_true(size >= tw_assign_bound(in, count));
        uint64_t better = tw_assign_best(in, count, 2000);
        check_disjoint(in, count, better);
        assert_true(better <= size);
    }
}

/* A question asked again has the answer of the first time, and one that differs in a single number is
 * another question. */
static void answers_are_remembered(void **state)
{
    (void)state;
    uint64_t random = 6;
    tw_assign_memo memo = {.arena = tw_arena_new()};
    for (int round = 0; round < 50; round++) {
        tw_interval first[30], again[30];
        int count = make_problem(first, 30, 12, &random);
        memcpy(again, first, sizeof again);
        uint64_t size = tw_assign_remembered(&memo, first, count, 2000);
        assert_int_equal(size, tw_assign_remembered(&memo, again, count, 2000));
        for (int i = 0; i < count; i++)
            assert_int_equal(first[i].offset, again[i].offset);
        again[count - 1].bytes += 16000;
        size = tw_assign_remembered(&memo, again, count, 2000);
        check_disjoint(again, count, size);
        assert_true(size >= again[count - 1].bytes);
    }
    tw_arena_free(memo.arena);
}

/* Tied intervals keep their places to each other; those of one tie follow each other in time. */
static void ties_hold(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int round = 0; round < 200; round++) {
        tw_interval in[30];
        int count = make_problem(in, 30, 12, &random);
        for (int i = 1; i < count; i++)
            if (tw_test_random(&random) % 3 == 0) {
                in[i - 1].tie = in[i].tie = i;
                in[i - 1].above = 0;
                in[i].above = 16 * (uint32_t)(tw_test_random(&random) % 5);
                in[i].last += in[i - 1].last + 1 - in[i].first;
                in[i].first = in[i - 1].last + 1;
                i++;
            }
        uint64_t size = tw_assign_greedy(in, count);
        check_disjoint(in, count, size);
        uint64_t better = tw_assign_best(in, count, 20000);
        check_disjoint(in, count, better);
        assert_true(better <= size && better >= tw_assign_bound(in, count));
        for (int i = 1; i < count; i++)
            if (in[i].tie != 0 && in[i].tie == in[i - 1].tie)
                assert_int_equal(in[i].offset - in[i].above, in[i - 1].offset - in[i - 1].above);
    }
}

static int read_instance(const char *path, tw_interval *in, int most)
{
    FILE *file = fopen(path, "r");
    char line[256];
    int count = 0;
    if (!file || !fgets(line, sizeof line, file)) /* the heading: id,lower,upper,size */
        return 0;
    long id, lower, upper, size;
    while (count < most && fgets(line, sizeof line, file))
        if (sscanf(line, "%ld,%ld,%ld,%ld", &id, &lower, &upper, &size) == 4)
            in[count++] =
                (tw_interval){.first = (int)lower, .last = (int)upper - 1, .bytes = (uint32_t)size};
    fclose(file);
    return count;
}

static void hard_instances(void **state)
{
    (void)state;
    const char *folder = getenv("MINIMALLOC_DIR");
    static tw_interval in[2000];
    int solved = 0;
    if (!folder) {
        print_message("SKIPPED: set MINIMALLOC_DIR to minimalloc's challenging instances\n");
        skip();
    }
    for (char name = 'A'; name <= 'K'; name++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%c.1048576.csv", folder, name);
        int count = read_instance(path, in, 2000);
        assert_true(count > 0);
        if (tw_assign(in, count, 1048576, 300000) == TW_ASSIGN_FOUND) {
            check_disjoint(in, count, 1048576);
            solved++;
        }
    }
    print_message("%d of 11 hard instances solved\n", solved);
    assert_true(solved >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_are_optimal),
        cmocka_unit_test(large_problems_are_disjoint),
        cmocka_unit_test(ties_hold),
        cmocka_unit_test(answers_are_remembered),
        cmocka_unit_test(hard_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
