/* Which means ESP-NN runs. */
#include "ops/reduce.h"

#include "backends/esp_nn/host.h"

/* Over rows and columns of one image? */
static const char *can(const tw_native_node *n)
{
    const tw_shape *x = &n->node->in[0]->shape;
    tw_reduction r;
    if (x->rank != 4 || x->dim[0] != 1 ||
        !tw_reduce_resolve(n->node->attributes, x->rank, x->dim, &r) || r.mask != 6)
        return "the mean is not over rows and columns of one image";
    for (int i = 1; i < 4; i++)
        if (x->dim[i] < 1 || x->dim[i] > INT16_MAX)
            return "an extent is 0 or above 32767";
    return NULL;
}

static const char *can_multiply(const tw_native_node *n)
{
    const tw_reduce_mean_attributes *a = n->node->attributes;
    const char *why = can(n);
    if (why)
        return why;
    if (n->portable->blob_count != 1 || a->rounding != TW_MEAN_TFLITE)
        return "the sum is divided";
    return n->portable->clamp_low.s32 == INT8_MIN && n->portable->clamp_high.s32 == INT8_MAX
               ? NULL
               : "an activation is fused into it";
}

const tw_native tw_native_esp_nn_reduce_mean_s8 = {
    TW_ESP_NN_HEAD(reduce_mean_s8),
    .can = can_multiply,
};

static const char *can_divide(const tw_native_node *n)
{
    const tw_reduce_mean_attributes *a = n->node->attributes;
    const char *why = can(n);
    if (why)
        return why;
    if (n->portable->blob_count != 0 || a->rounding != TW_MEAN_HALF_AWAY)
        return a->rounding == TW_MEAN_TFLITE
                   ? can_multiply(n)
                   : "the mean is no average pooling: other rounding, or other scales";
    return n->node->in[0]->shape.dim[3] % 8 == 0 ? NULL : "channels are no multiple of 8";
}

const tw_native tw_native_esp_nn_reduce_mean_divided_s8 = {
    TW_ESP_NN_HEAD(reduce_mean_divided_s8),
    .can = can_divide,
};
