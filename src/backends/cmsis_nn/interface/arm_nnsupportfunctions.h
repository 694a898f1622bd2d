/* What the back end calls of the functions that CMSIS-NN is made of, for machines without the library: see
 * arm_nnfunctions.h. */
#ifndef ARM_NNSUPPORTFUNCTIONS_H
#define ARM_NNSUPPORTFUNCTIONS_H

#include "arm_nnfunctions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* left [left_rows x depth], rows left_pitch apart, by right [right_rows x depth]: a result for each pair, rows of
 * results pitch apart, rescaled by the right row's multiplier and shift. */
#define TW_CMSIS_NN_PRODUCT_ARGUMENTS                                                              \
    const int8_t *left, const int8_t *right, const int32_t *bias, int8_t *output,                  \
        const int32_t *multipliers, const int32_t *shifts, const int32_t left_rows,                \
        const int32_t right_rows, const int32_t depth, const int32_t left_offset,                  \
        const int32_t output_offset, const int32_t least, const int32_t most, const int32_t pitch, \
        const int32_t left_pitch
arm_cmsis_nn_status arm_nn_mat_mult_nt_t_s8(TW_CMSIS_NN_PRODUCT_ARGUMENTS);

/* The same with the right rows' elements of 4 bits, two to a byte; rows of results without gaps. */
#define TW_CMSIS_NN_PRODUCT_S4_ARGUMENTS                                                           \
    const int8_t *left, const int8_t *right, const int32_t *bias, int8_t *output,                  \
        const int32_t *multipliers, const int32_t *shifts, const int32_t left_rows,                \
        const int32_t right_rows, const int32_t depth, const int32_t left_offset,                  \
        const int32_t output_offset, const int32_t least, const int32_t most,                      \
        const int32_t left_pitch
arm_cmsis_nn_status arm_nn_mat_mult_nt_t_s4(TW_CMSIS_NN_PRODUCT_S4_ARGUMENTS);

/* output[i] += rescaled(bias[i] + sum over k of filter[i][k] * input[k]), cut to 16 bits. */
arm_cmsis_nn_status arm_nn_vec_mat_mul_result_acc_s8_s16(
    const int8_t *input, const int8_t *filter, const int32_t *bias, int16_t *output,
    const int32_t multiplier, const int32_t shift, const int32_t depth, const int32_t outputs,
    const int32_t batches, const int32_t batch_offset);
arm_cmsis_nn_status arm_nn_vec_mat_mul_result_acc_s16(const int16_t *input, const int8_t *filter,
                                                      const int64_t *bias, int16_t *output,
                                                      const int32_t multiplier, const int32_t shift,
                                                      const int32_t depth, const int32_t outputs,
                                                      const int32_t batches,
                                                      const int32_t batch_offset);

#ifdef __cplusplus
}
#endif

#endif
