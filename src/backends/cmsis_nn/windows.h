/* Bands of operators with windows, as the library's functions take them. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_WINDOWS_H
#define TW_BACKENDS_CMSIS_NN_WINDOWS_H

#include "backends/cmsis_nn/image.h"

/* What the band of a call becomes. Offsets are int8's: the library takes the input's zero point off every
 * tap. int16 has none. */
typedef struct tw_cmsis_nn_window {
    const int8_t *x; /* or int16 */
    int8_t *y;
    int32_t channel; /* the first output channel */
    cmsis_nn_dims in, out;
    cmsis_nn_dims filter; /* rows and columns; the rest is 1 */
    cmsis_nn_conv_params params;
} tw_cmsis_nn_window;

/* kernel: its rows and columns. The call has passed its check, and its attributes begin with those of every
 * window (ops/window.h). */
tw_status tw_cmsis_nn_window_read(const tw_call *call, const int32_t kernel[2],
                                  tw_cmsis_nn_window *window);

/* The same for weights whose extents along the kernel begin at axis `first`. */
static inline tw_status tw_cmsis_nn_weights_window(const tw_call *call, int first,
                                                   tw_cmsis_nn_window *window)
{
    const tw_tensor *w = call->in[1].tensor;
    int32_t kernel[2];
    if (!tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    kernel[0] = call->in[0].tensor->rank == 4 ? w->dim[first] : 1;
    kernel[1] = w->dim[call->in[0].tensor->rank == 4 ? first + 1 : first];
    return tw_cmsis_nn_window_read(call, kernel, window);
}

static inline void tw_cmsis_nn_depthwise_params(const tw_cmsis_nn_window *window,
                                                cmsis_nn_dw_conv_params *p)
{
    p->input_offset = window->params.input_offset;
    p->output_offset = window->params.output_offset;
    p->ch_mult = 1;
    p->stride = window->params.stride;
    p->dilation = window->params.dilation;
    p->padding = window->params.padding;
    p->activation = window->params.activation;
}

static inline const int16_t *tw_cmsis_nn_in_s16(const tw_cmsis_nn_window *window)
{
    return (const int16_t *)(const void *)window->x;
}

static inline int16_t *tw_cmsis_nn_out_s16(const tw_cmsis_nn_window *window)
{
    return (int16_t *)(void *)window->y;
}

/* To the next image of a batch; `bytes` of an element. */
static inline void tw_cmsis_nn_next_image(tw_cmsis_nn_window *window, ptrdiff_t bytes)
{
    window->x += (ptrdiff_t)window->in.h * window->in.w * window->in.c * bytes;
    window->y += (ptrdiff_t)window->out.h * window->out.w * window->out.c * bytes;
}

#endif
