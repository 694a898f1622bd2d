/* Transposes of the two innermost axes by CMSIS-NN, elements of one byte: those whose bands are bands of the
 * input. */
#include "backends/cmsis_nn/library.h"
#include "ops/transpose.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_transpose_attributes *a = (const tw_transpose_attributes *)call->attributes;
    const tw_tensor *x;
    int32_t perm[TW_MAX_RANK], k;
    if (tw_k_transpose_any.check(call, work) != TW_OK)
        return TW_E_CHECK;
    x = call->in[0].tensor;
    if (tw_dtype_bytes(x->dtype) != 1 || x->rank != 4 || !tw_is_dense(x) ||
        !tw_is_dense(call->out[0].tensor) || !tw_transpose_perm(&a->perm, 4, perm) ||
        perm[0] != 0 || perm[1] != 1 || perm[2] != 3)
        return TW_E_CHECK;
    for (k = 0; k < 4; k++)
        if (x->dim[k] > (int32_t)UINT16_MAX)
            return TW_E_CHECK;
    return x->dim[0] > 1 || x->dim[1] > 1 ? TW_OK : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    static const uint32_t perm[4] = {0, 1, 3, 2};
    const cmsis_nn_transpose_params params = {4, perm};
    const tw_view *x = &call->in[0], *y = &call->out[0];
    const int32_t *dim = x->tensor->dim, skip = y->row - x->row;
    const int32_t n = y->axis == 0 ? y->rows : dim[0], h = y->axis == 1 ? y->rows : dim[1];
    const cmsis_nn_dims in = tw_cmsis_nn_dims(n, h, dim[2], dim[3]);
    const cmsis_nn_dims out = tw_cmsis_nn_dims(n, h, dim[3], dim[2]);
    if (y->axis > 1 || x->axis != y->axis || skip < 0 || x->row + x->rows < y->row + y->rows)
        return TW_E_SCHEDULE;
    return tw_cmsis_nn_status(
        arm_transpose_s8((const int8_t *)x->data + (ptrdiff_t)skip * x->tensor->stride[x->axis],
                         (int8_t *)y->data, &in, &out, &params));
}

TW_CMSIS_NN_KERNEL(transpose_bytes, run, check);
