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

/* Dense tensors whose extents the libraries can hold, and whose bands are images. */
int tw_native_window_check(const tw_call *call, const tw_window_spans *window);

/* Does every window cover an element, without dilation? Some functions count on it. */
int tw_native_windows_touch(const tw_window_spans *window);

/* Outputs y->row and on along one axis, from inputs [have, until). Positions fit 32 bits, as
 * tw_native_window_check has seen to. */
typedef struct tw_native_reach {
    int32_t skip, rows, padding;
} tw_native_reach;

static inline int tw_native_reach_of(const tw_span *s, const tw_view *y, int32_t have,
                                     int32_t until, tw_native_reach *reach)
{
    const int32_t first = y->row * s->stride - s->pad_begin;
    const int32_t last =
        first + (y->rows - 1) * s->stride + (s->kernel - 1) * s->dilation + 1; /* behind it */
    const int32_t from = first < 0 ? 0 : first < s->in ? first : s->in;
    const int32_t to = last < from ? from : last < s->in ? last : s->in;
    reach->skip = reach->rows = reach->padding = 0; /* without rows everything is padding */
    if (from == to)
        return 1;
    reach->skip = from - have;
    reach->rows = until - from; /* those behind `to` keep the pitch of an image */
    reach->padding = from - first;
    return have <= from && until >= to;
}

static inline void tw_native_whole(const tw_call *call, const tw_window_spans *window,
                                   tw_native_image *image)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    const tw_span *rows = &window->axis[0], *columns = &window->axis[1];
    image->x = (const int8_t *)call->in[0].data;
    image->y = (int8_t *)call->out[0].data;
    image->images = y->dim[0];
    image->in_rows = rows->in;
    image->in_columns = columns->in;
    image->in_channels = x->dim[x->rank - 1];
    image->out_rows = rows->out;
    image->out_columns = columns->out;
    image->out_channels = y->dim[y->rank - 1];
    image->pad_rows = rows->pad_begin;
    image->pad_columns = columns->pad_begin;
    image->channel = 0;
}

/* The axis that has been cut: 0 images, 1 rows, 2 columns, 3 channels; of the input, [have, until) is there.
 * 0: the band needs more. */
static inline int tw_native_cut(const tw_call *call, const tw_window_spans *window, int32_t have,
                                int32_t until, tw_native_image *image)
{
    const tw_view *y = &call->out[0];
    const tw_tensor *x = call->in[0].tensor;
    const int axis = y->axis > 0 ? y->axis + 4 - (int)x->rank : 0;
    tw_native_reach reach = {0, 0, 0};
    if (axis == 3) { /* every output channel reads every input channel */
        image->out_channels = y->rows;
        image->channel = y->row;
        return have == 0 && until == image->in_channels;
    }
    if (axis == 0) {
        image->images = y->rows;
        reach.skip = y->row - have;
        if (reach.skip < 0 || until < y->row + y->rows)
            return 0;
    } else if (axis == 1) {
        if (!tw_native_reach_of(&window->axis[0], y, have, until, &reach))
            return 0;
        image->in_rows = reach.rows;
        image->out_rows = y->rows;
        image->pad_rows = reach.padding;
    } else {
        if (!tw_native_reach_of(&window->axis[1], y, have, until, &reach))
            return 0;
        image->in_columns = reach.rows;
        image->out_columns = y->rows;
        image->pad_columns = reach.padding;
    }
    image->x += (ptrdiff_t)reach.skip * x->stride[y->axis] * tw_native_bytes(x);
    return 1;
}

/* The band of a call, whose window has been verified by tw_native_window_check. Runs once a row. */
static inline tw_status tw_native_window(const tw_call *call, const tw_window_spans *window,
                                         tw_native_image *image)
{
    const tw_view *x = &call->in[0];
    const int32_t axis = call->out[0].axis;
    int32_t have = x->row, until = x->row + x->rows;
    if (x->axis != axis) {
        if (!tw_is_whole(x))
            return TW_E_SCHEDULE;
        have = 0;
        until = x->tensor->dim[axis];
    }
    tw_native_whole(call, window, image);
    return tw_native_cut(call, window, have, until, image) ? TW_OK : TW_E_SCHEDULE;
}

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
