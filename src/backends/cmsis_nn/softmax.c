/* Which softmax CMSIS-NN runs. Its int8 function computes every exponential anew; the portable kernel,
 * which looks them up, is faster on all processors. */
#include "ops/softmax.h"

#include "backends/cmsis_nn/cmsis_nn.h"
#include "ops/axes.h"

static const char *can(const tw_native_node *n)
{
    const tw_softmax_attributes *a = n->node->attributes;
    const tw_shape *x = &n->node->in[0]->shape;
    if (tw_axis(a->axis, x->rank) != x->rank - 1 || x->dim[x->rank - 1] < 1)
        return "another axis than the last";
    return n->portable->clamp_low.s32 <= 0 && n->portable->clamp_high.s32 >= INT16_MAX
               ? NULL
               : "an activation is fused into it";
}

static bool alias(const tw_native_node *n, int input)
{
    (void)n;
    return input == 0; /* exponentials are kept where the elements they are of have been read */
}

const tw_native tw_native_cmsis_nn_softmax_s16 = {
    TW_CMSIS_NN_HEAD(softmax_s16),
    .can = can,
    .alias = alias,
};
