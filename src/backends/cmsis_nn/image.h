/* The library's tables. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_IMAGE_H
#define TW_BACKENDS_CMSIS_NN_IMAGE_H

#include "backends/cmsis_nn/library.h"
#include "backends/image.h"

/* A table of the plan; the library takes its tables without const but only reads them. */
static inline int32_t *tw_cmsis_nn_table(const tw_call *call, int blob, int32_t first)
{
    return (int32_t *)(uintptr_t)call->blobs[blob].data + first;
}

static inline cmsis_nn_per_channel_quant_params tw_cmsis_nn_scales(const tw_call *call,
                                                                   int32_t first)
{
    cmsis_nn_per_channel_quant_params scales;
    scales.multiplier = tw_cmsis_nn_table(call, TW_BLOB_MULTIPLIER, first);
    scales.shift = tw_cmsis_nn_table(call, TW_BLOB_SHIFT, first);
    return scales;
}

#endif
