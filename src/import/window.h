/* TensorFlow's windows and slices, whatever the container: SAME and VALID padding, transposed windows, and
 * the specification of a strided slice. Messages name the builder's node and `op`. */
#ifndef TW_IMPORT_WINDOW_H
#define TW_IMPORT_WINDOW_H

#include "import/build.h"

/* A window on up to three spatial axes; kernel, stride and dilation are the caller's. */
typedef struct tw_window {
    int64_t kernel[3], stride[3], dilation[3], begin[3], end[3];
} tw_window;

/* Pads of spatial axis i, of so many elements. SAME: as many results as strides fit the input, the
 * padding halved, the odd one behind; otherwise none. */
bool tw_window_pads(tw_builder *b, const char *op, int64_t extent, bool same, tw_window *window,
                    int i);
/* Of a transposed convolution: the pads on spatial axis i, and the additions, that make `extent` results of
 * x elements. */
bool tw_window_transposed(tw_builder *b, const char *op, int64_t x, int64_t extent, bool same,
                          tw_window *window, int64_t *added, int i);

/* A pool of x, channels last, over `rank` spatial axes: MaxPool or AveragePool, without dilation. */
tw_value *tw_build_pool(tw_builder *b, const char *op, tw_value *x, int rank, const tw_window *w);

enum { TW_STRIDED_ENTRIES = 2 * TW_MAX_RANK };

/* A strided slice by TensorFlow's rules: an entry is an axis of x, a new axis, or the ellipsis; bits of the
 * masks stand for entries. */
typedef struct tw_strided {
    int count;
    const int64_t *begin, *end, *stride;
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
    bool offset; /* end is counted from begin */
} tw_strided;
tw_value *tw_build_strided(tw_builder *b, const char *op, tw_value *x, const tw_strided *s);

#endif
