/* Which matrix products CMSIS-NN runs. */
#include "ops/matmul.h"

#include "backends/cmsis_nn/cmsis_nn.h"
#include "backends/cmsis_nn/matmul.h"
#include "backends/cmsis_nn/sums.h"

static int32_t columns_of(const tw_native_node *n)
{
    const tw_shape *b = &n->node->in[1]->shape;
    return b->dim[b->rank - 2];
}

static const char *can(const tw_native_node *n)
{
    const tw_matmul_attributes *a = n->node->attributes;
    const tw_shape *x = &n->node->in[0]->shape;
    if (!a->transpose_b)
        return "the second operand's columns are not side by side";
    return x->dim[x->rank - 1] > 0 && columns_of(n) < INT32_MAX / 4 ? NULL : "an extent of 0";
}

static uint32_t scratch(const tw_native_node *n, const tw_native_band *band)
{
    (void)band; /* of all columns, whatever rows */
    return tw_cmsis_nn_matmul_scratch(columns_of(n), n->cpus);
}

const tw_native tw_native_cmsis_nn_matmul_s8 = {
    TW_CMSIS_NN_HEAD(matmul_s8),
    .can = can,
    .scratch = scratch,
};

static const char *can_s16(const tw_native_node *n)
{
    const tw_shape *x = &n->node->in[0]->shape;
    const char *why = can(n);
    why = why ? why : tw_cmsis_nn_products_fit(n, x->dim[x->rank - 1]);
    return why ? why : tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN);
}

const tw_native tw_native_cmsis_nn_matmul_s16 = {
    TW_CMSIS_NN_HEAD(matmul_s16),
    .can = can_s16,
};
