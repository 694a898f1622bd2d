/* Convolution by CMSIS-NN. See cmsis_nn/conv.c for what it takes.
 *
 * The library's wrapper is not called: for a band of one row it would take another way than for the whole
 * image. Tables are those of the portable kernel; where there may be padding, the bias has no zero
 * points folded in, since the library pads with the input's zero point and takes it off every tap. */
#include "backends/cmsis_nn/conv.h"
#include "backends/cmsis_nn/windows.h"
#include "ops/conv_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_window_spans window;
    const tw_tensor *w;
    if (tw_conv_check(call, TW_S8, TW_S8, work) != TW_OK || !tw_conv_window(call, &window) ||
        !tw_native_window_check(call, &window))
        return TW_E_CHECK;
    w = call->in[1].tensor;
    return tw_is_dense(w) && tw_channels_check(call, w->dim[0]) &&
                   call->scratch_bytes >=
                       tw_cmsis_nn_conv_scratch((int64_t)window.axis[0].kernel *
                                                    window.axis[1].kernel * w->dim[w->rank - 1],
                                                TW_CMSIS_NN_HERE)
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_tensor *w = call->in[1].tensor;
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    cmsis_nn_per_channel_quant_params scales;
    cmsis_nn_conv_params params;
    cmsis_nn_dims filter, bias;
    tw_window_spans window;
    tw_cmsis_nn_image image;
    tw_status status;
    if (!tw_conv_window(call, &window) || !tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    status = tw_cmsis_nn_window(call, &window, &image);
    if (status != TW_OK)
        return status;
    if (a->group > 1 && image.out.c != w->dim[0])
        return TW_E_SCHEDULE;
    params = tw_cmsis_nn_conv_params(call, &window, image.padding);
    scales = tw_cmsis_nn_scales(call, image.channel);
    filter = tw_cmsis_nn_dims(image.out.c, window.axis[0].kernel, window.axis[1].kernel,
                              w->dim[w->rank - 1]);
    bias = tw_cmsis_nn_dims(1, 1, 1, image.out.c);
    return tw_cmsis_nn_status(arm_convolve_s8(
        &context, &params, &scales, &image.in, image.x, &filter,
        (const int8_t *)call->in[1].data + (ptrdiff_t)image.channel * w->stride[0], &bias,
        tw_cmsis_nn_table(call, TW_BLOB_BIAS, image.channel), NULL, &image.out, image.y));
}

TW_CMSIS_NN_KERNEL(conv_s8, run, check);
