/* Fully connected layers by ESP-NN: one scale of the weights. The bias has the zero points folded in, so
 * that the library has no sums of weights to compute. */
#include "backends/esp_nn/connected.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_esp_nn_connected_check(call, work) ? TW_OK : TW_E_CHECK;
}

static void part(const tw_call *call, const int8_t *x, int32_t first, int32_t outputs, int8_t *y)
{
    const int32_t depth = call->in[1].tensor->dim[1];
    esp_nn_fully_connected_s8(
        x, 0, (uint16_t)depth, (const int8_t *)call->in[1].data + (ptrdiff_t)first * depth, 0,
        tw_esp_nn_table(call, TW_BLOB_BIAS, first), y, (uint16_t)outputs,
        call->out[0].tensor->zero_point, *tw_esp_nn_table(call, TW_BLOB_SHIFT, first),
        *tw_esp_nn_table(call, TW_BLOB_MULTIPLIER, first), call->clamp_low.s32,
        call->clamp_high.s32);
}

static tw_status run(const tw_call *call)
{
    return tw_esp_nn_connected_run(call, part);
}

TW_ESP_NN_KERNEL(fully_connected_s8, run, check);
