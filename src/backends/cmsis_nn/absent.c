/* CMSIS-NN where it is not: every function says that there is no implementation. This machine compiles the
 * adapters for their checks and runs the portable kernels. */
#include "backends/cmsis_nn/interface/arm_nnfunctions.h"
#include "backends/cmsis_nn/interface/arm_nnsupportfunctions.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Weak: the library itself, or a test in its place, may be linked over it. */
#define ABSENT(function, ...)                                                                      \
    __attribute__((weak)) arm_cmsis_nn_status function(__VA_ARGS__)                                \
    {                                                                                              \
        return ARM_CMSIS_NN_NO_IMPL_ERROR;                                                         \
    }

ABSENT(arm_convolve_s8, TW_CMSIS_NN_CONV_ARGUMENTS, const cmsis_nn_dims *upscale_dims,
       const cmsis_nn_dims *output_dims, int8_t *output)
ABSENT(arm_convolve_1x1_s8, TW_CMSIS_NN_CONV_ARGUMENTS, const cmsis_nn_dims *output_dims,
       int8_t *output)
ABSENT(arm_nn_mat_mult_nt_t_s8, TW_CMSIS_NN_PRODUCT_ARGUMENTS)
ABSENT(arm_nn_mat_mult_nt_t_s4, TW_CMSIS_NN_PRODUCT_S4_ARGUMENTS)
ABSENT(arm_convolve_s4, TW_CMSIS_NN_S4_ARGUMENTS)
ABSENT(arm_convolve_even_s4, TW_CMSIS_NN_S4_ARGUMENTS)
ABSENT(arm_convolve_1x1_s4, TW_CMSIS_NN_S4_ARGUMENTS)
ABSENT(arm_convolve_s16, const cmsis_nn_context *context, const cmsis_nn_conv_params *params,
       const cmsis_nn_per_channel_quant_params *scales, const cmsis_nn_dims *input_dims,
       const int16_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
       const cmsis_nn_dims *bias_dims, const cmsis_nn_bias_data *bias,
       const cmsis_nn_dims *output_dims, int16_t *output)
ABSENT(arm_depthwise_conv_s16, TW_CMSIS_NN_DEPTHWISE_S16_ARGUMENTS)
ABSENT(arm_depthwise_conv_fast_s16, TW_CMSIS_NN_DEPTHWISE_S16_ARGUMENTS)
ABSENT(arm_depthwise_conv_s8_opt, TW_CMSIS_NN_DEPTHWISE_ARGUMENTS)
ABSENT(arm_depthwise_conv_3x3_s8, TW_CMSIS_NN_DEPTHWISE_ARGUMENTS)
ABSENT(arm_fully_connected_s8, const cmsis_nn_context *context, const cmsis_nn_fc_params *params,
       const cmsis_nn_per_tensor_quant_params *scale, TW_CMSIS_NN_CONNECTED_ARGUMENTS)
ABSENT(arm_fully_connected_per_channel_s8, const cmsis_nn_context *context,
       const cmsis_nn_fc_params *params, const cmsis_nn_per_channel_quant_params *scales,
       TW_CMSIS_NN_CONNECTED_ARGUMENTS)
ABSENT(arm_fully_connected_s16, const cmsis_nn_context *context, const cmsis_nn_fc_params *params,
       const cmsis_nn_per_tensor_quant_params *scale, const cmsis_nn_dims *input_dims,
       const int16_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,
       const cmsis_nn_dims *bias_dims, const int64_t *bias, const cmsis_nn_dims *output_dims,
       int16_t *output)
ABSENT(arm_avgpool_s16, TW_CMSIS_NN_POOL_S16_ARGUMENTS)
ABSENT(arm_max_pool_s16, TW_CMSIS_NN_POOL_S16_ARGUMENTS)
ABSENT(arm_avgpool_s8, TW_CMSIS_NN_POOL_ARGUMENTS)
ABSENT(arm_max_pool_s8, TW_CMSIS_NN_POOL_ARGUMENTS)
ABSENT(arm_elementwise_add_s8, const int8_t *a, const int8_t *b, int32_t a_offset,
       int32_t a_multiplier, int32_t a_shift, int32_t b_offset, int32_t b_multiplier,
       int32_t b_shift, int32_t left_shift, int8_t *output, int32_t offset, int32_t multiplier,
       int32_t shift, int32_t least, int32_t most, int32_t count)
ABSENT(arm_elementwise_mul_s8, const int8_t *a, const int8_t *b, int32_t a_offset, int32_t b_offset,
       int8_t *output, int32_t offset, int32_t multiplier, int32_t shift, int32_t least,
       int32_t most, int32_t count)
ABSENT(arm_elementwise_add_s16, const int16_t *a, const int16_t *b, int32_t a_offset,
       int32_t a_multiplier, int32_t a_shift, int32_t b_offset, int32_t b_multiplier,
       int32_t b_shift, int32_t left_shift, int16_t *output, int32_t offset, int32_t multiplier,
       int32_t shift, int32_t least, int32_t most, int32_t count)
ABSENT(arm_elementwise_mul_s16, const int16_t *a, const int16_t *b, int32_t a_offset,
       int32_t b_offset, int16_t *output, int32_t offset, int32_t multiplier, int32_t shift,
       int32_t least, int32_t most, int32_t count)
ABSENT(arm_maximum_s8, TW_CMSIS_NN_PAIR_ARGUMENTS)
ABSENT(arm_minimum_s8, TW_CMSIS_NN_PAIR_ARGUMENTS)
ABSENT(arm_batch_matmul_s8, const cmsis_nn_context *context, const cmsis_nn_bmm_params *params,
       const cmsis_nn_per_tensor_quant_params *scale, const cmsis_nn_dims *a_dims, const int8_t *a,
       const cmsis_nn_dims *b_dims, const int8_t *b, const cmsis_nn_dims *output_dims,
       int8_t *output)
ABSENT(arm_batch_matmul_s16, const cmsis_nn_context *context, const cmsis_nn_bmm_params *params,
       const cmsis_nn_per_tensor_quant_params *scale, const cmsis_nn_dims *a_dims, const int16_t *a,
       const cmsis_nn_dims *b_dims, const int16_t *b, const cmsis_nn_dims *output_dims,
       int16_t *output)
ABSENT(arm_nn_vec_mat_mul_result_acc_s8_s16, const int8_t *input, const int8_t *filter,
       const int32_t *bias, int16_t *output, const int32_t multiplier, const int32_t shift,
       const int32_t depth, const int32_t outputs, const int32_t batches,
       const int32_t batch_offset)
ABSENT(arm_nn_vec_mat_mul_result_acc_s16, const int16_t *input, const int8_t *filter,
       const int64_t *bias, int16_t *output, const int32_t multiplier, const int32_t shift,
       const int32_t depth, const int32_t outputs, const int32_t batches,
       const int32_t batch_offset)
ABSENT(arm_softmax_s16, const int16_t *input, int32_t rows, int32_t row_size, int32_t multiplier,
       int32_t shift, const cmsis_nn_softmax_lut_s16 *tables, int16_t *output)
ABSENT(arm_pad_s8, const int8_t *input, int8_t *output, int8_t value, const cmsis_nn_dims *size,
       const cmsis_nn_dims *before, const cmsis_nn_dims *behind)
ABSENT(arm_transpose_s8, const int8_t *input, int8_t *output, const cmsis_nn_dims *input_dims,
       const cmsis_nn_dims *output_dims, const cmsis_nn_transpose_params *params)
ABSENT(arm_svdf_s8, const cmsis_nn_context *context, TW_CMSIS_NN_SVDF_ARGUMENTS(int8_t))
ABSENT(arm_svdf_state_s16_s8, TW_CMSIS_NN_SVDF_ARGUMENTS(int16_t))

/* Without a status: nothing is joined. Plans for other back ends are not run here. */
__attribute__((weak)) void arm_concatenation_s8_x(const int8_t *input, uint16_t input_x,
                                                  uint16_t input_y, uint16_t input_z,
                                                  uint16_t input_w, int8_t *output,
                                                  uint16_t output_x, uint32_t offset_x)
{
}
__attribute__((weak)) void arm_concatenation_s8_w(const int8_t *input, uint16_t input_x,
                                                  uint16_t input_y, uint16_t input_z,
                                                  uint16_t input_w, int8_t *output,
                                                  uint32_t offset_w)
{
}
