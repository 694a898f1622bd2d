/* Convolution by ESP-NN. Windows are all inside (strips.h), so the portable kernel's bias, zero points
 * folded in, serves as it is, and the input's offset is 0: the library has no sums of weights to compute.
 *
 * Three of its functions, chosen by itself, and the scratch that each touches on an ESP32-S3:
 *
 *     1x1, stride 1      input of eight pixels as int16                    channels * 16
 *     rows below 16      whole windows side by side, and the weights so    (outputs + 1) * taps, each
 *                        laid out, behind a sum an output                  a multiple of 16
 *     others             a sum an output; weights in place where rows of a kernel are multiples of 16 bytes */
#include "backends/esp_nn/scratch.h"
#include "backends/esp_nn/windows.h"
#include "ops/conv_job.h"

static int is_pointwise(const tw_window_spans *w)
{
    int i;
    for (i = 0; i < 2; i++)
        if (w->axis[i].kernel != 1 || w->axis[i].stride != 1 || w->axis[i].pad_begin != 0 ||
            w->axis[i].pad_end != 0)
            return 0;
    return 1;
}

tw_esp_nn_fit tw_esp_nn_conv_read(const tw_call *call, tw_esp_nn_window *window)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_tensor *w = call->in[1].tensor;
    const int64_t channels = w->dim[w->rank - 1], outputs = w->dim[0];
    int64_t row, taps;
    if (a->group != 1)
        return TW_ESP_NN_GROUPS;
    if (!tw_conv_window(call, &window->spans) || tw_esp_nn_is_dilated(&window->spans))
        return TW_ESP_NN_DILATION;
    window->copied = tw_esp_nn_strip_bytes(call, &window->spans);
    if (window->copied < 0)
        return TW_ESP_NN_WIDE;
    row = window->spans.axis[1].kernel * channels;
    taps = row * window->spans.axis[0].kernel;
    if (is_pointwise(&window->spans))
        return channels % 8 != 0 ? TW_ESP_NN_CHANNELS : tw_esp_nn_fit_bytes(window, channels * 16);
    if (row < 16 && taps >= 16)
        return tw_esp_nn_fit_bytes(window, tw_esp_nn_aligned(outputs * 4) +
                                               (outputs + 1) * tw_esp_nn_aligned(taps));
    return row % TW_ESP_NN_ALIGN != 0 ? TW_ESP_NN_ROW : tw_esp_nn_fit_bytes(window, outputs * 4);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_esp_nn_window window;
    if (tw_conv_check(call, TW_S8, TW_S8, work) != TW_OK || !tw_conv_window(call, &window.spans) ||
        !tw_native_window_check(call, &window.spans) || !tw_is_dense(call->in[1].tensor) ||
        !tw_channels_check(call, call->in[1].tensor->dim[0]) ||
        tw_esp_nn_conv_read(call, &window) != TW_ESP_NN_FITS ||
        (int64_t)call->scratch_bytes < window.bytes)
        return TW_E_CHECK;
    return TW_OK;
}

typedef struct tw_job {
    const tw_call *call;
    conv_params_t params;
    data_dims_t filter;
    int32_t taps;
} tw_job;

static tw_status visit(void *context, const tw_esp_nn_strip *strip)
{
    const tw_job *job = (const tw_job *)context;
    const quant_data_t scales = tw_esp_nn_scales(job->call, strip->channel);
    const int8_t *weights =
        (const int8_t *)job->call->in[1].data + (ptrdiff_t)strip->channel * job->taps;
    esp_nn_conv_s8(&strip->in, strip->x, &job->filter, weights,
                   tw_esp_nn_table(job->call, TW_BLOB_BIAS, strip->channel), &strip->out, strip->y,
                   &job->params, &scales);
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    const tw_tensor *w = call->in[1].tensor;
    tw_esp_nn_window window;
    const tw_span *rows = &window.spans.axis[0], *columns = &window.spans.axis[1];
    tw_status status;
    tw_job job;
    if (!tw_is_whole(&call->in[1]) || tw_esp_nn_conv_read(call, &window) != TW_ESP_NN_FITS)
        return TW_E_DATA;
    if (!tw_esp_nn_is_aligned(call->in[1].data) || !tw_esp_nn_is_aligned(call->scratch))
        return TW_E_ALIGNMENT; /* the library would copy the weights into scratch */
    job.call = call;
    job.params.in_offset = 0;
    job.params.out_offset = call->out[0].tensor->zero_point;
    job.params.stride = tw_esp_nn_pair(columns->stride, rows->stride);
    job.params.padding = tw_esp_nn_pair(0, 0);
    job.params.dilation = tw_esp_nn_pair(1, 1);
    job.params.activation = tw_esp_nn_activation(call);
    job.filter = tw_esp_nn_dims(columns->kernel, rows->kernel, w->dim[w->rank - 1]);
    job.taps = columns->kernel * rows->kernel * w->dim[w->rank - 1];
    if (!tw_esp_nn_take())
        return TW_E_BUSY;
    esp_nn_set_conv_scratch_buf((uint8_t *)call->scratch + window.copied);
    status = tw_esp_nn_each_strip(call, &window.spans, window.copied, visit, &job);
    tw_esp_nn_give();
    return status;
}

TW_ESP_NN_KERNEL(conv_s8, run, check);
