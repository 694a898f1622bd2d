/* A program on the firmware of the digits network, of whatever build: loads, binds, runs. */
#include <stdio.h>

#include "digits.h"

DIGITS_ALIGNED static uint8_t arena[DIGITS_ARENA_BYTES];
static digits_network network;

int main(void)
{
    tw_status status = digits_load();
    if (status == TW_OK)
        status = digits_init(&network, arena, sizeof arena);
    if (status == TW_OK)
        memset(digits_input_image(&network), 0, DIGITS_INPUT_IMAGE_BYTES);
    if (status == TW_OK)
        status = digits_run(&network);
    printf("%s\n", tw_status_text(status));
    return status != TW_OK;
}
