/* CMSIS-NN's public interface as far as the back end calls it, for machines without the library: the
 * adapters are compiled and checked here, never run. Firmware is compiled with the library's own header
 * of this name. Structures and arguments as the library documents them. */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    ARM_CMSIS_NN_SUCCESS = 0,
    ARM_CMSIS_NN_ARG_ERROR = -1,
    ARM_CMSIS_NN_NO_IMPL_ERROR = -2,
    ARM_CMSIS_NN_FAILURE = -3
} arm_cmsis_nn_status;

typedef struct {
    int32_t w, h;
} cmsis_nn_tile;

typedef struct {
    void *buf;
    int32_t size;
} cmsis_nn_context;

typedef struct {
    int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct {
    int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
    int32_t min, max;
} cmsis_nn_activation;

typedef struct {
    int32_t input_offset, output_offset;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
    int32_t input_offset, output_offset, ch_mult;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;

typedef struct {
    cmsis_nn_tile stride, padding;
    cmsis_nn_activation activation;
} cmsis_nn_pool_params;

typedef struct {
    int32_t input_offset, filter_offset, output_offset;
    cmsis_nn_activation activation;
} cmsis_nn_fc_params;

typedef struct {
    int32_t multiplier, shift;
} cmsis_nn_per_tensor_quant_params;

#define TW_CMSIS_NN_CONV_ARGUMENTS                                                                 \
    const cmsis_nn_context *context, const cmsis_nn_conv_params *params,                           \
        const cmsis_nn_per_channel_quant_params *scales, const cmsis_nn_dims *input_dims,          \
        const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,               \
        const cmsis_nn_dims *bias_dims, const int32_t *bias

arm_cmsis_nn_status arm_convolve_s8(TW_CMSIS_NN_CONV_ARGUMENTS, const cmsis_nn_dims *upscale_dims,
                                    const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_convolve_1x1_s8(TW_CMSIS_NN_CONV_ARGUMENTS,
                                        const cmsis_nn_dims *output_dims, int8_t *output);
/* Weights of 4 bits, two to a byte. */
#define TW_CMSIS_NN_S4_ARGUMENTS                                                                   \
    TW_CMSIS_NN_CONV_ARGUMENTS, const cmsis_nn_dims *output_dims, int8_t *output
arm_cmsis_nn_status arm_convolve_s4(TW_CMSIS_NN_S4_ARGUMENTS);
arm_cmsis_nn_status arm_convolve_even_s4(TW_CMSIS_NN_S4_ARGUMENTS);
arm_cmsis_nn_status arm_convolve_1x1_s4(TW_CMSIS_NN_S4_ARGUMENTS);

typedef struct {
    const void *data;
    const bool is_int32_bias; /* else int64 */
} cmsis_nn_bias_data;

arm_cmsis_nn_status arm_convolve_s16(const cmsis_nn_context *context,
                                     const cmsis_nn_conv_params *params,
                                     const cmsis_nn_per_channel_quant_params *scales,
                                     const cmsis_nn_dims *input_dims, const int16_t *input,
                                     const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                     const cmsis_nn_dims *bias_dims, const cmsis_nn_bias_data *bias,
                                     const cmsis_nn_dims *output_dims, int16_t *output);

#define TW_CMSIS_NN_DEPTHWISE_ARGUMENTS                                                            \
    const cmsis_nn_context *context, const cmsis_nn_dw_conv_params *params,                        \
        const cmsis_nn_per_channel_quant_params *scales, const cmsis_nn_dims *input_dims,          \
        const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,               \
        const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *output_dims,     \
        int8_t *output

arm_cmsis_nn_status arm_depthwise_conv_s8_opt(TW_CMSIS_NN_DEPTHWISE_ARGUMENTS);
arm_cmsis_nn_status arm_depthwise_conv_3x3_s8(TW_CMSIS_NN_DEPTHWISE_ARGUMENTS);

#define TW_CMSIS_NN_DEPTHWISE_S16_ARGUMENTS                                                        \
    const cmsis_nn_context *context, const cmsis_nn_dw_conv_params *params,                        \
        const cmsis_nn_per_channel_quant_params *scales, const cmsis_nn_dims *input_dims,          \
        const int16_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,              \
        const cmsis_nn_dims *bias_dims, const int64_t *bias, const cmsis_nn_dims *output_dims,     \
        int16_t *output

arm_cmsis_nn_status arm_depthwise_conv_s16(TW_CMSIS_NN_DEPTHWISE_S16_ARGUMENTS);
arm_cmsis_nn_status arm_depthwise_conv_fast_s16(TW_CMSIS_NN_DEPTHWISE_S16_ARGUMENTS);

#define TW_CMSIS_NN_CONNECTED_ARGUMENTS                                                            \
    const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,        \
        const int8_t *filter, const cmsis_nn_dims *bias_dims, const int32_t *bias,                 \
        const cmsis_nn_dims *output_dims, int8_t *output

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *context,
                                           const cmsis_nn_fc_params *params,
                                           const cmsis_nn_per_tensor_quant_params *scale,
                                           TW_CMSIS_NN_CONNECTED_ARGUMENTS);
arm_cmsis_nn_status arm_fully_connected_per_channel_s8(
    const cmsis_nn_context *context, const cmsis_nn_fc_params *params,
    const cmsis_nn_per_channel_quant_params *scales, TW_CMSIS_NN_CONNECTED_ARGUMENTS);

arm_cmsis_nn_status arm_fully_connected_s16(const cmsis_nn_context *context,
                                            const cmsis_nn_fc_params *params,
                                            const cmsis_nn_per_tensor_quant_params *scale,
                                            const cmsis_nn_dims *input_dims, const int16_t *input,
                                            const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                            const cmsis_nn_dims *bias_dims, const int64_t *bias,
                                            const cmsis_nn_dims *output_dims, int16_t *output);

#define TW_CMSIS_NN_POOL_ARGUMENTS                                                                 \
    const cmsis_nn_context *context, const cmsis_nn_pool_params *params,                           \
        const cmsis_nn_dims *input_dims, const int8_t *input, const cmsis_nn_dims *filter_dims,    \
        const cmsis_nn_dims *output_dims, int8_t *output

arm_cmsis_nn_status arm_avgpool_s8(TW_CMSIS_NN_POOL_ARGUMENTS);
arm_cmsis_nn_status arm_max_pool_s8(TW_CMSIS_NN_POOL_ARGUMENTS);

#define TW_CMSIS_NN_POOL_S16_ARGUMENTS                                                             \
    const cmsis_nn_context *context, const cmsis_nn_pool_params *params,                           \
        const cmsis_nn_dims *input_dims, const int16_t *input, const cmsis_nn_dims *filter_dims,   \
        const cmsis_nn_dims *output_dims, int16_t *output

arm_cmsis_nn_status arm_avgpool_s16(TW_CMSIS_NN_POOL_S16_ARGUMENTS);
arm_cmsis_nn_status arm_max_pool_s16(TW_CMSIS_NN_POOL_S16_ARGUMENTS);

arm_cmsis_nn_status arm_elementwise_add_s8(const int8_t *a, const int8_t *b, int32_t a_offset,
                                           int32_t a_multiplier, int32_t a_shift, int32_t b_offset,
                                           int32_t b_multiplier, int32_t b_shift,
                                           int32_t left_shift, int8_t *output, int32_t offset,
                                           int32_t multiplier, int32_t shift, int32_t least,
                                           int32_t most, int32_t count);
arm_cmsis_nn_status arm_elementwise_mul_s8(const int8_t *a, const int8_t *b, int32_t a_offset,
                                           int32_t b_offset, int8_t *output, int32_t offset,
                                           int32_t multiplier, int32_t shift, int32_t least,
                                           int32_t most, int32_t count);

arm_cmsis_nn_status arm_elementwise_add_s16(const int16_t *a, const int16_t *b, int32_t a_offset,
                                            int32_t a_multiplier, int32_t a_shift, int32_t b_offset,
                                            int32_t b_multiplier, int32_t b_shift,
                                            int32_t left_shift, int16_t *output, int32_t offset,
                                            int32_t multiplier, int32_t shift, int32_t least,
                                            int32_t most, int32_t count);
arm_cmsis_nn_status arm_elementwise_mul_s16(const int16_t *a, const int16_t *b, int32_t a_offset,
                                            int32_t b_offset, int16_t *output, int32_t offset,
                                            int32_t multiplier, int32_t shift, int32_t least,
                                            int32_t most, int32_t count);

#define TW_CMSIS_NN_PAIR_ARGUMENTS                                                                 \
    const cmsis_nn_context *context, const int8_t *a, const cmsis_nn_dims *a_dims,                 \
        const int8_t *b, const cmsis_nn_dims *b_dims, int8_t *output,                              \
        const cmsis_nn_dims *output_dims

arm_cmsis_nn_status arm_maximum_s8(TW_CMSIS_NN_PAIR_ARGUMENTS);
arm_cmsis_nn_status arm_minimum_s8(TW_CMSIS_NN_PAIR_ARGUMENTS);

typedef struct {
    const bool adj_x, adj_y;
    cmsis_nn_fc_params fc_params;
} cmsis_nn_bmm_params;

typedef struct {
    const int32_t num_dims;
    const uint32_t *permutations;
} cmsis_nn_transpose_params;

typedef struct {
    const int16_t *exp_lut, *one_by_one_lut;
} cmsis_nn_softmax_lut_s16;

arm_cmsis_nn_status arm_batch_matmul_s8(const cmsis_nn_context *context,
                                        const cmsis_nn_bmm_params *params,
                                        const cmsis_nn_per_tensor_quant_params *scale,
                                        const cmsis_nn_dims *a_dims, const int8_t *a,
                                        const cmsis_nn_dims *b_dims, const int8_t *b,
                                        const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_batch_matmul_s16(const cmsis_nn_context *context,
                                         const cmsis_nn_bmm_params *params,
                                         const cmsis_nn_per_tensor_quant_params *scale,
                                         const cmsis_nn_dims *a_dims, const int16_t *a,
                                         const cmsis_nn_dims *b_dims, const int16_t *b,
                                         const cmsis_nn_dims *output_dims, int16_t *output);
arm_cmsis_nn_status arm_softmax_s16(const int16_t *input, int32_t rows, int32_t row_size,
                                    int32_t multiplier, int32_t shift,
                                    const cmsis_nn_softmax_lut_s16 *tables, int16_t *output);
arm_cmsis_nn_status arm_pad_s8(const int8_t *input, int8_t *output, int8_t value,
                               const cmsis_nn_dims *size, const cmsis_nn_dims *before,
                               const cmsis_nn_dims *behind);
void arm_concatenation_s8_x(const int8_t *input, uint16_t input_x, uint16_t input_y,
                            uint16_t input_z, uint16_t input_w, int8_t *output, uint16_t output_x,
                            uint32_t offset_x);
void arm_concatenation_s8_w(const int8_t *input, uint16_t input_x, uint16_t input_y,
                            uint16_t input_z, uint16_t input_w, int8_t *output,
                            uint32_t offset_w); /* in units of x * y * z */
arm_cmsis_nn_status arm_transpose_s8(const int8_t *input, int8_t *output,
                                     const cmsis_nn_dims *input_dims,
                                     const cmsis_nn_dims *output_dims,
                                     const cmsis_nn_transpose_params *params);

typedef struct {
    int32_t rank, input_offset, output_offset;
    cmsis_nn_activation input_activation, output_activation;
} cmsis_nn_svdf_params;

#define TW_CMSIS_NN_SVDF_ARGUMENTS(state_type)                                                     \
    const cmsis_nn_context *input_context, const cmsis_nn_context *output_context,                 \
        const cmsis_nn_svdf_params *params, const cmsis_nn_per_tensor_quant_params *input_scale,   \
        const cmsis_nn_per_tensor_quant_params *output_scale, const cmsis_nn_dims *input_dims,     \
        const int8_t *input, const cmsis_nn_dims *state_dims, state_type *memory,                  \
        const cmsis_nn_dims *feature_dims, const int8_t *feature, const cmsis_nn_dims *time_dims,  \
        const state_type *time, const cmsis_nn_dims *bias_dims, const int32_t *bias,               \
        const cmsis_nn_dims *output_dims, int8_t *output

arm_cmsis_nn_status arm_svdf_s8(const cmsis_nn_context *context,
                                TW_CMSIS_NN_SVDF_ARGUMENTS(int8_t));
arm_cmsis_nn_status arm_svdf_state_s16_s8(TW_CMSIS_NN_SVDF_ARGUMENTS(int16_t));

#ifdef __cplusplus
}
#endif

#endif
