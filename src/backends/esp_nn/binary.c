/* Which element-wise operators of two operands ESP-NN runs. Its vector code wants rows of 16 bytes: what it
 * does with others, or with what is left of a row, rounds halves differently in Mul. Elements are stored
 * after those they are of have been read, so the output may lie over either operand. */
#include "ops/binary.h"

#include "backends/esp_nn/host.h"
#include "backends/esp_nn/limits.h"

static const char *can(const tw_native_node *n)
{
    const tw_node *node = n->node;
    for (int i = 0; i < 2; i++)
        if (!tw_shape_equal(&node->in[i]->shape, &node->out[0]->shape))
            return "an operand is broadcast";
    return NULL;
}

static const char *can_add(const tw_native_node *n)
{
    const char *why = can(n);
    if (why)
        return why;
    const tw_binary_scales *scales = n->portable->blob[0].data;
    return scales->out_shift <= 0 ? NULL : "a result with much smaller steps than the operands";
}

static bool alias(const tw_native_node *n, int input)
{
    (void)n;
    (void)input;
    return true;
}

const tw_native tw_native_esp_nn_add_s8 = {
    TW_ESP_NN_HEAD(add_s8),
    .align = TW_ESP_NN_ALIGN,
    .can = can_add,
    .alias = alias,
};

const tw_native tw_native_esp_nn_mul_s8 = {
    TW_ESP_NN_HEAD(mul_s8),
    .align = TW_ESP_NN_ALIGN,
    .can = can,
    .alias = alias,
};
