/* Rows by a matrix of weights, by CMSIS-NN: pointwise convolution, fully connected layers of several rows. */
#include "backends/cmsis_nn/product.h"

#include "arm_nnsupportfunctions.h"

/* Rows for the function that works on two or four at once; the others are for the one for vectors. With the DSP
 * extension the former adds up all weights first, whatever the rows, and is slow at one that is left over:
 * nearly five instructions a weight, and less than half of one saved a weight and row. */
static int32_t rows_at_once(int32_t count)
{
    if (TW_CMSIS_NN_HERE != TW_CMSIS_NN_DSP)
        return count;
    return count < 10 ? 0 : count - count % 2;
}

static tw_status run_rows(const tw_call *call, const tw_cmsis_nn_product *p, int32_t count)
{
    return tw_cmsis_nn_status(arm_nn_mat_mult_nt_t_s8(
        p->x, p->weights, p->bias, p->y, p->scales.multiplier, p->scales.shift, count, p->outputs,
        p->depth, 0, call->out[0].tensor->zero_point, call->clamp_low.s32, call->clamp_high.s32,
        p->outputs, p->depth));
}

static tw_status run_vectors(const tw_call *call, const tw_cmsis_nn_product *p, int32_t row)
{
    const cmsis_nn_context sums = {p->bias, p->outputs * 4};
    const int32_t count = p->count - row;
    const cmsis_nn_dims input = tw_cmsis_nn_dims(count, 1, 1, p->depth);
    const cmsis_nn_dims filter = tw_cmsis_nn_dims(p->depth, 1, 1, p->outputs);
    const cmsis_nn_dims bias = tw_cmsis_nn_dims(1, 1, 1, p->outputs);
    const cmsis_nn_dims output = tw_cmsis_nn_dims(count, 1, 1, p->outputs);
    cmsis_nn_fc_params params;
    params.input_offset = params.filter_offset = 0;
    params.output_offset = call->out[0].tensor->zero_point;
    params.activation = tw_cmsis_nn_activation(call);
    return tw_cmsis_nn_status(arm_fully_connected_per_channel_s8(
        &sums, &params, &p->scales, &input, p->x + (ptrdiff_t)row * p->depth, &filter, p->weights,
        &bias, p->bias, &output, p->y + (ptrdiff_t)row * p->outputs));
}

tw_status tw_cmsis_nn_product_run(const tw_call *call, const tw_cmsis_nn_product *product)
{
    const int32_t rows = rows_at_once(product->count);
    tw_status status = rows > 0 ? run_rows(call, product, rows) : TW_OK;
    if (status == TW_OK && rows < product->count)
        status = run_vectors(call, product, rows);
    return status;
}
