/* Bands as images that the library can work on. Its fast functions know no padding: they, or we, copy
 * the input into a larger one; and they copy it once more where it is not exactly as wide as
 *
 *     outputs * stride + kernel - 1
 *
 * columns. So where windows reach outside, or the width is another, the input rows of one output row are
 * laid out in scratch, padding included, and the library makes one row at a time: scratch does not grow
 * with the band, and there is no padding left that it could treat differently in first, middle and last
 * bands. Device code. */
#ifndef TW_BACKENDS_ESP_NN_STRIPS_H
#define TW_BACKENDS_ESP_NN_STRIPS_H

#include "backends/esp_nn/library.h"
#include "backends/image.h"

/* Output rows and the input rows of their windows, which are all inside. */
typedef struct tw_esp_nn_strip {
    const int8_t *x;
    int8_t *y;
    data_dims_t in, out; /* `in` as the library wants it: rows that no window touches included */
    int32_t channel;     /* the first output channel */
} tw_esp_nn_strip;

/* Bytes of scratch that copied rows take, a multiple of 16; 0: none are copied; -1: too wide. */
int64_t tw_esp_nn_strip_bytes(const tw_call *call, const tw_window_spans *window);

/* Call `visit` for the strips of a call whose window is verified; `copied`: tw_esp_nn_strip_bytes of it,
 * for which scratch begins. Ends with the first status but TW_OK. */
typedef tw_status (*tw_esp_nn_visit)(void *job, const tw_esp_nn_strip *strip);
tw_status tw_esp_nn_each_strip(const tw_call *call, const tw_window_spans *window, int64_t copied,
                               tw_esp_nn_visit visit, void *job);

#endif
