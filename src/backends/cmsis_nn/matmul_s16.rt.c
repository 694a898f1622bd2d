/* Matrix products of two activations of int16 by CMSIS-NN, a batch at a time: the second operand's columns
 * side by side, sums of 64 bits. */
#include "backends/cmsis_nn/matmul_job.h"
#include "ops/product_s16.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_matmul_attributes *a = (const tw_matmul_attributes *)call->attributes;
    tw_channels_s16 tables;
    if (tw_matmul_check(call, TW_S16, work) != TW_OK || a->transpose_b != 1 ||
        !tw_channels_s16_check(call, 1) || call->in[1].tensor->zero_point != 0 ||
        !tw_is_dense(call->in[0].tensor) || !tw_is_dense(call->in[1].tensor) ||
        !tw_is_dense(call->out[0].tensor))
        return TW_E_CHECK;
    tw_channels_s16_of(call, &tables);
    return tables.wide_bias && tables.wide_bias[0] == 0 ? TW_OK : TW_E_CHECK;
}

static void visit(const void *of, const tw_matrix_part *part)
{
    const tw_cmsis_nn_matmul *p = (const tw_cmsis_nn_matmul *)of;
    const tw_call *call = p->call;
    const cmsis_nn_context none = {NULL, 0};
    const cmsis_nn_bmm_params params = {
        false, true, {0, 0, 0, {call->clamp_low.s32, call->clamp_high.s32}}};
    tw_cmsis_nn_batch batch;
    if (tw_cmsis_nn_batch_of(p, part, &batch))
        *p->status = tw_cmsis_nn_status(arm_batch_matmul_s16(
            &none, &params, &batch.scale, &batch.a, (const int16_t *)p->job.a + part->a, &batch.b,
            (const int16_t *)p->job.b + part->b, &batch.y, (int16_t *)p->job.y + part->out));
}

static tw_status run(const tw_call *call)
{
    return tw_cmsis_nn_matmul_run(call, visit);
}

TW_CMSIS_NN_KERNEL(matmul_s16, run, check);
