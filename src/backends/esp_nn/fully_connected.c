/* Which fully connected layers ESP-NN runs. */
#include "backends/esp_nn/host.h"
#include "backends/esp_nn/limits.h"

static const char *can(const tw_native_node *n)
{
    const tw_shape *w = &n->node->in[1]->shape, *x = &n->node->in[0]->shape;
    if (w->dim[0] < 1 || w->dim[1] < 1)
        return "an extent of 0";
    if (n->node->in[1]->quant.zero_point[0] != 0)
        return "weights with a zero point";
    if (!tw_esp_nn_depth_fits(w->dim[1], tw_shape_elements(x) / w->dim[1]))
        return "a depth below 16 or above 32767, or several rows that begin at no multiple of 16 "
               "bytes";
    return tw_esp_nn_sums(n, w->dim[0], &(tw_esp_nn_taps){w->dim[1], w->dim[1], 1});
}

static const char *can_single(const tw_native_node *n)
{
    const char *why = can(n);
    if (why)
        return why;
    return n->node->in[1]->quant.count == 1 ? NULL : "a scale for each output";
}

const tw_native tw_native_esp_nn_fully_connected_s8 = {
    TW_ESP_NN_HEAD(fully_connected_s8),
    .can = can_single,
};

const tw_native tw_native_esp_nn_fully_connected_by_channel_s8 = {
    TW_ESP_NN_HEAD(fully_connected_by_channel_s8),
    .can = can,
};
