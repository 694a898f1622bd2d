/* Bands as the library's images and matrices, and its tables of scales. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_IMAGE_H
#define TW_BACKENDS_CMSIS_NN_IMAGE_H

#include "backends/cmsis_nn/library.h"
#include "ops/product.h"

/* A table of the plan; the library takes its tables without const but only reads them. */
static inline int32_t *tw_cmsis_nn_table(const tw_call *call, int blob, int32_t first)
{
    return (int32_t *)(uintptr_t)call->blobs[blob].data + first;
}

static inline cmsis_nn_per_channel_quant_params tw_cmsis_nn_scales(const tw_call *call,
                                                                   int32_t first)
{
    cmsis_nn_per_channel_quant_params scales;
    scales.multiplier = tw_cmsis_nn_table(call, TW_BLOB_MULTIPLIER, first);
    scales.shift = tw_cmsis_nn_table(call, TW_BLOB_SHIFT, first);
    return scales;
}

/* A band of a windowed operator as an image of its own: the rows and columns that the call's windows
 * touch, and padding where they reach beyond the whole tensor. */
typedef struct tw_cmsis_nn_image {
    const int8_t *x;
    int8_t *y;
    cmsis_nn_dims in, out;
    cmsis_nn_tile padding;
    int32_t channel; /* the first output channel */
} tw_cmsis_nn_image;

/* The band of a call, whose window has been verified by tw_cmsis_nn_window_check. */
tw_status tw_cmsis_nn_window(const tw_call *call, const tw_window_spans *window,
                             tw_cmsis_nn_image *image);

/* The rows of a matrix: the last axis is a row, all before it count rows. */
typedef struct tw_cmsis_nn_rows {
    const int8_t *x;
    int8_t *y;
    int32_t count;
    int32_t first, outputs; /* of a row of the output: present */
} tw_cmsis_nn_rows;

/* 0: the input lacks what the band needs. Both tensors dense. */
int tw_cmsis_nn_rows_of(const tw_call *call, tw_cmsis_nn_rows *rows);

/* Does every window cover an element? Some of the library's functions count on it. */
int tw_cmsis_nn_windows_touch(const tw_window_spans *window);

/* Dense tensors whose extents the library can hold, and whose bands are images. */
int tw_cmsis_nn_window_check(const tw_call *call, const tw_window_spans *window);

#endif
