/* An arena that lives for one test: `arena`, with set_up and tear_down for cmocka_unit_test_setup_teardown. It is
 * static on purpose: a test program includes this once, in its one file. Include cmocka first. */
#ifndef TW_TESTS_ARENA_FIXTURE_H
#define TW_TESTS_ARENA_FIXTURE_H

#include "base/arena.h"

static tw_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = tw_arena_new();
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tw_arena_free(arena);
    return 0;
}

#endif
