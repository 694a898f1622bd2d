/* Convolution with weights of 4 bits by CMSIS-NN. Padding and bias are as those of int8 (conv.rt.c). On MVE the
 * library has a function of its own for windows of an even number of elements. */
#include "backends/cmsis_nn/conv_job.h"
#include "backends/cmsis_nn/packed.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    tw_packed packed;
    return tw_cmsis_nn_packed(call, TW_PACKED_FIRST, &packed) &&
                   tw_cmsis_nn_conv_check(&packed.call, work) == TW_OK && a->group == 1
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    cmsis_nn_per_channel_quant_params scales;
    tw_cmsis_nn_conv_function convolve = arm_convolve_s4;
    tw_cmsis_nn_window window;
    tw_packed packed;
    const int8_t *weights;
    tw_status status;
    if (!tw_cmsis_nn_packed(call, TW_PACKED_FIRST, &packed))
        return TW_E_DATA;
    status = tw_cmsis_nn_conv_window(&packed.call, &window);
    if (status != TW_OK)
        return status;
    weights = tw_cmsis_nn_pairs(&packed.call, window.channel);
    if (!weights)
        return TW_E_SCHEDULE;
    if (TW_CMSIS_NN_HERE == TW_CMSIS_NN_MVE && packed.taps % 2 == 0)
        convolve = arm_convolve_even_s4;
    scales = tw_cmsis_nn_scales(call, window.channel);
    return tw_cmsis_nn_status(convolve(
        &context, &window.params, &scales, &window.in, window.x, &window.filter, weights,
        &window.out, tw_cmsis_nn_table(call, TW_BLOB_BIAS, window.channel), &window.out, window.y));
}

TW_CMSIS_NN_KERNEL(conv_s8w4, run, check);
