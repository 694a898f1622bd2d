/* Convolution by ESP-NN. Windows are all inside (strips.h), so the portable kernel's bias, zero points
 * folded in, serves as it is, and the input's offset is 0: the library has no sums of weights to compute.
 *
 * Three of its functions, chosen by itself, and the scratch that each touches on an ESP32-S3:
 *
 *     1x1, stride 1      input of eight pixels as int16                    channels * 16
 *     rows below 16      whole windows side by side, and the weights so    (outputs + 1) * taps, each
 *                        laid out, behind a sum an output                  a multiple of 16
 *     others             a sum an output; weights in place where rows of a kernel are multiples of 16 bytes,
 *                        else laid out in such rows in every call
 *
 * Where it lays weights out, and there is less scratch than that takes for all outputs, it is asked for some
 * of them at a time, row by row; their results are put in place behind it. */
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

/* Does laying the weights of a row of the kernel out anew, for every row of outputs, take no longer than the
 * products save? It takes about as long as 40 of the portable kernel's; what is padding in the rows of
 * multiples of 16 is a smaller part of longer ones. Bands of an image of one row may be a column each. */
static int is_worth_laying(const tw_window_spans *w, int64_t row)
{
    enum { SHORTEST = 32, PRODUCTS = 128 };
    const int64_t columns = w->axis[0].out == 1 ? 1 : w->axis[1].out;
    return row >= SHORTEST && row * columns >= PRODUCTS;
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
        return tw_esp_nn_fit_parts(window, outputs, tw_esp_nn_aligned(taps),
                                   4 + tw_esp_nn_aligned(taps));
    if (row % TW_ESP_NN_ALIGN == 0)
        return tw_esp_nn_fit_bytes(window, outputs * 4);
    return is_worth_laying(&window->spans, row)
               ? tw_esp_nn_fit_parts(window, outputs, 0,
                                     4 + window->spans.axis[0].kernel * tw_esp_nn_aligned(row))
               : TW_ESP_NN_ROW;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_esp_nn_window window;
    if (tw_conv_check(call, TW_S8, TW_S8, work) != TW_OK || !tw_conv_window(call, &window.spans) ||
        !tw_native_window_check(call, &window.spans) || !tw_is_dense(call->in[1].tensor) ||
        !tw_channels_check(call, call->in[1].tensor->dim[0]) ||
        tw_esp_nn_conv_read(call, &window) != TW_ESP_NN_FITS ||
        tw_esp_nn_part(&window, call->in[1].tensor->dim[0], call->scratch_bytes) == 0)
        return TW_E_CHECK;
    return TW_OK;
}

typedef struct tw_job {
    const tw_call *call;
    conv_params_t params;
    data_dims_t filter;
    int32_t taps;
    int32_t part;    /* outputs at a time */
    int8_t *results; /* a row of theirs, where those are not all */
} tw_job;

static void convolve(const tw_job *job, const tw_esp_nn_strip *strip)
{
    const quant_data_t scales = tw_esp_nn_scales(job->call, strip->channel);
    const int8_t *weights =
        (const int8_t *)job->call->in[1].data + (ptrdiff_t)strip->channel * job->taps;
    esp_nn_conv_s8(&strip->in, strip->x, &job->filter, weights,
                   tw_esp_nn_table(job->call, TW_BLOB_BIAS, strip->channel), &strip->out, strip->y,
                   &job->params, &scales);
}

/* Of one row of outputs, those of `count` channels from `first` on. */
static void convolve_part(const tw_job *job, const tw_esp_nn_strip *row, int32_t first,
                          int32_t count)
{
    tw_esp_nn_strip part = *row;
    int8_t *to = row->y + first;
    int32_t column;
    part.y = job->results;
    part.out.channels = count;
    part.channel += first;
    convolve(job, &part);
    for (column = 0; column < row->out.width; column++)
        memcpy(to + (ptrdiff_t)column * row->out.channels, job->results + (ptrdiff_t)column * count,
               (size_t)count);
}

static tw_status visit(void *context, const tw_esp_nn_strip *strip)
{
    const tw_job *job = (const tw_job *)context;
    const int32_t outputs = strip->out.channels, stride = job->params.stride.height;
    tw_esp_nn_strip row = *strip;
    int32_t i, first;
    if (outputs <= job->part) {
        convolve(job, strip);
        return TW_OK;
    }
    row.in.height = stride + job->filter.height - 1;
    row.out.height = 1;
    for (i = 0; i < strip->out.height; i++) {
        for (first = 0; first < outputs; first += job->part)
            convolve_part(job, &row, first,
                          outputs - first < job->part ? outputs - first : job->part);
        row.x += (ptrdiff_t)stride * row.in.width * row.in.channels;
        row.y += (ptrdiff_t)row.out.width * outputs;
    }
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
    job.part = tw_esp_nn_part(&window, w->dim[0], call->scratch_bytes);
    job.results = (int8_t *)call->scratch + window.copied + window.fixed + job.part * window.each;
    if (!tw_esp_nn_take())
        return TW_E_BUSY;
    esp_nn_set_conv_scratch_buf((uint8_t *)call->scratch + window.copied);
    status = tw_esp_nn_each_strip(call, &window.spans, window.copied, visit, &job);
    tw_esp_nn_give();
    return status;
}

TW_ESP_NN_KERNEL(conv_s8, run, check);
