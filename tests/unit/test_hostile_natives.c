/* The checks of back ends' kernels against mutated calls: every sample that a back end takes, mutated at
 * random as a hostile plan might be, and run where the check accepts it. The libraries are not there: what
 * is put to the test is what the adapters themselves read and write. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/hostile.h"
#include "support/native.h"

enum { TRIES = 150 };

typedef struct tw_siege {
    const tw_target *target;
    uint64_t state;
    int tried, accepted;
} tw_siege;

static void attack(tw_node *node, tw_arena *arena, void *user)
{
    tw_siege *siege = user;
    (void)arena;
    for (int packs = 0; packs <= (node->op->pack != NULL); packs++) {
        const int accepted =
            tw_hostile_native_calls(node, siege->target, packs != 0, &siege->state, TRIES);
        if (accepted < 0)
            continue;
        siege->tried += TRIES;
        siege->accepted += accepted;
    }
}

static void every_back_end(void **unused)
{
    static const char *const names[] = {"cmsis-nn:m4", "cmsis-nn:m55", "esp-nn:s3"};
    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        tw_target target;
        assert_true(tw_target_parse(arena, names[i], strlen(names[i]), &target, &diag));
        tw_siege siege = {.target = &target, .state = 1};
        tw_native_each_sample(&target, attack, &siege);
        if (siege.tried == 0 || siege.accepted < siege.tried / 10)
            fail_msg("%s: only %d of %d calls were accepted", names[i], siege.accepted,
                     siege.tried);
        tw_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_back_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
