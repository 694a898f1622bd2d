/* Fully connected layers of int16 by CMSIS-NN: one scale of the weights, sums of 64 bits. */
#include "backends/cmsis_nn/image.h"
#include "ops/connected_job.h"
#include "ops/product_s16.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_channels_s16 tables;
    if (tw_connected_check(call, TW_S16, TW_S8, work) != TW_OK ||
        !tw_is_dense(call->in[0].tensor) || !tw_is_dense(call->out[0].tensor) ||
        !tw_is_dense(call->in[1].tensor) ||
        !tw_channels_s16_check(call, call->in[1].tensor->dim[0]))
        return TW_E_CHECK;
    tw_channels_s16_of(call, &tables);
    return tables.wide_bias ? TW_OK : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    const int32_t depth = call->in[1].tensor->dim[1];
    const cmsis_nn_context none = {NULL, 0};
    cmsis_nn_per_tensor_quant_params scale;
    cmsis_nn_fc_params params;
    cmsis_nn_dims input, filter, bias, output;
    tw_channels_s16 tables;
    tw_native_rows rows;
    if (!tw_is_whole(&call->in[1]) || !tw_native_rows_of(call, &rows))
        return TW_E_SCHEDULE;
    if (rows.outputs < 1)
        return TW_OK;
    tw_channels_s16_of(call, &tables);
    params.input_offset = params.filter_offset = params.output_offset = 0;
    params.activation = tw_cmsis_nn_activation(call);
    scale.multiplier = tables.multiplier[rows.first];
    scale.shift = tables.shift[rows.first];
    input = tw_cmsis_nn_dims(rows.count, 1, 1, depth);
    filter = tw_cmsis_nn_dims(depth, 1, 1, rows.outputs);
    bias = tw_cmsis_nn_dims(1, 1, 1, rows.outputs);
    output = tw_cmsis_nn_dims(rows.count, 1, 1, rows.outputs);
    return tw_cmsis_nn_status(arm_fully_connected_s16(
        &none, &params, &scale, &input, (const int16_t *)(const void *)rows.x, &filter,
        (const int8_t *)call->in[1].data + (ptrdiff_t)rows.first * depth, &bias,
        tables.wide_bias + rows.first, &output, (int16_t *)(void *)rows.y));
}

TW_CMSIS_NN_KERNEL(fully_connected_s16, run, check);
