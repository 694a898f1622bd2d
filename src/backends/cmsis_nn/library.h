/* The library and how its structures are filled from a call. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_LIBRARY_H
#define TW_BACKENDS_CMSIS_NN_LIBRARY_H

#include "arm_nnfunctions.h"
#include "backends/cmsis_nn/cpus.h"
#include "backends/cmsis_nn/kernels.h"

/* The reference rounds twice (docs/numerics.md). */
#ifdef CMSIS_NN_USE_SINGLE_ROUNDING
#error                                                                                             \
    "build CMSIS-NN without CMSIS_NN_USE_SINGLE_ROUNDING: its results would differ from the host's"
#endif

static inline cmsis_nn_dims tw_cmsis_nn_dims(int32_t n, int32_t h, int32_t w, int32_t c)
{
    cmsis_nn_dims dims;
    dims.n = n;
    dims.h = h;
    dims.w = w;
    dims.c = c;
    return dims;
}

static inline cmsis_nn_tile tw_cmsis_nn_tile(int32_t h, int32_t w)
{
    cmsis_nn_tile tile;
    tile.h = h;
    tile.w = w;
    return tile;
}

static inline cmsis_nn_context tw_cmsis_nn_context(const tw_call *call)
{
    cmsis_nn_context context;
    context.buf = call->scratch;
    context.size = (int32_t)call->scratch_bytes;
    return context;
}

static inline cmsis_nn_activation tw_cmsis_nn_activation(const tw_call *call)
{
    cmsis_nn_activation activation;
    activation.min = call->clamp_low.s32;
    activation.max = call->clamp_high.s32;
    return activation;
}

static inline tw_status tw_cmsis_nn_status(arm_cmsis_nn_status status)
{
    return status == ARM_CMSIS_NN_SUCCESS ? TW_OK : TW_E_DATA;
}

#endif
