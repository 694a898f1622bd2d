/* What the start-up code of a board offers to the test firmware. */
#ifndef TW_TESTS_BOARD_H
#define TW_TESTS_BOARD_H

#include <stdint.h>

int main(void);
void board_print(const char *text);
void board_exit(int status);

/* Ends of the stack, from the linker script; it grows from board_stack down. */
extern uint32_t board_stack_limit[], board_stack[];

#endif
