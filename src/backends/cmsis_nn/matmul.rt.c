/* Matrix products of two activations by CMSIS-NN, a batch at a time: the second operand's columns side by
 * side. */
#include "backends/cmsis_nn/matmul.h"
#include "backends/cmsis_nn/matmul_job.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_matmul_attributes *a = (const tw_matmul_attributes *)call->attributes;
    const tw_tensor *x, *w, *y;
    if (tw_matmul_check(call, TW_S8, work) != TW_OK || a->transpose_b != 1 ||
        !tw_channels_check(call, 1))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    w = call->in[1].tensor;
    y = call->out[0].tensor;
    return tw_is_dense(x) && tw_is_dense(w) && tw_is_dense(y) && x->dim[x->rank - 1] > 0 &&
                   w->zero_point >= INT8_MIN && w->zero_point <= INT8_MAX &&
                   call->scratch_bytes >=
                       tw_cmsis_nn_matmul_scratch(w->dim[w->rank - 2], TW_CMSIS_NN_HERE)
               ? TW_OK
               : TW_E_CHECK;
}

static void visit(const void *of, const tw_matrix_part *part)
{
    const tw_cmsis_nn_matmul *p = (const tw_cmsis_nn_matmul *)of;
    const tw_call *call = p->call;
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    const cmsis_nn_bmm_params params = {
        false,
        true,
        {-call->in[0].tensor->zero_point,
         -call->in[1].tensor->zero_point,
         call->out[0].tensor->zero_point,
         {call->clamp_low.s32, call->clamp_high.s32}},
    };
    tw_cmsis_nn_batch batch;
    if (tw_cmsis_nn_batch_of(p, part, &batch))
        *p->status = tw_cmsis_nn_status(arm_batch_matmul_s8(
            &context, &params, &batch.scale, &batch.a, (const int8_t *)p->job.a + part->a, &batch.b,
            (const int8_t *)p->job.b + part->b, &batch.y, (int8_t *)p->job.y + part->out));
}

static tw_status run(const tw_call *call)
{
    return tw_cmsis_nn_matmul_run(call, visit);
}

TW_CMSIS_NN_KERNEL(matmul_s8, run, check);
