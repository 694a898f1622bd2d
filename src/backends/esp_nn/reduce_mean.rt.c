/* Means over whole images by ESP-NN, as TFLite's MEAN rounds. */
#include "backends/esp_nn/mean_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_esp_nn_mean_check(call, TW_MEAN_TFLITE, 1, work) && call->clamp_low.s32 == INT8_MIN &&
                   call->clamp_high.s32 == INT8_MAX
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    const tw_reduce_table *t = (const tw_reduce_table *)call->blobs[0].data;
    const int32_t *dim = x->tensor->dim;
    if (!tw_esp_nn_mean_is_whole(call))
        return tw_k_reduce_mean_s8.run(call);
    esp_nn_mean_nhwc_s8((const int8_t *)x->data, (int8_t *)y->data, dim[1], dim[2], dim[3],
                        x->tensor->zero_point, y->tensor->zero_point, t->multiplier, t->shift);
    return TW_OK;
}

TW_ESP_NN_KERNEL(reduce_mean_s8, run, check);
