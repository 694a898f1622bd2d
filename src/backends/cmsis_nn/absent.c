/* CMSIS-NN where it is not: every function says that there is no implementation. This machine compiles the
 * adapters for their checks and runs the portable kernels. */
#include "backends/cmsis_nn/interface/arm_nnfunctions.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Weak: the library itself, or a test in its place, may be linked over it. */
#define WEAK __attribute__((weak))

#define ABSENT ARM_CMSIS_NN_NO_IMPL_ERROR

WEAK arm_cmsis_nn_status arm_convolve_s8(TW_CMSIS_NN_CONV_ARGUMENTS,
                                         const cmsis_nn_dims *upscale_dims,
                                         const cmsis_nn_dims *output_dims, int8_t *output)
{
    return ABSENT;
}

WEAK arm_cmsis_nn_status arm_convolve_1x1_s8(TW_CMSIS_NN_CONV_ARGUMENTS,
                                             const cmsis_nn_dims *output_dims, int8_t *output)
{
    return ABSENT;
}

WEAK arm_cmsis_nn_status arm_convolve_1x1_s8_fast(TW_CMSIS_NN_CONV_ARGUMENTS,
                                                  const cmsis_nn_dims *output_dims, int8_t *output)
{
    return ABSENT;
}
