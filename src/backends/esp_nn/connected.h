/* What the adapters of fully connected layers share. Device code. */
#ifndef TW_BACKENDS_ESP_NN_CONNECTED_H
#define TW_BACKENDS_ESP_NN_CONNECTED_H

#include "backends/esp_nn/windows.h"
#include "ops/connected_job.h"

static inline int tw_esp_nn_connected_check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *w, *x;
    if (tw_connected_check(call, TW_S8, TW_S8, work) != TW_OK)
        return 0;
    x = call->in[0].tensor;
    w = call->in[1].tensor;
    return tw_is_dense(x) && tw_is_dense(call->out[0].tensor) && tw_is_dense(w) &&
           w->zero_point == 0 && tw_channels_check(call, w->dim[0]) && w->dim[1] > 0 &&
           tw_esp_nn_depth_fits(w->dim[1], tw_element_count(x) / w->dim[1]);
}

/* One row, some of its outputs. */
typedef void (*tw_esp_nn_connected)(const tw_call *call, const int8_t *x, int32_t first,
                                    int32_t outputs, int8_t *y);

/* All rows of a call. */
static inline tw_status tw_esp_nn_connected_run(const tw_call *call, tw_esp_nn_connected part)
{
    const int32_t depth = call->in[1].tensor->dim[1];
    tw_native_rows rows;
    int32_t r, o, n;
    if (!tw_is_whole(&call->in[1]) || !tw_native_rows_of(call, &rows))
        return TW_E_SCHEDULE;
    for (r = 0; r < rows.count; r++)
        for (o = 0; o < rows.outputs; o += n) {
            n = rows.outputs - o < TW_ESP_NN_OUTPUTS ? rows.outputs - o : TW_ESP_NN_OUTPUTS;
            part(call, rows.x + (ptrdiff_t)r * depth, rows.first + o, n,
                 rows.y + (ptrdiff_t)r * rows.outputs + o);
        }
    return TW_OK;
}

#endif
