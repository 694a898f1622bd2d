/* The samples that operator records bring along (`samples`: graphs of the text IR, one node each, on
 * constants): each runs whole and in random bands with random strides, to the same bytes. An operator
 * that is added by a row is tested here without a line of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/operate.h"
#include "support/samples.h"

enum { BAND_SEEDS = 4 };

static void run_sample(tw_node *node, tw_arena *arena, void *banded)
{
    tw_operate_whole(node, arena);
    for (uint64_t seed = 0; seed < BAND_SEEDS; seed++) {
        uint64_t state = seed;
        *(int *)banded += tw_operate_bands(node, &state);
    }
}

static void samples(void **state)
{
    (void)state;
    int count = 0, banded = 0;
    for (int i = 0; i < tw_op_count; i++)
        if (tw_ops[i]->kernels && *tw_ops[i]->kernels)
            count += tw_each_sample(tw_ops[i], run_sample, &banded);
    print_message("%d samples, %d banded runs\n", count, banded);
    assert_true(count > 200);
    assert_true(banded > 2 * count);
}

/* A family's row brings its samples. */
static void families_have_samples(void **state)
{
    (void)state;
    for (int i = 0; i < tw_op_count; i++)
        if (tw_ops[i]->kind == TW_LUT &&
            !strstr(tw_ops[i]->samples ? tw_ops[i]->samples : "", "s8"))
            fail_msg("%s has no int8 sample", tw_ops[i]->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(families_have_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
