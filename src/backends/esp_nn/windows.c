/* Which convolutions ESP-NN runs, and with how much scratch: the device half answers (fits.h). */
#include "backends/esp_nn/fits.h"
#include "backends/esp_nn/host.h"
#include "ops/conv.h"
#include "ops/depthwise_conv.h"

static const char *reason(tw_esp_nn_fit fit)
{
    switch (fit) {
    case TW_ESP_NN_FITS: return NULL;
    case TW_ESP_NN_GROUPS: return "groups: the library has plain C for them";
    case TW_ESP_NN_DILATION: return "dilation";
    case TW_ESP_NN_WIDE: return "a row of more than 32767 columns";
    case TW_ESP_NN_CHANNELS:
        return "channels are no multiple of what the library works on at a time";
    case TW_ESP_NN_KERNEL: return "no 3x3 kernel: the library would convert the whole input first";
    case TW_ESP_NN_ROW:
        return "a row of the kernel is no multiple of 16 bytes: the library would lay the weights "
               "out in every call, for too few products";
    case TW_ESP_NN_LARGE: break;
    }
    return "scratch of more than 2 GB";
}

typedef tw_esp_nn_fit (*tw_fit_function)(const tw_call *call, tw_esp_nn_window *window);

static uint32_t scratch_of(const tw_native_node *n, tw_fit_function read)
{
    tw_esp_nn_whole whole;
    tw_esp_nn_window window;
    tw_esp_nn_whole_of(n, &whole);
    return read(&whole.call, &window) == TW_ESP_NN_FITS ? (uint32_t)window.bytes : 0;
}

static const char *fits(const tw_native_node *n, const tw_window_lists *lists,
                        const int32_t *kernel, tw_fit_function read)
{
    tw_esp_nn_whole whole;
    tw_esp_nn_window window;
    const char *why = tw_native_bands(n, lists, kernel);
    if (why)
        return why;
    tw_esp_nn_whole_of(n, &whole);
    return reason(read(&whole.call, &window));
}

/* ---- convolution ---- */

static const char *can_conv(const tw_native_node *n)
{
    const tw_conv_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *w = &n->node->in[1]->shape;
    const char *why = fits(n, &lists, w->dim + 1, tw_esp_nn_conv_read);
    if (why)
        return why;
    const int64_t taps = tw_shape_elements(w) / w->dim[0];
    return tw_esp_nn_sums(n, w->dim[0], &(tw_esp_nn_taps){taps, taps, 1});
}

/* The rows of one output row, whatever the band. */
static uint32_t scratch_conv(const tw_native_node *n, const tw_native_band *band)
{
    (void)band;
    return scratch_of(n, tw_esp_nn_conv_read);
}

static uint32_t parts_conv(const tw_native_node *n, int32_t parts)
{
    tw_esp_nn_whole whole;
    tw_esp_nn_window window;
    const int32_t outputs = n->node->in[1]->shape.dim[0];
    const int32_t blocks = (outputs + TW_ESP_NN_PART - 1) / TW_ESP_NN_PART;
    const int32_t part = (blocks + parts - 1) / parts * TW_ESP_NN_PART;
    tw_esp_nn_whole_of(n, &whole);
    if (part >= outputs || parts / 2 >= blocks ||
        tw_esp_nn_conv_read(&whole.call, &window) != TW_ESP_NN_FITS || window.each == 0)
        return 0;
    return (uint32_t)tw_esp_nn_part_bytes(&window, part); /* less than that of all, or not taken */
}

const tw_native tw_native_esp_nn_conv_s8 = {
    TW_ESP_NN_HEAD(conv_s8),
    .can = can_conv,
    .scratch = scratch_conv,
    .parts = parts_conv,
};

/* ---- depthwise ---- */

static const char *can_depthwise(const tw_native_node *n)
{
    const tw_depthwise_conv_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *w = &n->node->in[1]->shape, *y = &n->node->out[0]->shape;
    const char *why = fits(n, &lists, w->dim, tw_esp_nn_depthwise_read);
    if (why)
        return why;
    if (tw_shape_elements(y) == y->dim[y->rank - 1])
        return "a single output pixel: its bands are channels, which the library does not cut";
    const int32_t channels = w->dim[w->rank - 1];
    return tw_esp_nn_sums(n, channels,
                          &(tw_esp_nn_taps){tw_shape_elements(w) / channels, 1, channels});
}

static uint32_t scratch_depthwise(const tw_native_node *n, const tw_native_band *band)
{
    (void)band;
    return scratch_of(n, tw_esp_nn_depthwise_read);
}

const tw_native tw_native_esp_nn_depthwise_s8 = {
    TW_ESP_NN_HEAD(depthwise_s8),
    .can = can_depthwise,
    .scratch = scratch_depthwise,
};
