/* Which element-wise operators of two operands CMSIS-NN runs. Its functions take vectors of equal length,
 * element for element, so the output may lie over either. */
#include "backends/cmsis_nn/cmsis_nn.h"

static const char *can(const tw_native_node *n)
{
    const tw_node *node = n->node;
    for (int i = 0; i < 2; i++) {
        tw_shape same = node->in[i]->shape;
        if (!tw_shape_equal(&same, &node->out[0]->shape))
            return "an operand is broadcast";
    }
    return NULL;
}

static const char *can_s16(const tw_native_node *n)
{
    const char *why = can(n);
    return why ? why : tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN);
}

/* Neither scales nor bounds: the library looks at the stored integers alone. */
static const char *can_compare(const tw_native_node *n)
{
    const tw_quant *out = &n->node->out[0]->quant;
    const char *why = can(n);
    if (why)
        return why;
    if (!tw_quant_equal(&n->node->in[0]->quant, out) ||
        !tw_quant_equal(&n->node->in[1]->quant, out))
        return "operands and result have different scales";
    return n->portable->clamp_low.s32 <= INT8_MIN && n->portable->clamp_high.s32 >= INT8_MAX
               ? NULL
               : "an activation is fused into it";
}

static bool alias(const tw_native_node *n, int input)
{
    (void)n;
    (void)input;
    return true;
}

#define RECORD(symbol, condition)                                                                  \
    const tw_native tw_native_cmsis_nn_##symbol = {                                                \
        TW_CMSIS_NN_HEAD(symbol),                                                                  \
        .can = condition,                                                                          \
        .alias = alias,                                                                            \
    }

RECORD(add_s8, can);
RECORD(add_s16, can_s16);
RECORD(mul_s8, can);
RECORD(mul_s16, can_s16);
RECORD(max_s8, can_compare);
RECORD(min_s8, can_compare);
