/* Rows by a matrix of weights, by CMSIS-NN: pointwise convolution, fully connected layers of several rows. */
#include "backends/cmsis_nn/product.h"

#include "arm_nnsupportfunctions.h"

tw_status tw_cmsis_nn_product_run(const tw_call *call, const tw_cmsis_nn_product *p)
{
    return tw_cmsis_nn_status(arm_nn_mat_mult_nt_t_s8(
        p->x, p->weights, p->bias, p->y, p->scales.multiplier, p->scales.shift, p->count,
        p->outputs, p->depth, 0, call->out[0].tensor->zero_point, call->clamp_low.s32,
        call->clamp_high.s32, p->outputs, p->depth));
}

tw_status tw_cmsis_nn_product_pairs(const tw_call *call, const tw_cmsis_nn_product *p)
{
    return tw_cmsis_nn_status(arm_nn_mat_mult_nt_t_s4(
        p->x, p->weights, p->bias, p->y, p->scales.multiplier, p->scales.shift, p->count,
        p->outputs, p->depth, 0, call->out[0].tensor->zero_point, call->clamp_low.s32,
        call->clamp_high.s32, p->depth));
}
