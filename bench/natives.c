/* Firmware of bench/natives: runs the network that codegen wrote as `nat` and prints a line a step: its
 * number, the instructions of its calls, and a check sum of its first result. */
#include "board.h"
#include "nat.h"
#include "runtime/kernel.h"

enum { MOST_STEPS = 128 };

static volatile uint32_t *const timer = (volatile uint32_t *)0xE000E010u;

static NAT_ALIGNED uint8_t arena[NAT_ARENA_BYTES];
static nat_network network;
static uint32_t ticks[MOST_STEPS], sums[MOST_STEPS], since;

static void print_number(uint32_t v, const char *behind)
{
    char text[12];
    int at = 11;
    text[at] = 0;
    do
        text[--at] = (char)('0' + v % 10u);
    while ((v /= 10u) != 0);
    board_print(text + at);
    board_print(behind);
}

/* What the loop does between calls counts as the call's. */
static int after(void *user, tw_context *context, const tw_firing *firing)
{
    const tw_view *y = &firing->call->out[0];
    const uint32_t bytes = (uint32_t)tw_view_count(y) * (y->tensor->dtype == TW_S16 ? 2u : 1u);
    const uint8_t *data = (const uint8_t *)y->data;
    uint32_t i;
    (void)user;
    (void)context;
    ticks[firing->step] += (since - timer[2]) & 0xFFFFFFu;
    for (i = 0; i < bytes; i++)
        sums[firing->step] = (sums[firing->step] ^ data[i]) * 16777619u;
    since = timer[2];
    return 0;
}

int main(void)
{
    uint32_t i, k, state = 1;
    if (nat_load() != TW_OK || nat_init(&network, arena, sizeof arena) != TW_OK ||
        nat_model.step_count > MOST_STEPS)
        return 1;
    for (i = 0; i < nat_model.input_count; i++) {
        uint8_t *data = (uint8_t *)tw_input(&network.context, i);
        for (k = 0; k < tw_tensor_bytes(tw_input_tensor(&nat_model, i)); k++) {
            state = state * 1664525u + 1013904223u;
            data[k] = (uint8_t)(state >> 24);
        }
    }
    tw_set_hook(&network.context, after, NULL);
    timer[1] = 0xFFFFFFu;
    timer[2] = 0;
    timer[0] = 5u; /* on, by the processor's clock */
    since = timer[2];
    if (nat_run(&network) != TW_OK)
        return 2;
    for (i = 0; i < nat_model.step_count; i++) {
        print_number(i, " ");
        print_number((uint32_t)((uint64_t)ticks[i] * 1000000000u / BOARD_CLOCK), " ");
        print_number(sums[i], "\n");
    }
    return 0;
}
