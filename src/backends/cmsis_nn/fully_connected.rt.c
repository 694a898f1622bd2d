/* Fully connected layers by CMSIS-NN: one scale of the weights.
 * The bias table has the zero points folded in: it is what the library takes for the bias and, on MVE, for
 * the sums of the weights that it would otherwise compute in every call. */
#include "backends/cmsis_nn/image.h"
#include "ops/connected_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *w;
    if (tw_connected_check(call, TW_S8, TW_S8, work) != TW_OK)
        return TW_E_CHECK;
    w = call->in[1].tensor;
    if (!tw_is_dense(call->in[0].tensor) || !tw_is_dense(call->out[0].tensor) || !tw_is_dense(w) ||
        !tw_channels_check(call, w->dim[0]))
        return TW_E_CHECK;
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    const tw_tensor *w = call->in[1].tensor;
    const int32_t depth = w->dim[1];
    tw_native_rows rows;
    cmsis_nn_context sums;
    cmsis_nn_fc_params params;
    cmsis_nn_dims input, filter, bias, output;
    cmsis_nn_per_tensor_quant_params scale;
    if (!tw_is_whole(&call->in[1]) || !tw_native_rows_of(call, &rows))
        return TW_E_SCHEDULE;
    params.input_offset = 0;
    params.filter_offset = -w->zero_point;
    params.output_offset = call->out[0].tensor->zero_point;
    params.activation = tw_cmsis_nn_activation(call);
    sums.buf = tw_cmsis_nn_table(call, TW_BLOB_BIAS, rows.first);
    sums.size = rows.outputs * 4;
    input = tw_cmsis_nn_dims(rows.count, 1, 1, depth);
    filter = tw_cmsis_nn_dims(depth, 1, 1, rows.outputs);
    bias = tw_cmsis_nn_dims(1, 1, 1, rows.outputs);
    output = tw_cmsis_nn_dims(rows.count, 1, 1, rows.outputs);
    scale.multiplier = *tw_cmsis_nn_table(call, TW_BLOB_MULTIPLIER, rows.first);
    scale.shift = *tw_cmsis_nn_table(call, TW_BLOB_SHIFT, rows.first);
    return tw_cmsis_nn_status(
        arm_fully_connected_s8(&sums, &params, &scale, &input, rows.x, &filter,
                               (const int8_t *)call->in[1].data + (ptrdiff_t)rows.first * depth,
                               &bias, (const int32_t *)sums.buf, &output, rows.y));
}

TW_CMSIS_NN_KERNEL(fully_connected_s8, run, check);
