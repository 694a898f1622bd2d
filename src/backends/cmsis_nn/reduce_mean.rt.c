/* Averages over whole images by CMSIS-NN: what a global average pooling becomes. The library has no sums
 * that go on in a later call, so an image that comes in bands is left to the portable kernel, whose step
 * memory this one has. */
#include "backends/bounds.h"
#include "backends/cmsis_nn/image.h"
#include "backends/cmsis_nn/pool.h"
#include "ops/reduce.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_reduce_mean_attributes *a = (const tw_reduce_mean_attributes *)call->attributes;
    tw_reduction r;
    const tw_tensor *x;
    int i;
    if (tw_k_reduce_mean_s8.check(call, work) != TW_OK || call->attribute_bytes != sizeof *a ||
        call->blob_count != 0 || a->rounding != TW_MEAN_HALF_AWAY ||
        !tw_native_bounded(call, TW_S8))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    if (x->rank != 4 || x->dim[0] != 1 || !tw_is_dense(x) || !tw_is_dense(call->out[0].tensor) ||
        !tw_reduce_resolve((const tw_reduce_attributes *)call->attributes, 4, x->dim, &r) ||
        r.mask != 6)
        return TW_E_CHECK;
    for (i = 1; i < 4; i++)
        if (x->dim[i] < 1 || x->dim[i] > TW_NATIVE_MOST)
            return TW_E_CHECK;
    return call->scratch_bytes >= tw_cmsis_nn_average_scratch(x->dim[3], TW_CMSIS_NN_HERE)
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    const int32_t *dim = x->tensor->dim;
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    const cmsis_nn_dims in = tw_cmsis_nn_dims(1, dim[1], dim[2], dim[3]);
    const cmsis_nn_dims filter = tw_cmsis_nn_dims(1, dim[1], dim[2], 1);
    const cmsis_nn_dims out = tw_cmsis_nn_dims(1, 1, 1, dim[3]);
    cmsis_nn_pool_params params;
    if (!tw_is_whole(x) || !tw_is_whole(y) || x->fresh != 0 || x->fresh_rows != x->rows)
        return tw_k_reduce_mean_s8.run(call);
    params.stride = tw_cmsis_nn_tile(1, 1);
    params.padding = tw_cmsis_nn_tile(0, 0);
    params.activation = tw_cmsis_nn_activation(call);
    return tw_cmsis_nn_status(arm_avgpool_s8(&context, &params, &in, (const int8_t *)x->data,
                                             &filter, &out, (int8_t *)y->data));
}

TW_CMSIS_NN_KERNEL(reduce_mean_s8, run, check);
