/* Test cases, embedded byte for byte: a plan, inputs of several runs end to end, and the outputs that
 * the host computed from them. */
#ifndef TW_TESTS_CASE_H
#define TW_TESTS_CASE_H

#include <stdint.h>

typedef struct tw_case {
    const uint8_t *plan, *input, *expected;
    uint32_t plan_bytes, input_bytes, expected_bytes;
} tw_case;

/* Case number `index`; 0 behind the last. */
int case_get(uint32_t index, tw_case *c);

#endif
