/* What a kernel's check promises, put to the test: calls that are mutated at random, as a hostile
 * plan could say them within the limits that the loader enforces on any tensor. Where the check
 * accepts, the kernel runs on bands of any rows, in memory that ends where the views end: under a
 * sanitizer no byte outside may be touched, without one the guards around must survive. */
#ifndef TW_TESTS_SUPPORT_HOSTILE_H
#define TW_TESTS_SUPPORT_HOSTILE_H

#include "backends/backend.h"

/* `tries` mutations of the node's call (its inputs have data). The number that the check accepted
 * and that were run. Needs the support of operate.h. */
int tw_hostile_calls(const tw_node *node, uint64_t *state, int tries);

/* The same by a back end's kernel; -1: the back end declines. */
int tw_hostile_native_calls(const tw_node *node, const tw_target *target, bool packs,
                            uint64_t *state, int tries);

#endif
