/* Which windowed operators the library's fast functions take, and what they touch of scratch. The
 * library's own answers about scratch are not asked: they can only be had on the device, and are many
 * times what a call touches. Both halves ask here. Device and host code. */
#ifndef TW_BACKENDS_ESP_NN_FITS_H
#define TW_BACKENDS_ESP_NN_FITS_H

#include "ops/window.h"

typedef enum tw_esp_nn_fit {
    TW_ESP_NN_FITS,
    TW_ESP_NN_GROUPS,   /* the library has plain C for them */
    TW_ESP_NN_DILATION, /* it knows none */
    TW_ESP_NN_WIDE,     /* a row of more columns than it counts */
    TW_ESP_NN_CHANNELS, /* no multiple of what it works on at a time */
    TW_ESP_NN_KERNEL,   /* of another size than its fast function's */
    TW_ESP_NN_ROW,      /* rows of weights that it would align anew in every call */
    TW_ESP_NN_LARGE     /* scratch of more than 2 GB */
} tw_esp_nn_fit;

typedef struct tw_esp_nn_window {
    tw_window_spans spans;
    int64_t copied; /* bytes of scratch in front: tw_esp_nn_strip_bytes */
    int64_t bytes;  /* of scratch in all */
} tw_esp_nn_window;

/* Of calls that the portable kernel's check takes; whole views. */
tw_esp_nn_fit tw_esp_nn_conv_read(const tw_call *call, tw_esp_nn_window *window);
tw_esp_nn_fit tw_esp_nn_depthwise_read(const tw_call *call, tw_esp_nn_window *window);

#endif
