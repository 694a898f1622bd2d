/* Weights of 4 bits, two to a byte, as the plan packs them (ops/packed.h) and the library reads them. Device
 * code. */
#ifndef TW_BACKENDS_CMSIS_NN_PACKED_H
#define TW_BACKENDS_CMSIS_NN_PACKED_H

#include "ops/packed.h"

/* A call as the adapters for int8 take it, but for its weights: the pairs. 0: no such call. */
static inline int tw_cmsis_nn_packed(const tw_call *call, tw_packed_axis axis, tw_packed *packed)
{
    if (!tw_packed_read(call, axis, packed))
        return 0;
    packed->in[1].data = (void *)(uintptr_t)packed->pairs;
    return 1;
}

/* Of such a call, the pairs that begin with an output's weights; null where these begin within a pair. */
static inline const int8_t *tw_cmsis_nn_pairs(const tw_call *call, int32_t output)
{
    const tw_tensor *w = call->in[1].tensor;
    const ptrdiff_t first = (ptrdiff_t)output * w->stride[0];
    return first % 2 ? NULL : (const int8_t *)call->in[1].data + first / 2;
}

#endif
