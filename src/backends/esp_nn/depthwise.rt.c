/* Depthwise convolution of 3x3 by ESP-NN, channels a multiple of 16: its function for those touches, beside
 * the input, a copy of the weights. Windows are all inside (strips.h), so the portable kernel's bias, zero
 * points folded in, serves as it is. */
#include "backends/esp_nn/scratch.h"
#include "backends/esp_nn/windows.h"
#include "ops/depthwise_job.h"

tw_esp_nn_fit tw_esp_nn_depthwise_read(const tw_call *call, tw_esp_nn_window *window)
{
    const tw_tensor *x = call->in[0].tensor, *w = call->in[1].tensor;
    const int32_t channels = w->dim[w->rank - 1];
    if (!tw_depthwise_window(call, &window->spans) || tw_esp_nn_is_dilated(&window->spans))
        return TW_ESP_NN_DILATION;
    if (x->dim[x->rank - 1] != channels || channels % 16 != 0)
        return TW_ESP_NN_CHANNELS;
    if (window->spans.axis[0].kernel != 3 || window->spans.axis[1].kernel != 3)
        return TW_ESP_NN_KERNEL;
    window->copied = tw_esp_nn_strip_bytes(call, &window->spans);
    return window->copied < 0 ? TW_ESP_NN_WIDE : tw_esp_nn_fit_bytes(window, (int64_t)channels * 9);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_esp_nn_window window;
    if (tw_depthwise_check(call, TW_S8, TW_S8, work) != TW_OK ||
        !tw_depthwise_window(call, &window.spans) || !tw_native_window_check(call, &window.spans) ||
        !tw_is_dense(call->in[1].tensor) || !tw_channels_check(call, tw_depthwise_outputs(call)) ||
        tw_esp_nn_depthwise_read(call, &window) != TW_ESP_NN_FITS ||
        (int64_t)call->scratch_bytes < window.bytes)
        return TW_E_CHECK;
    return TW_OK;
}

typedef struct tw_job {
    const tw_call *call;
    dw_conv_params_t params;
    data_dims_t filter;
    quant_data_t scales;
} tw_job;

static tw_status visit(void *context, const tw_esp_nn_strip *strip)
{
    const tw_job *job = (const tw_job *)context;
    if (strip->out.channels != job->filter.channels)
        return TW_E_SCHEDULE; /* the library has no bands of channels */
    esp_nn_depthwise_conv_s8(&strip->in, strip->x, &job->filter,
                             (const int8_t *)job->call->in[1].data,
                             tw_esp_nn_table(job->call, TW_BLOB_BIAS, 0), &strip->out, strip->y,
                             &job->params, &job->scales);
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    tw_esp_nn_window window;
    const tw_span *rows = &window.spans.axis[0], *columns = &window.spans.axis[1];
    tw_status status;
    tw_job job;
    if (!tw_is_whole(&call->in[1]) || tw_esp_nn_depthwise_read(call, &window) != TW_ESP_NN_FITS)
        return TW_E_DATA;
    if (!tw_esp_nn_is_aligned(call->scratch))
        return TW_E_ALIGNMENT;
    job.call = call;
    job.params.in_offset = 0;
    job.params.out_offset = call->out[0].tensor->zero_point;
    job.params.ch_mult = 1;
    job.params.stride = tw_esp_nn_pair(columns->stride, rows->stride);
    job.params.padding = tw_esp_nn_pair(0, 0);
    job.params.dilation = tw_esp_nn_pair(1, 1);
    job.params.activation = tw_esp_nn_activation(call);
    job.filter = tw_esp_nn_dims(3, 3, tw_depthwise_outputs(call));
    job.scales = tw_esp_nn_scales(call, 0);
    if (!tw_esp_nn_take())
        return TW_E_BUSY;
    esp_nn_set_depthwise_conv_scratch_buf((uint8_t *)call->scratch + window.copied);
    status = tw_esp_nn_each_strip(call, &window.spans, window.copied, visit, &job);
    tw_esp_nn_give();
    return status;
}

TW_ESP_NN_KERNEL(depthwise_s8, run, check);
