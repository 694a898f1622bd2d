/* Convolution by CMSIS-NN. See cmsis_nn/conv.c for what it takes.
 *
 * The library's wrapper is not called: for a band of one row it would take another way than for the whole
 * image. Tables are those of the portable kernel; where there may be padding, the bias has no zero
 * points folded in, since the library pads with the input's zero point and takes it off every tap. */
#include "backends/cmsis_nn/conv_job.h"

static tw_status run(const tw_call *call)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_tensor *w = call->in[1].tensor;
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    cmsis_nn_per_channel_quant_params scales;
    tw_cmsis_nn_window window;
    const tw_status status = tw_cmsis_nn_conv_window(call, &window);
    if (status != TW_OK)
        return status;
    if (a->group > 1 && window.out.c != w->dim[0])
        return TW_E_SCHEDULE;
    scales = tw_cmsis_nn_scales(call, window.channel);
    return tw_cmsis_nn_status(arm_convolve_s8(
        &context, &window.params, &scales, &window.in, window.x, &window.filter,
        (const int8_t *)call->in[1].data + (ptrdiff_t)window.channel * w->stride[0], &window.out,
        tw_cmsis_nn_table(call, TW_BLOB_BIAS, window.channel), NULL, &window.out, window.y));
}

TW_CMSIS_NN_KERNEL(conv_s8, run, tw_cmsis_nn_conv_check);
