/* Which pooling CMSIS-NN runs. */
#include "backends/cmsis_nn/pool.h"

#include "backends/cmsis_nn/cmsis_nn.h"
#include "ops/pool.h"

static const char *can(const tw_native_node *n)
{
    const tw_pool_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *y = &n->node->out[0]->shape;
    if (n->portable->blob_count != 0)
        return "input and output have different scales";
    if (tw_shape_elements(y) == y->dim[y->rank - 1])
        return "a single output pixel: its bands are channels, which the library does not cut";
    const char *why = tw_native_bands(n, &lists, a->kernel.v);
    why = why ? why : tw_native_touch(n, &lists, a->kernel.v);
    return why ? why : tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN);
}

static const char *can_average(const tw_native_node *n)
{
    const tw_pool_attributes *a = n->node->attributes;
    const char *why = can(n);
    if (why)
        return why;
    if (a->count_include_pad)
        return "padding counts";
    return a->rounding == TW_POOL_HALF_AWAY ? NULL : "halves are rounded to even";
}

static uint32_t average_scratch(const tw_native_node *n, const tw_native_band *band)
{
    const tw_shape *y = &n->node->out[0]->shape;
    (void)band; /* the sums of one pixel */
    return tw_cmsis_nn_average_scratch(y->dim[y->rank - 1], n->cpus);
}

const tw_native tw_native_cmsis_nn_average_pool_s8 = {
    TW_CMSIS_NN_HEAD(average_pool_s8),
    .can = can_average,
    .scratch = average_scratch,
};

const tw_native tw_native_cmsis_nn_max_pool_s8 = {
    TW_CMSIS_NN_HEAD(max_pool_s8),
    .can = can,
};

const tw_native tw_native_cmsis_nn_average_pool_s16 = {
    TW_CMSIS_NN_HEAD(average_pool_s16),
    .can = can_average,
    .scratch = average_scratch,
};

const tw_native tw_native_cmsis_nn_max_pool_s16 = {
    TW_CMSIS_NN_HEAD(max_pool_s16),
    .can = can,
};
