/* What the start-up code of a board offers to the test firmware. */
#ifndef TW_TESTS_BOARD_H
#define TW_TESTS_BOARD_H

#include <stdint.h>

int main(void);
void board_print(const char *text);
void board_exit(int status);

/* Instructions since the first call, in microseconds at one a nanosecond: exact, in steps of a few tens
 * of instructions, when QEMU counts them (-icount shift=0). */
uint32_t board_microseconds(void);

/* Ends of the stack, from the linker script; it grows from board_stack down. */
extern uint32_t board_stack_limit[], board_stack[];

enum { BOARD_STACK_PAINT = 0x5AFE57AC };

/* By the start-up code, before main. */
static inline void board_paint_stack(void)
{
    uint32_t *end = (uint32_t *)((uintptr_t)__builtin_frame_address(0) - 256);
    for (uint32_t *word = board_stack_limit; word < end; word++)
        *word = BOARD_STACK_PAINT;
}

/* Bytes of the stack that have been used so far. */
static inline uint32_t board_stack_used(void)
{
    const uint32_t *word = board_stack_limit;
    while (word < board_stack && *word == BOARD_STACK_PAINT)
        word++;
    return (uint32_t)((const uint8_t *)board_stack - (const uint8_t *)word);
}

#endif
