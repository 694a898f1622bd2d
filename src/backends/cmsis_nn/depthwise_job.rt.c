/* Depthwise convolution by CMSIS-NN: the arguments. The bias has no zero points folded in, since the
 * library takes the input's zero point off every tap. */
#include "backends/cmsis_nn/depthwise_job.h"

static int read_window(const tw_call *call, tw_window_spans *window)
{
    const tw_depthwise_conv_attributes *a = (const tw_depthwise_conv_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_tensor *w = call->in[1].tensor;
    int32_t kernel[2];
    kernel[0] = w->rank == 3 ? w->dim[0] : 1;
    kernel[1] = w->dim[w->rank - 2];
    return tw_window_read(window, call->in[0].tensor, call->out[0].tensor, kernel, &lists, 0);
}

int tw_cmsis_nn_depthwise_check(const tw_call *call, tw_window_spans *window, uint64_t *work)
{
    return tw_depthwise_check(call, TW_S8, TW_S8, work) == TW_OK && read_window(call, window) &&
           tw_native_window_check(call, window) && tw_is_dense(call->in[1].tensor) &&
           tw_channels_check(call, tw_depthwise_outputs(call));
}

int tw_cmsis_nn_depthwise_is_plain(const tw_call *call, const tw_window_spans *window)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    return x->dim[x->rank - 1] == y->dim[y->rank - 1] && tw_native_windows_touch(window);
}

tw_status tw_cmsis_nn_depthwise_read(const tw_call *call, tw_cmsis_nn_depthwise *job)
{
    tw_window_spans window;
    tw_status status;
    int32_t outputs;
    if (!read_window(call, &window) || !tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    status = tw_cmsis_nn_window(call, &window, &job->image);
    if (status != TW_OK)
        return status;
    outputs = tw_depthwise_outputs(call);
    if (job->image.out.c != outputs)
        return TW_E_SCHEDULE; /* the library has no bands of channels */
    job->context = tw_cmsis_nn_context(call);
    job->params.input_offset = -call->in[0].tensor->zero_point;
    job->params.output_offset = call->out[0].tensor->zero_point;
    job->params.ch_mult = outputs / job->image.in.c;
    job->params.stride = tw_cmsis_nn_tile(window.axis[0].stride, window.axis[1].stride);
    job->params.dilation = tw_cmsis_nn_tile(window.axis[0].dilation, window.axis[1].dilation);
    job->params.padding = job->image.padding;
    job->params.activation = tw_cmsis_nn_activation(call);
    job->scales = tw_cmsis_nn_scales(call, 0);
    job->filter = tw_cmsis_nn_dims(1, window.axis[0].kernel, window.axis[1].kernel, outputs);
    job->bias_dims = tw_cmsis_nn_dims(1, 1, 1, outputs);
    job->weights = (const int8_t *)call->in[1].data;
    job->bias = tw_cmsis_nn_table(call, TW_BLOB_BIAS, 0);
    return TW_OK;
}
