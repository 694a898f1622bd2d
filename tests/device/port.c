/* The port of a generated test program (codegen --format app) to the boards of this folder. */
#include "board.h"
#include "port.h"

void port_print(const char *text)
{
    board_print(text);
}

uint32_t port_microseconds(void)
{
    return board_microseconds();
}

uint32_t port_stack_bytes(void)
{
    return board_stack_used();
}
