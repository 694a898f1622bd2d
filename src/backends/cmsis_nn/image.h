/* Bands as the library's images, and its tables of scales. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_IMAGE_H
#define TW_BACKENDS_CMSIS_NN_IMAGE_H

#include "backends/cmsis_nn/library.h"
#include "backends/image.h"

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

/* The same with the library's structures. */
typedef struct tw_cmsis_nn_image {
    const int8_t *x; /* or int16 */
    int8_t *y;
    cmsis_nn_dims in, out;
    cmsis_nn_tile padding;
    int32_t channel;
} tw_cmsis_nn_image;

static inline const int16_t *tw_cmsis_nn_in_s16(const tw_cmsis_nn_image *image)
{
    return (const int16_t *)(const void *)image->x;
}

static inline int16_t *tw_cmsis_nn_out_s16(const tw_cmsis_nn_image *image)
{
    return (int16_t *)(void *)image->y;
}

/* To the next image of a batch; `bytes` of an element. */
static inline void tw_cmsis_nn_next_image(tw_cmsis_nn_image *image, ptrdiff_t bytes)
{
    image->x += (ptrdiff_t)image->in.h * image->in.w * image->in.c * bytes;
    image->y += (ptrdiff_t)image->out.h * image->out.w * image->out.c * bytes;
}

static inline tw_status tw_cmsis_nn_window(const tw_call *call, const tw_window_spans *window,
                                           tw_cmsis_nn_image *image)
{
    tw_native_image i;
    const tw_status status = tw_native_window(call, window, &i);
    if (status != TW_OK)
        return status;
    image->x = i.x;
    image->y = i.y;
    image->in = tw_cmsis_nn_dims(i.images, i.in_rows, i.in_columns, i.in_channels);
    image->out = tw_cmsis_nn_dims(i.images, i.out_rows, i.out_columns, i.out_channels);
    image->padding = tw_cmsis_nn_tile(i.pad_rows, i.pad_columns);
    image->channel = i.channel;
    return TW_OK;
}

#endif
