/* Convolution without neighbours by CMSIS-NN: a product of matrices. No padding, so the portable kernel's
 * bias, zero points folded in, serves as it is and the input's offset is 0. */
#include "backends/cmsis_nn/conv_1x1_job.h"

static const int8_t *weights_of(const tw_call *call, int32_t output)
{
    const tw_tensor *w = call->in[1].tensor;
    return (const int8_t *)call->in[1].data + (ptrdiff_t)output * w->dim[w->rank - 1];
}

static tw_status run(const tw_call *call)
{
    static const tw_cmsis_nn_pointwise functions = {weights_of, tw_cmsis_nn_product_run,
                                                    arm_convolve_1x1_s8};
    return tw_cmsis_nn_conv_1x1_run(call, &functions);
}

TW_CMSIS_NN_KERNEL(conv_1x1_s8, run, tw_cmsis_nn_conv_1x1_check);
