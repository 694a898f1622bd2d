/* What the host halves of the ESP-NN back end share. */
#ifndef TW_BACKENDS_ESP_NN_HOST_H
#define TW_BACKENDS_ESP_NN_HOST_H

#include "backends/esp_nn/kernels.h"
#include "backends/windowed.h"

#define TW_ESP_NN(name, operator_symbol, signature, variant)                                       \
    extern const tw_native tw_native_esp_nn_##name;
#include "backends/esp_nn/kernels.def"

/* The head of every record. */
#define TW_ESP_NN_HEAD(symbol) .name = "tw_esp_nn_" #symbol, .kernel = &tw_esp_nn_##symbol

/* A node as a call on whole tensors, for what the device half knows of shapes. */
enum { TW_ESP_NN_OPERANDS = 4 };
typedef struct tw_esp_nn_whole {
    tw_tensor tensor[TW_ESP_NN_OPERANDS];
    tw_view view[TW_ESP_NN_OPERANDS];
    tw_call call;
} tw_esp_nn_whole;
void tw_esp_nn_whole_of(const tw_native_node *n, tw_esp_nn_whole *whole);

/* Taps of an output channel: `count` weights, the first of channel o at o * channel, `tap` apart. */
typedef struct tw_esp_nn_taps {
    int64_t count, channel, tap;
} tw_esp_nn_taps;

/* Why sums of an int8 product are too large for the library's rounding, which adds to them without
 * looking; null where no input brings them there. Tables are the portable kernel's. */
const char *tw_esp_nn_sums(const tw_native_node *n, int32_t channels, const tw_esp_nn_taps *taps);

#endif
