/* Which filter layers CMSIS-NN runs. */
#include "ops/svdf.h"

#include "backends/cmsis_nn/cmsis_nn.h"
#include "backends/cmsis_nn/svdf.h"

enum { FEATURE = 1, STATE = 4 };

static uint64_t bytes_of(const tw_native_node *n)
{
    const tw_node *node = n->node;
    const tw_shape *y = &node->out[0]->shape;
    const bool kept = node->out_count < 2 || !node->out[1];
    return tw_cmsis_nn_svdf_scratch(y->dim[0], node->in[FEATURE]->shape.dim[0], y->dim[1],
                                    kept ? tw_shape_bytes(&node->in[STATE]->shape) : 0);
}

static const char *can(const tw_native_node *n)
{
    const tw_svdf_attributes *a = n->node->attributes;
    if (n->node->in[STATE]->quant.zero_point[0] != 0)
        return "the memory's zero point is not 0";
    if (a->rank > INT16_MAX || tw_shape_elements(&n->node->in[FEATURE]->shape) == 0 ||
        n->node->out[0]->shape.dim[0] == 0)
        return "an extent of 0, or a rank above 32767";
    return bytes_of(n) <= INT32_MAX ? tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN)
                                    : "sums of more than 2 GB";
}

static uint32_t scratch(const tw_native_node *n, const tw_native_band *band)
{
    (void)band; /* all sequences at once */
    return (uint32_t)bytes_of(n);
}

static bool alias(const tw_native_node *n, int input)
{
    (void)n;
    return input == STATE; /* the library moves it on in place */
}

const tw_native tw_native_cmsis_nn_svdf_s8 = {
    TW_CMSIS_NN_HEAD(svdf_s8),
    .can = can,
    .scratch = scratch,
    .alias = alias,
};
