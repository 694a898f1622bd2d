/* What the adapters of the depthwise convolution share. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_DEPTHWISE_JOB_H
#define TW_BACKENDS_CMSIS_NN_DEPTHWISE_JOB_H

#include "backends/cmsis_nn/depthwise.h"
#include "backends/cmsis_nn/windows.h"
#include "ops/depthwise_job.h"

/* One of the library's functions, which all take the same. */
typedef arm_cmsis_nn_status (*tw_cmsis_nn_depthwise_function)(
    const cmsis_nn_context *, const cmsis_nn_dw_conv_params *,
    const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *, const int8_t *,
    const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *, const int32_t *,
    const cmsis_nn_dims *, int8_t *);

/* Everything that all of them need; `window` is filled in. */
int tw_cmsis_nn_depthwise_check(const tw_call *call, tw_window_spans *window, uint64_t *work);

/* One output a channel, no dilation, every window with a tap inside. */
int tw_cmsis_nn_depthwise_is_plain(const tw_call *call, const tw_window_spans *window);

/* Image by image of the batch. */
tw_status tw_cmsis_nn_depthwise_run(const tw_call *call, tw_cmsis_nn_depthwise_function function);

#endif
