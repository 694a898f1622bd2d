/* Sums of products, the core of convolution, fully connected layers and matrix products:
 *
 *     y[pixel][o] = b[o] + sum over rows r, columns c, depth i of x[pixel][r][c][i] * w[o][r][c][i]
 *
 * Each output's sum runs in exactly that order (bias first, then rows, columns, depth ascending,
 * padding left out), one product after the other, whatever the block sizes: float results are the
 * same bytes on every target, in every band and for either order of the weights. Device code. */
#ifndef TW_OPS_PRODUCT_H
#define TW_OPS_PRODUCT_H

#include "ops/window.h"
#include "runtime/fixed.h"

/* A loop body whose sizes are constants at each place of use. */
#define TW_INLINE inline __attribute__((always_inline))

typedef struct tw_product {
    int32_t rows, columns, depth;       /* of a kernel */
    ptrdiff_t x_pixel, x_row, x_column; /* elements from one to the next; depth: 1 */
    ptrdiff_t w_output, w_row, w_column, w_depth;
    ptrdiff_t y_pixel; /* outputs: 1 */
    tw_bound low, high;
} tw_product;

/* x: the first tap inside (of patch->rows, columns) of the first pixel; w: the first output's first
 * tap of all; bias: null for none. Fast where outputs are side by side in w (w_output 1). */
void tw_product_f32(const tw_product *p, const tw_patch *patch, const float *x, const float *w,
                    const float *bias, float *y, int32_t outputs);

/* The int8 tables of a step, one entry an output channel. `bias` has everything that does not depend
 * on the input folded in, so that the sums need no zero points. */
typedef struct tw_channels {
    const int32_t *multiplier, *shift, *bias;
    int32_t in_zero, w_zero, out_zero; /* zero points; w_zero only where no tap is padding */
    int32_t low, high;                 /* bounds before out_zero is added */
} tw_channels;

enum { TW_BLOB_MULTIPLIER, TW_BLOB_SHIFT, TW_BLOB_BIAS, TW_BLOB_COUNT };

/* Are the tables there, sound, and for so many channels; are zero points and bounds int8's? */
int tw_channels_check(const tw_call *call, int32_t channels);
void tw_channels_of(const tw_call *call, tw_channels *channels);

/* An int8 result from a sum. */
static inline int8_t tw_channels_finish(const tw_channels *q, int32_t channel, uint32_t sum)
{
    int32_t v = tw_requantize((int32_t)sum, q->multiplier[channel], q->shift[channel]);
    return (int8_t)(tw_clamp_s32(v, q->low, q->high) + q->out_zero);
}

/* n results from finished sums of channels `first` and up: bias[channel] + sum - less. */
void tw_channels_store(const tw_channels *q, int32_t first, const uint32_t *sum, uint32_t less,
                       int8_t *y, int32_t n);

/* int8: output pixels are worked on a panel at a time, wherever in the image they are. Their taps are
 * laid side by side as int16, with the input's zero point where they are padding, so that the sums
 * know neither borders nor zero points and stream both operands. */
#if defined(__SSE2__)
enum { TW_PANEL_PIXELS = 4, TW_PANEL_ROOM = 5 };
#else
enum { TW_PANEL_PIXELS = 2, TW_PANEL_ROOM = 2 };
#endif

/* On every target: a panel has at most so many pixels (or TW_PANEL_ROOM, where they have no more taps than
 * it copies); it writes nothing before it has read all of them
 * where they have no more taps, or it no more outputs, than this (plans rely on it: tw_window_overlap). */
enum { TW_PANEL_MOST_PIXELS = 4, TW_PANEL_COPIED_TAPS = 128, TW_PANEL_COPIED_OUTPUTS = 32 };

typedef struct tw_panel {
    int32_t count;
    struct {
        tw_taps rows, columns; /* inside */
        const int8_t *x;       /* the first tap inside */
        int8_t *y;
    } pixel[TW_PANEL_ROOM];
} tw_panel;

/* Add a pixel to the panel; is it full now? */
static inline int tw_panel_add(tw_panel *panel, const tw_patch *patch, const int8_t *x, int8_t *y)
{
    int32_t i = panel->count++;
    panel->pixel[i].rows = patch->rows;
    panel->pixel[i].columns = patch->columns;
    panel->pixel[i].x = x;
    panel->pixel[i].y = y;
    return panel->count == TW_PANEL_PIXELS;
}

/* `outputs` outputs, of which the first is channel `first`, of the panel's pixels. w: the first
 * output's taps, dense (w_depth 1, w_column depth, w_row columns * depth), of which `room` elements may
 * be read from there on. x, y: elements from the panel's to this group's. Sums wrap at 32 bits; the
 * compiler warns where they could. */
typedef struct tw_product_s8 {
    const tw_product *p;
    const tw_channels *q;
    const int8_t *w;
    ptrdiff_t room, x, y;
    int32_t first, outputs;
} tw_product_s8;
void tw_product_panel(const tw_product_s8 *job, const tw_panel *panel);

/* The sums of one vector x of p->depth taps, without bias, added to `sum`, of one entry an output. */
void tw_product_sums(const tw_product_s8 *job, const int8_t *x, uint32_t *sum);

/* Checks that several kernels share. Present, of this type, rank in [least, most], at most INT32_MAX
 * elements; tw_operand_check: also innermost stride 1. */
int tw_extents_check(const tw_view *view, uint32_t dtype, int least, int most);
int tw_operand_check(const tw_view *view, uint32_t dtype, int least, int most);

/* An optional vector of so many elements: absent, or rank 1 of this type. */
int tw_vector_check(const tw_view *view, uint32_t dtype, int32_t count);

/* The third input, where there is one: a float bias of so many outputs, or absent. */
int tw_bias_check(const tw_call *call, int32_t outputs);

/* Weights [outputs, ..., depth] that part x's channels and y's into so many groups. */
int tw_groups_check(const tw_tensor *x, const tw_tensor *w, const tw_tensor *y, int32_t group);

/* The product of extents, or 0 and *work unset when it does not fit 63 bits. */
int tw_work(uint64_t *work, const int32_t *extents, int count);

/* Elements that `count` indices on an axis step over; wraps where it could not be an address. */
static inline ptrdiff_t tw_steps(int32_t count, int32_t stride)
{
    return (ptrdiff_t)((size_t)count * (size_t)stride);
}

/* Is all of a view's tensor present? */
static inline int tw_is_whole(const tw_view *v)
{
    return v->row == 0 && v->columns == 0 &&
           (v->tensor->rank == 0 || v->rows == v->tensor->dim[v->axis]);
}

#endif
