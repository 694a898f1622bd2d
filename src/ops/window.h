/* Windows that slide over an image: the geometry that convolution, depthwise convolution and
 * pooling share. Device and host code.
 *
 * An image is taken as batch, row, column, channel. Rank 4 is that; rank 3 (batch, time, channel)
 * is an image of one row. Along one axis, output o reads the taps k = 0 .. kernel - 1 at
 *
 *     o * stride - pad_begin + k * dilation
 *
 * and those that fall outside the input are padding. Bounds are compared once a pixel, never in an
 * inner loop: tw_window_walk hands out runs of pixels whose taps inside the input are the same. */
#ifndef TW_OPS_WINDOW_H
#define TW_OPS_WINDOW_H

#include "ops/attributes.h"
#include "runtime/kernel.h"

/* Attributes of every window, to stand in front of an operator's own. Lists have one entry a spatial
 * axis, or none. */
#define TW_WINDOW_MOST (1 << 20)
/* clang-format off */
#define TW_WINDOW_ATTRIBUTES(A, T)                                                                 \
    A(T, INTS, stride, 0, 1, TW_WINDOW_MOST, "step from one output to the next; empty: 1")         \
    A(T, INTS, dilation, 0, 1, TW_WINDOW_MOST, "distance from one tap to the next; empty: 1")      \
    A(T, INTS, pad_begin, 0, 0, TW_WINDOW_MOST, "padding before the first element; empty: 0")      \
    A(T, INTS, pad_end, 0, 0, TW_WINDOW_MOST, "padding behind the last element; empty: 0")
/* clang-format on */

/* Extents with their padding, and kernels with their dilation, stay below this: every position is
 * then an int32_t. */
#define TW_WINDOW_LIMIT (1 << 29)

/* Pointers to the attributes above; `&(a)->` of any structure that begins with them. */
typedef struct tw_window_lists {
    const tw_ints *stride, *dilation, *pad_begin, *pad_end;
} tw_window_lists;

#define TW_WINDOW_LISTS(a)                                                                         \
    {                                                                                              \
        &(a)->stride, &(a)->dilation, &(a)->pad_begin, &(a)->pad_end                               \
    }

/* One axis. */
typedef struct tw_span {
    int32_t in, out, kernel, stride, dilation, pad_begin, pad_end;
} tw_span;

/* Rows, then columns. */
typedef struct tw_window_spans {
    tw_span axis[2];
} tw_window_spans;

/* Taps first .. last - 1 are inside the input; first == last: none is. */
typedef struct tw_taps {
    int32_t first, last;
} tw_taps;

/* A view as an image; what is present of it: begin[i] <= index < end[i] on each axis. */
typedef struct tw_image {
    int32_t dim[4], stride[4], begin[4], end[4];
    uintptr_t low, high; /* addresses: of the first byte present, behind the last */
} tw_image;

/* Input elements from a window's first tap to its last, both included. */
static inline int64_t tw_window_reach(const tw_span *s)
{
    return (int64_t)(s->kernel - 1) * s->dilation + 1;
}

/* The number of outputs along an axis: 0 or less where no window fits. Rounded up on request, but
 * then no window starts in the padding behind the input. */
int64_t tw_window_extent(const tw_span *s, int ceil);

/* Fill in `axis[i]` but for the extents and the kernel from entry `entry` of the lists. 0: a list
 * has neither no entry nor `count`, or an entry is out of range. */
int tw_window_entry(tw_span *s, const tw_window_lists *lists, int count, int entry);

/* The window of a step, from its input, output and kernel (rows, columns); everything is verified.
 * 0: they do not fit together. */
int tw_window_read(tw_window_spans *w, const tw_tensor *in, const tw_tensor *out,
                   const int32_t kernel[2], const tw_window_lists *lists, int ceil);

/* The same of one that has been verified. */
void tw_window_of(tw_window_spans *w, const tw_tensor *in, const tw_tensor *out,
                  const int32_t kernel[2], const tw_window_lists *lists);

/* For views of rank 3 and 4. */
void tw_image_of(const tw_view *view, tw_image *image);

/* Elements from the view's data to an element that is present. */
static inline ptrdiff_t tw_image_at(const tw_image *m, int32_t batch, int32_t row, int32_t column,
                                    int32_t channel)
{
    return (ptrdiff_t)(batch - m->begin[0]) * m->stride[0] +
           (ptrdiff_t)(row - m->begin[1]) * m->stride[1] +
           (ptrdiff_t)(column - m->begin[2]) * m->stride[2] +
           (ptrdiff_t)(channel - m->begin[3]) * m->stride[3];
}

/* Output pixels of one row, side by side, with the same taps inside the input. */
typedef struct tw_patch {
    int32_t pixels;
    int32_t batch;
    int32_t row, column;   /* of the first */
    tw_taps rows, columns; /* both empty, or neither */
    ptrdiff_t in;   /* elements from the input view's data to the first tap inside, channel 0 */
    ptrdiff_t out;  /* from the output view's data to the first pixel's first channel present */
    int64_t behind; /* pixels that the walk goes to after these */
    int closes; /* no pixel behind it may be begun before its own and those before it are done */
} tw_patch;

typedef void (*tw_patch_function)(const void *job, const tw_patch *patch);

/* Call `visit` for every pixel present in `out`, row after row: from the first on, or, where `out` begins
 * within the memory of `in`, from the last one back, so that it overwrites rows that are done with (what
 * that takes, tw_window_overlap knows). Along a row always from the first column on. Taps count as inside only where `in` has their
 * rows and columns; with the rows that the operator's row map promises, that is all of the input's.
 * TW_E_DATA: the input lacks a batch or channels. */
tw_status tw_window_walk(const tw_window_spans *w, const tw_image *in, const tw_image *out,
                         tw_patch_function visit, const void *job);

#endif
