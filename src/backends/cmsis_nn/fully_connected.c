/* Which fully connected layers CMSIS-NN runs. */
#include "backends/cmsis_nn/cmsis_nn.h"
#include "backends/cmsis_nn/sums.h"

static const char *can(const tw_native_node *n)
{
    const tw_shape *w = &n->node->in[1]->shape, *y = &n->node->out[0]->shape;
    if (w->dim[0] < 1 || w->dim[1] < 1)
        return "an extent of 0";
    if (n->portable->kernel == &tw_k_fully_connected_s8 && tw_shape_elements(y) > w->dim[0])
        return tw_cmsis_nn_slow(n, TW_CMSIS_NN_WITHOUT_MVE); /* several rows */
    return NULL;
}

static const char *can_single(const tw_native_node *n)
{
    const char *why = can(n);
    if (why)
        return why;
    return n->node->in[1]->quant.count == 1 ? NULL : "a scale for each output";
}

static const char *can_s8w4(const tw_native_node *n)
{
    const tw_shape *w = &n->node->in[1]->shape, *y = &n->node->out[0]->shape;
    if (w->dim[0] < 1 || w->dim[1] < 1)
        return "an extent of 0";
    if (tw_shape_elements(y) > w->dim[0])
        return tw_cmsis_nn_slow(n, TW_CMSIS_NN_WITHOUT_MVE); /* several rows */
    return w->dim[1] % 2 ? "one row of an odd depth: its bands would begin within a byte" : NULL;
}

static const char *can_s16(const tw_native_node *n)
{
    const char *why = can_single(n);
    if (why)
        return why;
    if (!tw_cmsis_nn_is_wide(n))
        return "a bias of 32 bits";
    why = tw_cmsis_nn_sums_fit(n, TW_WEIGHTS_BY_OUTPUT);
    return why ? why : tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN);
}

const tw_native tw_native_cmsis_nn_fully_connected_s8 = {
    TW_CMSIS_NN_HEAD(fully_connected_s8),
    .can = can_single,
};

const tw_native tw_native_cmsis_nn_fully_connected_by_channel_s8 = {
    TW_CMSIS_NN_HEAD(fully_connected_by_channel_s8),
    .can = can,
};

const tw_native tw_native_cmsis_nn_fully_connected_s8w4 = {
    TW_CMSIS_NN_HEAD(fully_connected_s8w4),
    .can = can_s8w4,
};

const tw_native tw_native_cmsis_nn_fully_connected_s16 = {
    TW_CMSIS_NN_HEAD(fully_connected_s16),
    .can = can_s16,
};
