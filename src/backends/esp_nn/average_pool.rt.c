/* Averages under windows by ESP-NN, one output row at a time: of several, the ESP32-S3's function takes the
 * number of rows for their width. */
#include "backends/esp_nn/pool_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    return tw_esp_nn_pool_check(call, work) && !a->count_include_pad &&
                   a->rounding == TW_POOL_HALF_AWAY
               ? TW_OK
               : TW_E_CHECK;
}

/* Output row `row` of an image. */
static int one_row(const tw_call *call, const tw_esp_nn_pool *job, int32_t row)
{
    const tw_native_image *i = &job->image;
    const tw_span *rows = &job->window.axis[0], *columns = &job->window.axis[1];
    const int32_t base = row * rows->stride - i->pad_rows;
    const int32_t first = base < 0 ? 0 : base;
    if (first >= i->in_rows)
        return 0;
    esp_nn_avg_pool_s8(i->x + (ptrdiff_t)first * i->in_columns * i->in_channels,
                       (uint16_t)i->in_columns, (uint16_t)(i->in_rows - first),
                       i->y + (ptrdiff_t)row * i->out_columns * i->out_channels,
                       (uint16_t)i->out_columns, 1, (uint16_t)columns->stride,
                       (uint16_t)rows->stride, (uint16_t)columns->kernel, (uint16_t)rows->kernel,
                       (uint16_t)i->pad_columns, (uint16_t)(first - base), call->clamp_low.s32,
                       call->clamp_high.s32, (uint16_t)i->in_channels);
    return 1;
}

static tw_status run(const tw_call *call)
{
    tw_esp_nn_pool job;
    const tw_status status = tw_esp_nn_pool_read(call, &job);
    int32_t row;
    if (status != TW_OK)
        return status;
    for (; job.image.images > 0; job.image.images--) {
        for (row = 0; row < job.image.out_rows; row++)
            if (!one_row(call, &job, row))
                return TW_E_SCHEDULE;
        tw_native_next_image(&job.image);
    }
    return TW_OK;
}

TW_ESP_NN_KERNEL(average_pool_s8, run, check);
