/* The library, and what its calls are made of. Device code. */
#ifndef TW_BACKENDS_ESP_NN_LIBRARY_H
#define TW_BACKENDS_ESP_NN_LIBRARY_H

#ifdef ESP_PLATFORM
#include "sdkconfig.h" /* which functions the library was built with */
#endif
#include "backends/esp_nn/kernels.h"
#include "backends/esp_nn/limits.h"
#include "esp_nn.h"

/* The reference rounds twice (docs/numerics.md). */
#if defined(SKIP_NUDGE) || defined(CONFIG_NN_SKIP_NUDGE)
#error "build ESP-NN without NN_SKIP_NUDGE: its results would differ from the host's"
#endif
#if defined(CONFIG_IDF_TARGET_ESP32P4) && defined(CONFIG_NN_OPTIMIZED)
#error                                                                                             \
    "ESP-NN's ESP32-P4 functions are not verified here: choose NN_ANSI_C, or the portable kernels"
#endif

static inline int tw_esp_nn_is_aligned(const void *at)
{
    return ((uintptr_t)(const uint8_t *)at & (TW_ESP_NN_ALIGN - 1)) == 0;
}

static inline data_dims_t tw_esp_nn_dims(int32_t width, int32_t height, int32_t channels)
{
    data_dims_t dims;
    dims.width = width;
    dims.height = height;
    dims.channels = channels;
    dims.extra = 1;
    return dims;
}

static inline data_2d_t tw_esp_nn_pair(int32_t width, int32_t height)
{
    data_2d_t pair;
    pair.width = width;
    pair.height = height;
    return pair;
}

static inline act_params_t tw_esp_nn_activation(const tw_call *call)
{
    act_params_t activation;
    activation.min = call->clamp_low.s32;
    activation.max = call->clamp_high.s32;
    return activation;
}

#endif
