/* Depthwise convolution by CMSIS-NN: the arguments. The bias has no zero points folded in, since the
 * library takes the input's zero point off every tap. */
#include "backends/cmsis_nn/depthwise_job.h"

int tw_cmsis_nn_depthwise_check(const tw_call *call, tw_window_spans *window, uint64_t *work)
{
    return tw_depthwise_check(call, TW_S8, TW_S8, work) == TW_OK &&
           tw_depthwise_window(call, window) && tw_native_window_check(call, window) &&
           tw_is_dense(call->in[1].tensor) && tw_channels_check(call, tw_depthwise_outputs(call));
}

int tw_cmsis_nn_depthwise_is_plain(const tw_call *call, const tw_window_spans *window)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    return x->dim[x->rank - 1] == y->dim[y->rank - 1] && tw_native_windows_touch(window);
}

/* Their arguments. */
typedef struct tw_arguments {
    cmsis_nn_context context;
    cmsis_nn_dw_conv_params params;
    cmsis_nn_per_channel_quant_params scales;
    cmsis_nn_dims filter, bias_dims;
    tw_cmsis_nn_image image;
    const int8_t *weights;
    const int32_t *bias;
} tw_arguments;

static tw_status read_arguments(const tw_call *call, tw_arguments *job)
{
    tw_window_spans window;
    tw_status status;
    int32_t outputs;
    if (!tw_depthwise_window(call, &window) || !tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    status = tw_cmsis_nn_window(call, &window, &job->image);
    if (status != TW_OK)
        return status;
    outputs = tw_depthwise_outputs(call);
    if (job->image.out.c != outputs)
        return TW_E_SCHEDULE; /* the library has no bands of channels */
    job->context = tw_cmsis_nn_context(call);
    job->params = tw_cmsis_nn_depthwise_params(call, &window, &job->image);
    job->scales = tw_cmsis_nn_scales(call, 0);
    job->filter = tw_cmsis_nn_dims(1, window.axis[0].kernel, window.axis[1].kernel, outputs);
    job->bias_dims = tw_cmsis_nn_dims(1, 1, 1, outputs);
    job->weights = (const int8_t *)call->in[1].data;
    job->bias = tw_cmsis_nn_table(call, TW_BLOB_BIAS, 0);
    return TW_OK;
}

tw_status tw_cmsis_nn_depthwise_run(const tw_call *call, tw_cmsis_nn_depthwise_function function)
{
    tw_arguments job;
    tw_cmsis_nn_image *image = &job.image;
    tw_status status = read_arguments(call, &job);
    int32_t images;
    if (status != TW_OK)
        return status;
    images = image->in.n; /* the library takes one at a time */
    image->in.n = image->out.n = 1;
    for (; images > 0 && status == TW_OK; images--) {
        status = tw_cmsis_nn_status(function(&job.context, &job.params, &job.scales, &image->in,
                                             image->x, &job.filter, job.weights, &job.bias_dims,
                                             job.bias, &image->out, image->y));
        tw_cmsis_nn_next_image(image, 1);
    }
    return status;
}
