/* Start-up and semihosting for Cortex-M boards under QEMU: vector table, floating-point unit, data
 * and bss, then main. Its return value becomes QEMU's exit status. */
#include "board.h"

extern uint32_t board_data[], board_data_end[], board_data_image[];
extern uint32_t board_bss[], board_bss_end[];

static int semihost(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void board_print(const char *text)
{
    semihost(0x04, text); /* SYS_WRITE0 */
}

void board_exit(int status)
{
    const uint32_t block[2] = {0x20026u, (uint32_t)status}; /* application exit */
    semihost(0x20, block);                                  /* SYS_EXIT_EXTENDED */
    for (;;) {
    }
}

/* The system timer counts down 24 bits at BOARD_CLOCK hertz. */
#ifndef BOARD_CLOCK
#define BOARD_CLOCK 25000000u
#endif

uint32_t board_microseconds(void)
{
    volatile uint32_t *const timer = (volatile uint32_t *)0xE000E010u; /* control, reload, value */
    static uint32_t last, ticks, started;
    uint32_t now;
    if (!started) {
        timer[1] = 0xFFFFFFu;
        timer[2] = 0;
        timer[0] = 5u; /* the processor's clock, no interrupt */
        started = 1;
        last = timer[2];
    }
    now = timer[2];
    ticks += (last - now) & 0xFFFFFFu;
    last = now;
    return (uint32_t)((uint64_t)ticks * 1000000u / BOARD_CLOCK);
}

static void fault(void)
{
    board_print("fault\n");
    board_exit(99);
}

static void reset(void)
{
    volatile uint32_t *const access_control = (volatile uint32_t *)0xE000ED88u;
    const uint32_t *image = board_data_image;
    *access_control |= 0xFu << 20; /* coprocessors 10 and 11: floating point, vectors */
    __asm__ volatile("dsb\n isb");
    for (uint32_t *word = board_data; word < board_data_end; word++)
        *word = *image++;
    for (uint32_t *word = board_bss; word < board_bss_end; word++)
        *word = 0;
    board_paint_stack();
    board_exit(main());
}

/* Entries are addresses; the first is the stack. */
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))board_stack,
    reset,
    fault,
    fault,
    fault,
    fault,
    fault,
    0,
    0,
    0,
    0,
    fault,
    fault,
    0,
    fault,
    fault};
