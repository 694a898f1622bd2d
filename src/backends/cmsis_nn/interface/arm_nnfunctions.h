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

#define TW_CMSIS_NN_CONV_ARGUMENTS                                                                 \
    const cmsis_nn_context *context, const cmsis_nn_conv_params *params,                           \
        const cmsis_nn_per_channel_quant_params *scales, const cmsis_nn_dims *input_dims,          \
        const int8_t *input, const cmsis_nn_dims *filter_dims, const int8_t *filter,               \
        const cmsis_nn_dims *bias_dims, const int32_t *bias

arm_cmsis_nn_status arm_convolve_s8(TW_CMSIS_NN_CONV_ARGUMENTS, const cmsis_nn_dims *upscale_dims,
                                    const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_convolve_1x1_s8(TW_CMSIS_NN_CONV_ARGUMENTS,
                                        const cmsis_nn_dims *output_dims, int8_t *output);
arm_cmsis_nn_status arm_convolve_1x1_s8_fast(TW_CMSIS_NN_CONV_ARGUMENTS,
                                             const cmsis_nn_dims *output_dims, int8_t *output);

#ifdef __cplusplus
}
#endif

#endif
