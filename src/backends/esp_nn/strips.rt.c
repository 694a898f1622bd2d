/* Bands as images that the library can work on. In: a call on any band. Out: strips, copied into scratch
 * where their windows are not all inside the input. */
#include "backends/esp_nn/strips.h"

static int32_t width_of(const tw_span *columns, int32_t outputs)
{
    return outputs * columns->stride + columns->kernel - 1;
}

/* Is every window inside, and is the width the library's? Then nothing is copied. */
static int fits(const tw_window_spans *window)
{
    const tw_span *rows = &window->axis[0], *columns = &window->axis[1];
    return rows->pad_begin == 0 && columns->pad_begin == 0 &&
           (int64_t)(rows->out - 1) * rows->stride + rows->kernel <= rows->in &&
           columns->in == (int64_t)columns->out * columns->stride + columns->kernel - 1;
}

int64_t tw_esp_nn_strip_bytes(const tw_call *call, const tw_window_spans *window)
{
    const tw_span *rows = &window->axis[0], *columns = &window->axis[1];
    const tw_tensor *x = call->in[0].tensor;
    const int64_t width = (int64_t)columns->out * columns->stride + columns->kernel - 1;
    if (width > TW_ESP_NN_MOST || rows->kernel > TW_ESP_NN_MOST || rows->stride > TW_ESP_NN_MOST)
        return -1;
    return fits(window) ? 0 : tw_esp_nn_aligned(width * rows->kernel * x->dim[x->rank - 1]);
}

/* What is worked on: views as images, and where the copy is. */
typedef struct tw_laying {
    const tw_window_spans *window;
    tw_image in, out;
    int8_t zero;
    int8_t *copy;
    int32_t width; /* of this band */
} tw_laying;

/* One input row of an output row's windows; 0: the band lacks some of it. */
static int lay_row(const tw_laying *l, const int8_t *x, int32_t row, int8_t *to)
{
    const tw_span *columns = &l->window->axis[1];
    const int32_t channels = l->in.dim[3], total = columns->in;
    const int32_t from = l->out.begin[2] * columns->stride - columns->pad_begin;
    const int32_t needed = from + l->width - columns->stride + 1; /* behind the last tap */
    int32_t first = from < 0 ? 0 : from, last = from + l->width;
    if (row < 0 || row >= l->window->axis[0].in) {
        memset(to, l->zero, (size_t)l->width * (size_t)channels);
        return 1;
    }
    last = last < l->in.end[2] ? last : l->in.end[2];
    if (row < l->in.begin[1] || row >= l->in.end[1] ||
        (first < total && first < needed &&
         (first < l->in.begin[2] || last < (needed < total ? needed : total))))
        return 0;
    if (first >= last)
        first = last = from; /* padding alone */
    memset(to, l->zero, (size_t)(first - from) * (size_t)channels);
    if (last > first)
        memcpy(to + (ptrdiff_t)(first - from) * channels,
               x + (ptrdiff_t)(row - l->in.begin[1]) * l->in.stride[1] +
                   (ptrdiff_t)(first - l->in.begin[2]) * l->in.stride[2],
               (size_t)(last - first) * (size_t)channels);
    memset(to + (ptrdiff_t)(last - from) * channels, l->zero,
           (size_t)(from + l->width - last) * (size_t)channels);
    return 1;
}

/* Row by row of an image's output. */
static tw_status lay_image(const tw_laying *l, tw_esp_nn_strip *strip, const int8_t *x,
                           tw_esp_nn_visit visit, void *job)
{
    const tw_span *rows = &l->window->axis[0];
    const ptrdiff_t pitch = (ptrdiff_t)l->width * l->in.dim[3];
    tw_status status = TW_OK;
    int32_t o, k;
    for (o = l->out.begin[1]; o < l->out.end[1] && status == TW_OK; o++) {
        for (k = 0; k < rows->kernel; k++)
            if (!lay_row(l, x, o * rows->stride - rows->pad_begin + k, l->copy + k * pitch))
                return TW_E_SCHEDULE;
        status = visit(job, strip);
        strip->y += (ptrdiff_t)strip->out.width * strip->out.channels;
    }
    return status;
}

static tw_status each_copied(const tw_call *call, const tw_window_spans *window,
                             tw_esp_nn_visit visit, void *job)
{
    const tw_span *rows = &window->axis[0];
    tw_status status = TW_OK;
    tw_esp_nn_strip strip;
    tw_laying l;
    int32_t b;
    l.window = window;
    l.zero = (int8_t)call->in[0].tensor->zero_point;
    l.copy = (int8_t *)call->scratch;
    tw_image_of(&call->in[0], &l.in);
    tw_image_of(&call->out[0], &l.out);
    if (l.in.begin[0] > l.out.begin[0] || l.in.end[0] < l.out.end[0] || l.in.begin[3] != 0 ||
        l.in.end[3] != l.in.dim[3])
        return TW_E_SCHEDULE;
    l.width = width_of(&window->axis[1], l.out.end[2] - l.out.begin[2]);
    strip.x = l.copy;
    strip.y = (int8_t *)call->out[0].data;
    strip.channel = l.out.begin[3];
    strip.in = tw_esp_nn_dims(l.width, rows->stride + rows->kernel - 1, l.in.dim[3]);
    strip.out = tw_esp_nn_dims(l.out.end[2] - l.out.begin[2], 1, l.out.end[3] - l.out.begin[3]);
    for (b = l.out.begin[0]; b < l.out.end[0] && status == TW_OK; b++)
        status = lay_image(&l, &strip,
                           (const int8_t *)call->in[0].data +
                               (ptrdiff_t)(b - l.in.begin[0]) * l.in.stride[0],
                           visit, job);
    return status;
}

/* Image by image, as they are. */
static tw_status each_direct(const tw_call *call, const tw_window_spans *window,
                             tw_esp_nn_visit visit, void *job)
{
    const tw_span *rows = &window->axis[0];
    tw_native_image image;
    tw_esp_nn_strip strip;
    tw_status status = tw_native_window(call, window, &image);
    for (; status == TW_OK && image.images > 0; image.images--) {
        strip.x = image.x;
        strip.y = image.y;
        strip.channel = image.channel;
        strip.in =
            tw_esp_nn_dims(width_of(&window->axis[1], image.out_columns),
                           image.out_rows * rows->stride + rows->kernel - 1, image.in_channels);
        strip.out = tw_esp_nn_dims(image.out_columns, image.out_rows, image.out_channels);
        status = visit(job, &strip);
        tw_native_next_image(&image);
    }
    return status;
}

tw_status tw_esp_nn_each_strip(const tw_call *call, const tw_window_spans *window, int64_t copied,
                               tw_esp_nn_visit visit, void *job)
{
    return (copied ? each_copied : each_direct)(call, window, visit, job);
}
