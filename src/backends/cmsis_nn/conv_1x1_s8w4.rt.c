/* Convolution without neighbours and with weights of 4 bits by CMSIS-NN. See conv_1x1.rt.c. */
#include "backends/cmsis_nn/conv_1x1_job.h"
#include "backends/cmsis_nn/packed.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_packed packed;
    return tw_cmsis_nn_packed(call, TW_PACKED_FIRST, &packed)
               ? tw_cmsis_nn_conv_1x1_check(&packed.call, work)
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    static const tw_cmsis_nn_pointwise functions = {tw_cmsis_nn_pairs, tw_cmsis_nn_product_pairs,
                                                    arm_convolve_1x1_s4};
    tw_packed packed;
    return tw_cmsis_nn_packed(call, TW_PACKED_FIRST, &packed)
               ? tw_cmsis_nn_conv_1x1_run(&packed.call, &functions)
               : TW_E_DATA;
}

TW_CMSIS_NN_KERNEL(conv_1x1_s8w4, run, check);
