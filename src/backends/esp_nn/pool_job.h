/* What the adapters of pooling share. Device code. */
#ifndef TW_BACKENDS_ESP_NN_POOL_JOB_H
#define TW_BACKENDS_ESP_NN_POOL_JOB_H

#include "backends/esp_nn/library.h"
#include "backends/image.h"
#include "ops/pool_job.h"

typedef struct tw_esp_nn_pool {
    tw_window_spans window;
    tw_native_image image;
} tw_esp_nn_pool;

int tw_esp_nn_pool_check(const tw_call *call, uint64_t *work);
tw_status tw_esp_nn_pool_read(const tw_call *call, tw_esp_nn_pool *job);

#endif
