/* Which fully connected layers CMSIS-NN runs. */
#include "backends/cmsis_nn/cmsis_nn.h"

static const char *can(const tw_native_node *n)
{
    const tw_shape *w = &n->node->in[1]->shape;
    const char *why = tw_native_types(n);
    if (why)
        return why;
    return w->dim[0] > 0 && w->dim[1] > 0 ? NULL : "an extent of 0";
}

static const char *can_single(const tw_native_node *n)
{
    const char *why = can(n);
    if (why)
        return why;
    return n->node->in[1]->quant.count == 1 ? NULL : "a scale for each output";
}

const tw_native tw_native_cmsis_nn_fully_connected_s8 = {
    TW_CMSIS_NN_HEAD(fully_connected_s8),
    .can = can_single,
};

const tw_native tw_native_cmsis_nn_fully_connected_by_channel_s8 = {
    TW_CMSIS_NN_HEAD(fully_connected_by_channel_s8),
    .can = can,
};
