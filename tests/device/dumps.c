/* Firmware of tests/device/dumps: prints the input, every band that a step has made, and the output, as
 * hexadecimal digits behind a name and a number. The hook is how firmware dumps tensors: include/tilewright/
 * runtime.h, tw_set_hook. */
#include "board.h"
#include "net.h"
#include "runtime/kernel.h"

static NET_ALIGNED uint8_t arena[NET_ARENA_BYTES];
static net_network network;

static void print(const char *name, uint32_t number, const void *data, uint32_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *from = (const uint8_t *)data;
    char text[3] = {digits[number / 10 % 10], digits[number % 10], 0};
    board_print(name);
    board_print(text);
    board_print(" ");
    for (uint32_t i = 0; i < bytes; i++) {
        text[0] = digits[from[i] >> 4];
        text[1] = digits[from[i] & 15];
        board_print(text);
    }
    board_print("\n");
}

static int after(void *user, tw_context *context, const tw_firing *firing)
{
    const tw_view *y = &firing->call->out[0]; /* int8 */
    (void)user;
    (void)context;
    if (firing->call->in[0].fresh + firing->call->in[0].fresh_rows ==
            firing->call->in[0].tensor->dim[firing->call->in[0].axis] ||
        y->rows < y->tensor->dim[y->axis]) /* sums are there when the last row is */
        print("step ", firing->step, y->data, (uint32_t)tw_view_count(y));
    return 0;
}

int main(void)
{
    uint32_t state = 1;
    if (net_load() != TW_OK || net_init(&network, arena, sizeof arena) != TW_OK)
        return 1;
    for (uint32_t i = 0; i < NET_INPUT_IMAGE_BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        net_input_image(&network)[i] = (int8_t)(state >> 24);
    }
    print("input ", 0, net_input_image(&network), NET_INPUT_IMAGE_BYTES);
    tw_set_hook(&network.context, after, NULL);
    if (net_run(&network) != TW_OK)
        return 2;
    print("output ", 0, net_output_scores(&network), NET_OUTPUT_SCORES_BYTES);
    return 0;
}
