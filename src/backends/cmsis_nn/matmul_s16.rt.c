/* Matrix products of two activations of int16 by CMSIS-NN, a batch at a time: the second operand's columns
 * side by side, sums of 64 bits. */
#include "backends/cmsis_nn/image.h"
#include "ops/matmul_job.h"
#include "ops/product_s16.h"

typedef struct tw_cmsis_nn_matmul {
    tw_matmul_job job; /* first: what tw_matmul_run fills in */
    const tw_call *call;
    tw_status *status;
} tw_cmsis_nn_matmul;

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
    const int32_t depth = p->job.product.depth, columns = p->job.columns;
    const cmsis_nn_context none = {NULL, 0};
    const cmsis_nn_dims a = tw_cmsis_nn_dims(1, 1, part->rows, depth);
    const cmsis_nn_dims b = tw_cmsis_nn_dims(1, 1, columns, depth);
    const cmsis_nn_dims y = tw_cmsis_nn_dims(1, 1, part->rows, columns);
    const cmsis_nn_bmm_params params = {
        false, true, {0, 0, 0, {call->clamp_low.s32, call->clamp_high.s32}}};
    cmsis_nn_per_tensor_quant_params scale;
    scale.multiplier = *tw_cmsis_nn_table(call, TW_BLOB_MULTIPLIER, 0);
    scale.shift = *tw_cmsis_nn_table(call, TW_BLOB_SHIFT, 0);
    if (*p->status == TW_OK && part->rows > 0 && columns > 0)
        *p->status = tw_cmsis_nn_status(arm_batch_matmul_s16(
            &none, &params, &scale, &a, (const int16_t *)p->job.a + part->a, &b,
            (const int16_t *)p->job.b + part->b, &y, (int16_t *)p->job.y + part->out));
}

static tw_status run(const tw_call *call)
{
    tw_cmsis_nn_matmul p;
    tw_status inner = TW_OK, status;
    p.call = call;
    p.status = &inner;
    status = tw_matmul_run(call, &p.job, visit, &p);
    return status == TW_OK ? inner : status;
}

TW_CMSIS_NN_KERNEL(matmul_s16, run, check);
