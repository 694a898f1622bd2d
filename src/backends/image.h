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

/* How a band is cut out of whole images: along one axis. */
typedef struct tw_native_cut {
    int axis;        /* 0 images, 1 rows, 2 columns, 3 channels */
    int32_t in, out; /* present there */
    int32_t padding; /* in front of them */
    ptrdiff_t skip;  /* elements of the input that they leave out */
} tw_native_cut;

/* Outputs y->row and on along a window's axis, from inputs [have, until). Positions fit 32 bits, as
 * tw_native_window_check has seen to. */
static inline int tw_native_reach(const tw_span *s, const tw_view *y, int32_t have, int32_t until,
                                  tw_native_cut *cut)
{
    const int32_t first = y->row * s->stride - s->pad_begin;
    const int32_t last =
        first + (y->rows - 1) * s->stride + (s->kernel - 1) * s->dilation + 1; /* behind it */
    const int32_t from = first < 0 ? 0 : first < s->in ? first : s->in;
    const int32_t to = last < from ? from : last < s->in ? last : s->in;
    cut->in = cut->padding = 0; /* without rows everything is padding */
    cut->skip = 0;
    if (from == to)
        return 1;
    cut->in = until - from; /* those behind `to` keep the pitch of an image */
    cut->padding = from - first;
    cut->skip = from - have;
    return have <= from && until >= to;
}

/* The cut of a call, whose window has been verified by tw_native_window_check. 0: the band needs more than is
 * there. Runs once a row. */
static inline int tw_native_cut_of(const tw_call *call, const tw_window_spans *window,
                                   tw_native_cut *cut)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    const int rank = (int)x->tensor->rank;
    int32_t have = x->row, until = x->row + x->rows;
    int enough;
    if (x->axis != y->axis) {
        if (!tw_is_whole(x))
            return 0;
        have = 0;
        until = x->tensor->dim[y->axis];
    }
    cut->axis = y->axis > 0 ? y->axis + 4 - rank : 0;
    cut->out = y->rows;
    if (cut->axis == 1) {
        enough = tw_native_reach(&window->axis[0], y, have, until, cut);
    } else if (cut->axis == 2) {
        enough = tw_native_reach(&window->axis[1], y, have, until, cut);
    } else if (cut->axis == 0) {
        cut->in = y->rows;
        cut->padding = 0;
        cut->skip = y->row - have;
        enough = cut->skip >= 0 && until >= y->row + y->rows;
    } else { /* every output channel reads every input channel */
        cut->in = x->tensor->dim[rank - 1];
        cut->padding = 0;
        cut->skip = 0;
        enough = have == 0 && until == cut->in;
    }
    cut->skip *= x->tensor->stride[y->axis];
    return enough;
}

/* The band of such a call. */
tw_status tw_native_window(const tw_call *call, const tw_window_spans *window,
                           tw_native_image *image);

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
