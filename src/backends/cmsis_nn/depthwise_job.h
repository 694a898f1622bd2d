/* What the adapters of the depthwise convolution share. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_DEPTHWISE_JOB_H
#define TW_BACKENDS_CMSIS_NN_DEPTHWISE_JOB_H

#include "backends/cmsis_nn/depthwise.h"
#include "backends/cmsis_nn/image.h"
#include "ops/depthwise_job.h"

/* The arguments of one of the library's functions, which all have the same. */
typedef struct tw_cmsis_nn_depthwise {
    cmsis_nn_context context;
    cmsis_nn_dw_conv_params params;
    cmsis_nn_per_channel_quant_params scales;
    cmsis_nn_dims filter, bias_dims;
    tw_cmsis_nn_image image;
    const int8_t *weights;
    const int32_t *bias;
} tw_cmsis_nn_depthwise;

/* Everything that all of them need; `window` is filled in. */
int tw_cmsis_nn_depthwise_check(const tw_call *call, tw_window_spans *window, uint64_t *work);

/* One output a channel, no dilation, every window with a tap inside. */
int tw_cmsis_nn_depthwise_is_plain(const tw_call *call, const tw_window_spans *window);

tw_status tw_cmsis_nn_depthwise_read(const tw_call *call, tw_cmsis_nn_depthwise *job);

/* To the next image of a batch. */
static inline void tw_cmsis_nn_depthwise_next(tw_cmsis_nn_image *image)
{
    image->x += (ptrdiff_t)image->in.h * image->in.w * image->in.c;
    image->y += (ptrdiff_t)image->out.h * image->out.w * image->out.c;
}

#endif
