/* Which means CMSIS-NN computes: those of whole images. */
#include "ops/reduce.h"

#include "backends/cmsis_nn/cmsis_nn.h"
#include "backends/cmsis_nn/pool.h"

static const char *can(const tw_native_node *n)
{
    const tw_reduce_mean_attributes *a = n->node->attributes;
    const tw_shape *x = &n->node->in[0]->shape;
    tw_reduction r;
    if (n->portable->blob_count != 0 || a->rounding != TW_MEAN_HALF_AWAY)
        return "the mean is no average pooling: other rounding, or other scales";
    if (x->rank != 4 || x->dim[0] != 1 ||
        !tw_reduce_resolve(n->node->attributes, x->rank, x->dim, &r) || r.mask != 6)
        return "the mean is not over rows and columns of one image";
    for (int i = 1; i < 4; i++)
        if (x->dim[i] < 1 || x->dim[i] > INT16_MAX)
            return "an extent is 0 or above 32767";
    return tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN);
}

static uint32_t scratch(const tw_native_node *n, const tw_native_band *band)
{
    (void)band; /* the sums of one pixel */
    return tw_cmsis_nn_average_scratch(n->node->in[0]->shape.dim[3], n->cpus);
}

const tw_native tw_native_cmsis_nn_reduce_mean_s8 = {
    TW_CMSIS_NN_HEAD(reduce_mean_s8),
    .can = can,
    .scratch = scratch,
};
