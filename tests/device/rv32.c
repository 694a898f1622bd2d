/* Start-up and semihosting for RISC-V under QEMU's `virt` machine: stack, bss, then main. Its return
 * value becomes QEMU's exit status. */
#include "board.h"

extern uint32_t board_bss[], board_bss_end[];

static long semihost(long operation, const void *argument)
{
    register long a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n .option norvc\n slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n"
                     " .option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
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

uint32_t board_microseconds(void)
{
    uint32_t high, low, again;
    do
        __asm__ volatile(
            ".option push\n .option arch, +zicsr\n csrr %0, minstreth\n csrr %1, minstret\n"
            " csrr %2, minstreth\n .option pop"
            : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return (uint32_t)(((uint64_t)high << 32 | low) / 1000u);
}

static void trap(void)
{
    board_print("trap\n");
    board_exit(99);
}

__attribute__((used)) static void begin(void)
{
    __asm__ volatile(".option push\n .option arch, +zicsr\n csrw mtvec, %0\n .option pop"
                     :
                     : "r"((uintptr_t)trap & ~(uintptr_t)3));
    for (uint32_t *word = board_bss; word < board_bss_end; word++)
        *word = 0;
    board_paint_stack();
    board_exit(main());
}

__attribute__((naked, used, section(".start"))) void board_start(void)
{
    __asm__ volatile("la sp, board_stack\n call begin\n1: j 1b");
}
