/* The kernels of the ESP-NN back end, for firmware and for the compiler. Device code. */
#ifndef TW_BACKENDS_ESP_NN_KERNELS_H
#define TW_BACKENDS_ESP_NN_KERNELS_H

#include "backends/native.h"

enum {
#define TW_ESP_NN(name, operator_symbol, signature, variant)                                       \
    TW_ESP_NN_ID_##name = (int)TW_NATIVE_ID(esp_nn, operator_symbol, signature, variant),
#include "backends/esp_nn/kernels.def"
};

#define TW_ESP_NN(name, operator_symbol, signature, variant)                                       \
    extern const tw_kernel tw_esp_nn_##name;
#include "backends/esp_nn/kernels.def"

/* The record of a kernel, at the end of its .rt.c. */
#define TW_ESP_NN_KERNEL(name, run, check)                                                         \
    const tw_kernel tw_esp_nn_##name = {(uint32_t)TW_ESP_NN_ID_##name, run,                        \
                                        TW_KERNEL_CHECK(check), 0}

#endif
