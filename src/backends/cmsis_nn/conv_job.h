/* What the adapters of the convolution share: int8, int16, weights of 4 bits. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_CONV_JOB_H
#define TW_BACKENDS_CMSIS_NN_CONV_JOB_H

#include "backends/cmsis_nn/conv.h"
#include "backends/cmsis_nn/windows.h"
#include "ops/conv_job.h"

/* One of the library's functions, most of which take the same. */
typedef arm_cmsis_nn_status (*tw_cmsis_nn_conv_function)(const cmsis_nn_context *,
                                                         const cmsis_nn_conv_params *,
                                                         const cmsis_nn_per_channel_quant_params *,
                                                         const cmsis_nn_dims *, const int8_t *,
                                                         const cmsis_nn_dims *, const int8_t *,
                                                         const cmsis_nn_dims *, const int32_t *,
                                                         const cmsis_nn_dims *, int8_t *);

/* Of int8, with the scratch of cmsis_nn/conv.h. */
tw_status tw_cmsis_nn_conv_check(const tw_call *call, uint64_t *work);

/* The window, the filter's outputs and channels too. */
static inline tw_status tw_cmsis_nn_conv_window(const tw_call *call, tw_cmsis_nn_window *window)
{
    const tw_tensor *w = call->in[1].tensor;
    const tw_status status = tw_cmsis_nn_weights_window(call, 1, window);
    if (status != TW_OK)
        return status;
    window->filter.n = window->out.c;
    window->filter.c = w->dim[w->rank - 1];
    return TW_OK;
}

#endif
