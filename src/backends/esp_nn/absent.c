/* ESP-NN where it is not: every function leaves its output as it was. This machine compiles the adapters
 * for their checks and runs the portable kernels. */
#include "backends/esp_nn/interface/esp_nn.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Weak: the library itself, or a test in its place, may be linked over it. */
#define ABSENT(function, ...)                                                                      \
    __attribute__((weak)) void function(__VA_ARGS__)                                               \
    {                                                                                              \
    }

ABSENT(esp_nn_conv_s8, TW_ESP_NN_WINDOW_ARGUMENTS(conv_params_t))
ABSENT(esp_nn_set_conv_scratch_buf, const void *buffer)
ABSENT(esp_nn_depthwise_conv_s8, TW_ESP_NN_WINDOW_ARGUMENTS(dw_conv_params_t))
ABSENT(esp_nn_set_depthwise_conv_scratch_buf, const void *buffer)
ABSENT(esp_nn_fully_connected_s8, TW_ESP_NN_CONNECTED_ARGUMENTS(int32_t))
ABSENT(esp_nn_fully_connected_per_ch_s8, TW_ESP_NN_CONNECTED_ARGUMENTS(const int32_t *))
ABSENT(esp_nn_add_elementwise_s8, const int8_t *a, const int8_t *b, int32_t a_offset,
       int32_t b_offset, int32_t a_multiplier, int32_t b_multiplier, int32_t a_shift,
       int32_t b_shift, int32_t left_shift, int8_t *output, int32_t offset, int32_t multiplier,
       int32_t shift, int32_t least, int32_t most, int32_t count)
ABSENT(esp_nn_mul_elementwise_s8, const int8_t *a, const int8_t *b, int32_t a_offset,
       int32_t b_offset, int8_t *output, int32_t offset, int32_t multiplier, int32_t shift,
       int32_t least, int32_t most, int32_t count)
ABSENT(esp_nn_avg_pool_s8, TW_ESP_NN_POOL_ARGUMENTS)
ABSENT(esp_nn_max_pool_s8, TW_ESP_NN_POOL_ARGUMENTS)
ABSENT(esp_nn_mean_nhwc_s8, const int8_t *input, int8_t *output, int32_t rows, int32_t columns,
       int32_t channels, int32_t in_zero, int32_t out_zero, int32_t multiplier, int32_t shift)
ABSENT(esp_nn_logistic_s8, const int8_t *input, int8_t *output, int32_t count, const int8_t *table)
