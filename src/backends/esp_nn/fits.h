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
    TW_ESP_NN_ROW,      /* rows of weights whose aligning anew in every call would not pay */
    TW_ESP_NN_LARGE     /* scratch of more than 2 GB */
} tw_esp_nn_fit;

typedef struct tw_esp_nn_window {
    tw_window_spans spans;
    int64_t copied; /* bytes of scratch in front: tw_esp_nn_strip_bytes */
    int64_t bytes;  /* of scratch in all, with all outputs at once */
    /* Where the library can be asked for some outputs at a time: what it takes of scratch for all of them
     * together, and for each; and the columns of a row of results, which are then put in place. each 0: it
     * is asked for all. */
    int64_t fixed, each;
    int32_t columns;
} tw_esp_nn_window;

/* Outputs at a time: a multiple of this, so that what the library does anew in every call, as laying
 * windows side by side, is done for as many. */
enum { TW_ESP_NN_PART = 16 };

/* Scratch in all, with `part` outputs at a time. */
static inline int64_t tw_esp_nn_part_bytes(const tw_esp_nn_window *w, int32_t part)
{
    return w->copied + w->fixed + part * (w->each + w->columns);
}

/* Outputs at a time that scratch has room for; 0: none. */
static inline int32_t tw_esp_nn_part(const tw_esp_nn_window *w, int32_t outputs, uint32_t scratch)
{
    const int64_t left = (int64_t)scratch - w->copied - w->fixed;
    if ((int64_t)scratch >= w->bytes)
        return outputs;
    return w->each == 0 || left < 0
               ? 0
               : (int32_t)(left / (w->each + w->columns) / TW_ESP_NN_PART) * TW_ESP_NN_PART;
}

/* Of calls that the portable kernel's check takes; whole views. */
tw_esp_nn_fit tw_esp_nn_conv_read(const tw_call *call, tw_esp_nn_window *window);
tw_esp_nn_fit tw_esp_nn_depthwise_read(const tw_call *call, tw_esp_nn_window *window);

#endif
