/* The checks of every kernel against mutated calls: each sample of each operator record, mutated at
 * random as a hostile plan might be, and run where the check accepts it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/hostile.h"
#include "support/samples.h"

enum { TRIES = 400 };

static int accepted, tried;

static void attack(tw_node *node, tw_arena *arena, void *state)
{
    (void)arena;
    accepted += tw_hostile_calls(node, state, TRIES);
    tried += TRIES;
}

static void every_sample(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (int i = 0; i < tw_op_count; i++) {
        accepted = tried = 0;
        if (tw_ops[i]->kernels && *tw_ops[i]->kernels)
            tw_each_sample(tw_ops[i], attack, &state);
        if (accepted < tried / 10)
            fail_msg("%s: only %d of %d calls were accepted", tw_ops[i]->name, accepted, tried);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_sample)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
