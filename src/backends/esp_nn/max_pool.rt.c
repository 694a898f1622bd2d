/* Maxima under windows by ESP-NN. */
#include "backends/esp_nn/pool_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_esp_nn_pool_check(call, work) ? TW_OK : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    tw_esp_nn_pool job;
    tw_native_image *i = &job.image;
    const tw_span *rows = &job.window.axis[0], *columns = &job.window.axis[1];
    const tw_status status = tw_esp_nn_pool_read(call, &job);
    if (status != TW_OK)
        return status;
    for (; i->images > 0; i->images--) {
        esp_nn_max_pool_s8(i->x, (uint16_t)i->in_columns, (uint16_t)i->in_rows, i->y,
                           (uint16_t)i->out_columns, (uint16_t)i->out_rows,
                           (uint16_t)columns->stride, (uint16_t)rows->stride,
                           (uint16_t)columns->kernel, (uint16_t)rows->kernel,
                           (uint16_t)i->pad_columns, (uint16_t)i->pad_rows, call->clamp_low.s32,
                           call->clamp_high.s32, (uint16_t)i->in_channels);
        tw_native_next_image(i);
    }
    return TW_OK;
}

TW_ESP_NN_KERNEL(max_pool_s8, run, check);
