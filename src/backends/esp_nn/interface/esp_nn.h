/* ESP-NN's public interface as far as the back end calls it, for machines without the library: the
 * adapters are compiled and checked here, never run. Firmware is compiled with the library's own header
 * of this name. Structures and arguments as the library documents them; its plain C functions, whose
 * names end in _ansi, stand behind the names that it calls by on every processor. */
#ifndef ESP_NN_H
#define ESP_NN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct data_dims {
    int32_t width, height, channels, extra;
} data_dims_t;

typedef struct data_2d {
    int32_t width, height;
} data_2d_t;

typedef struct act_params {
    int32_t min, max;
} act_params_t;

typedef struct quant_data {
    int32_t *shift, *mult; /* one a channel */
} quant_data_t;

typedef struct conv_params {
    int32_t in_offset, out_offset;
    data_2d_t stride, padding, dilation;
    act_params_t activation;
} conv_params_t;

typedef struct dw_conv_params {
    int32_t in_offset, out_offset, ch_mult;
    data_2d_t stride, padding, dilation;
    act_params_t activation;
} dw_conv_params_t;

#define TW_ESP_NN_WINDOW_ARGUMENTS(params_type)                                                    \
    const data_dims_t *input_dims, const int8_t *input, const data_dims_t *filter_dims,            \
        const int8_t *filter, const int32_t *bias, const data_dims_t *output_dims, int8_t *output, \
        const params_type *params, const quant_data_t *scales

#define esp_nn_conv_s8 esp_nn_conv_s8_ansi
#define esp_nn_set_conv_scratch_buf esp_nn_set_conv_scratch_buf_ansi
#define esp_nn_depthwise_conv_s8 esp_nn_depthwise_conv_s8_ansi
#define esp_nn_set_depthwise_conv_scratch_buf esp_nn_set_depthwise_conv_scratch_buf_ansi
void esp_nn_conv_s8(TW_ESP_NN_WINDOW_ARGUMENTS(conv_params_t));
void esp_nn_set_conv_scratch_buf(const void *buffer);
void esp_nn_depthwise_conv_s8(TW_ESP_NN_WINDOW_ARGUMENTS(dw_conv_params_t));
void esp_nn_set_depthwise_conv_scratch_buf(const void *buffer);

#define TW_ESP_NN_CONNECTED_ARGUMENTS(scale_type)                                                  \
    const int8_t *input, int32_t input_offset, uint16_t depth, const int8_t *filter,               \
        int32_t filter_offset, const int32_t *bias, int8_t *output, uint16_t outputs,              \
        int32_t output_offset, scale_type shift, scale_type multiplier, int32_t least,             \
        int32_t most

#define esp_nn_fully_connected_s8 esp_nn_fully_connected_s8_ansi
#define esp_nn_fully_connected_per_ch_s8 esp_nn_fully_connected_per_ch_s8_ansi
void esp_nn_fully_connected_s8(TW_ESP_NN_CONNECTED_ARGUMENTS(int32_t));
void esp_nn_fully_connected_per_ch_s8(TW_ESP_NN_CONNECTED_ARGUMENTS(const int32_t *));

#define esp_nn_add_elementwise_s8 esp_nn_add_elementwise_s8_ansi
#define esp_nn_mul_elementwise_s8 esp_nn_mul_elementwise_s8_ansi
void esp_nn_add_elementwise_s8(const int8_t *a, const int8_t *b, int32_t a_offset, int32_t b_offset,
                               int32_t a_multiplier, int32_t b_multiplier, int32_t a_shift,
                               int32_t b_shift, int32_t left_shift, int8_t *output, int32_t offset,
                               int32_t multiplier, int32_t shift, int32_t least, int32_t most,
                               int32_t count);
void esp_nn_mul_elementwise_s8(const int8_t *a, const int8_t *b, int32_t a_offset, int32_t b_offset,
                               int8_t *output, int32_t offset, int32_t multiplier, int32_t shift,
                               int32_t least, int32_t most, int32_t count);

#define TW_ESP_NN_POOL_ARGUMENTS                                                                   \
    const int8_t *input, uint16_t in_columns, uint16_t in_rows, int8_t *output,                    \
        uint16_t out_columns, uint16_t out_rows, uint16_t stride_columns, uint16_t stride_rows,    \
        uint16_t filter_columns, uint16_t filter_rows, uint16_t pad_columns, uint16_t pad_rows,    \
        int32_t least, int32_t most, uint16_t channels

#define esp_nn_avg_pool_s8 esp_nn_avg_pool_s8_ansi
#define esp_nn_max_pool_s8 esp_nn_max_pool_s8_ansi
void esp_nn_avg_pool_s8(TW_ESP_NN_POOL_ARGUMENTS);
void esp_nn_max_pool_s8(TW_ESP_NN_POOL_ARGUMENTS);

#define esp_nn_mean_nhwc_s8 esp_nn_mean_nhwc_s8_ansi
#define esp_nn_logistic_s8 esp_nn_logistic_s8_ansi
void esp_nn_mean_nhwc_s8(const int8_t *input, int8_t *output, int32_t rows, int32_t columns,
                         int32_t channels, int32_t in_zero, int32_t out_zero, int32_t multiplier,
                         int32_t shift);
void esp_nn_logistic_s8(const int8_t *input, int8_t *output, int32_t count, const int8_t *table);

#ifdef __cplusplus
}
#endif

#endif
