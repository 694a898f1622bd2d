/* Bands as libraries see them: images with padding, rows of matrices. Device code. */
#ifndef TW_BACKENDS_IMAGE_H
#define TW_BACKENDS_IMAGE_H

#include "ops/product.h"

/* Extents up to here: libraries keep some in 16 bits. */
enum { TW_NATIVE_MOST = INT16_MAX };

/* Of an element: activations are int8 or int16. */
static inline ptrdiff_t tw_native_bytes(const tw_tensor *t)
{
    return t->dtype == TW_S16 ? 2 : 1;
}

/* A band of a windowed operator as an image of its own: the rows and columns that the call's windows
 * touch, and padding where they reach beyond the whole tensor. Extents count elements. */
typedef struct tw_native_image {
    const int8_t *x; /* or int16, where the tensor is */
    int8_t *y;
    int32_t images, in_rows, in_columns, in_channels, out_rows, out_columns, out_channels;
    int32_t pad_rows, pad_columns;
    int32_t channel; /* the first output channel */
} tw_native_image;

/* The band of a call, whose window has been verified by tw_native_window_check. */
tw_status tw_native_window(const tw_call *call, const tw_window_spans *window,
                           tw_native_image *image);

/* Dense tensors whose extents the libraries can hold, and whose bands are images. */
int tw_native_window_check(const tw_call *call, const tw_window_spans *window);

/* Does every window cover an element, without dilation? Some functions count on it. */
int tw_native_windows_touch(const tw_window_spans *window);

/* To the next image of a batch. */
static inline void tw_native_next_image(tw_native_image *image)
{
    image->x += (ptrdiff_t)image->in_rows * image->in_columns * image->in_channels;
    image->y += (ptrdiff_t)image->out_rows * image->out_columns * image->out_channels;
}

/* The rows of a matrix: the last axis is a row, all before it count rows. */
typedef struct tw_native_rows {
    const int8_t *x;
    int8_t *y;
    int32_t count;
    int32_t first, outputs; /* of a row of the output: present */
} tw_native_rows;

/* 0: the input lacks what the band needs. Both tensors dense; they differ in their last extent alone. */
int tw_native_rows_of(const tw_call *call, tw_native_rows *rows);

#endif
