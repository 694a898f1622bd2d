/* Means over whole images by ESP-NN whose sum is divided: what a global average pooling becomes, and is
 * again here. Channels come eight at a time, as in every pooling. */
#include "backends/esp_nn/mean_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_esp_nn_mean_check(call, TW_MEAN_HALF_AWAY, 0, work) &&
                   call->in[0].tensor->dim[3] % 8 == 0
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0];
    const uint16_t rows = (uint16_t)x->tensor->dim[1], columns = (uint16_t)x->tensor->dim[2];
    if (!tw_esp_nn_mean_is_whole(call))
        return tw_k_reduce_mean_s8.run(call);
    esp_nn_avg_pool_s8((const int8_t *)x->data, columns, rows, (int8_t *)call->out[0].data, 1, 1, 1,
                       1, columns, rows, 0, 0, call->clamp_low.s32, call->clamp_high.s32,
                       (uint16_t)x->tensor->dim[3]);
    return TW_OK;
}

TW_ESP_NN_KERNEL(reduce_mean_divided_s8, run, check);
