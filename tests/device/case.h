/* One test case, embedded byte for byte: a plan, inputs of several runs end to end, and the outputs
 * that the host computed from them. */
#ifndef TW_TESTS_CASE_H
#define TW_TESTS_CASE_H

#include <stdint.h>

extern const uint8_t case_plan[], case_plan_end[];
extern const uint8_t case_input[], case_input_end[];
extern const uint8_t case_expected[], case_expected_end[];

#endif
