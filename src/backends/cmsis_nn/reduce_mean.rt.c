/* Averages over whole images by CMSIS-NN: what a global average pooling becomes. The library has no sums
 * that go on in a later call: of an image that comes in bands, they are made here, in the step memory of the
 * portable kernel, which takes the last band and divides. */
#include "backends/bounds.h"
#include "backends/cmsis_nn/image.h"
#include "backends/cmsis_nn/pool.h"
#include "ops/reduce.h"

#if TW_CMSIS_NN_HAS_MVE
#include <arm_mve.h>
#endif

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_reduce_mean_attributes *a = (const tw_reduce_mean_attributes *)call->attributes;
    tw_reduction r;
    const tw_tensor *x;
    int i;
    if (tw_k_reduce_mean_s8.check(call, work) != TW_OK || call->attribute_bytes != sizeof *a ||
        call->blob_count != 0 || a->rounding != TW_MEAN_HALF_AWAY ||
        !tw_native_bounded(call, TW_S8))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    if (x->rank != 4 || x->dim[0] != 1 || !tw_is_dense(x) || !tw_is_dense(call->out[0].tensor) ||
        !tw_reduce_resolve((const tw_reduce_attributes *)call->attributes, 4, x->dim, &r) ||
        r.mask != 6)
        return TW_E_CHECK;
    for (i = 1; i < 4; i++)
        if (x->dim[i] < 1 || x->dim[i] > TW_NATIVE_MOST)
            return TW_E_CHECK;
    return call->scratch_bytes >= tw_cmsis_nn_average_scratch(x->dim[3], TW_CMSIS_NN_HERE)
               ? TW_OK
               : TW_E_CHECK;
}

#if TW_CMSIS_NN_HAS_MVE
/* Pixels on top of the sums of 16 of their channels. */
static void add_sixteen(int32_t *sum, const int8_t *x, int32_t pixels, int32_t channels)
{
    int32x4_t a = vldrwq_s32(sum), b = vldrwq_s32(sum + 4);
    int32x4_t c = vldrwq_s32(sum + 8), d = vldrwq_s32(sum + 12);
    for (; pixels > 0; pixels--, x += channels) {
        a = vaddq_s32(a, vldrbq_s32(x));
        b = vaddq_s32(b, vldrbq_s32(x + 4));
        c = vaddq_s32(c, vldrbq_s32(x + 8));
        d = vaddq_s32(d, vldrbq_s32(x + 12));
    }
    vstrwq_s32(sum, a);
    vstrwq_s32(sum + 4, b);
    vstrwq_s32(sum + 8, c);
    vstrwq_s32(sum + 12, d);
}
#endif

/* Pixels on top of the sums of their channels. */
static void add_pixels(int32_t *sum, const int8_t *x, int32_t pixels, int32_t channels)
{
    int32_t c = 0, i;
#if TW_CMSIS_NN_HAS_MVE
    for (; c + 16 <= channels; c += 16)
        add_sixteen(sum + c, x + c, pixels, channels);
#endif
    for (; c < channels; c++) {
        const int8_t *at = x + c;
        int32_t one = sum[c];
        for (i = pixels; i > 0; i--, at += channels)
            one += *at;
        sum[c] = one;
    }
}

/* A band that others follow. */
static tw_status run_band(const tw_call *call)
{
    const tw_view *x = &call->in[0];
    const int32_t *dim = x->tensor->dim;
    const ptrdiff_t row = x->tensor->stride[1];
    int32_t *sum = (int32_t *)call->memory;
    if (x->fresh < x->row || x->fresh + x->fresh_rows > x->row + x->rows)
        return TW_E_SCHEDULE;
    if (x->fresh == 0)
        memset(sum, 0, (size_t)dim[3] * sizeof *sum);
    add_pixels(sum, (const int8_t *)x->data + (x->fresh - x->row) * row, x->fresh_rows * dim[2],
               dim[3]);
    return TW_OK;
}

static tw_status run_image(const tw_call *call)
{
    const tw_view *x = &call->in[0];
    const int32_t *dim = x->tensor->dim;
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    const cmsis_nn_dims in = tw_cmsis_nn_dims(1, dim[1], dim[2], dim[3]);
    const cmsis_nn_dims filter = tw_cmsis_nn_dims(1, dim[1], dim[2], 1);
    const cmsis_nn_dims out = tw_cmsis_nn_dims(1, 1, 1, dim[3]);
    cmsis_nn_pool_params params;
    params.stride = tw_cmsis_nn_tile(1, 1);
    params.padding = tw_cmsis_nn_tile(0, 0);
    params.activation = tw_cmsis_nn_activation(call);
    return tw_cmsis_nn_status(arm_avgpool_s8(&context, &params, &in, (const int8_t *)x->data,
                                             &filter, &out, (int8_t *)call->out[0].data));
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    if (tw_is_whole(x) && tw_is_whole(y) && x->fresh == 0 && x->fresh_rows == x->rows)
        return run_image(call);
    if (x->axis == 1 && tw_is_whole(y) && x->fresh + x->fresh_rows < x->tensor->dim[1])
        return run_band(call);
    return tw_k_reduce_mean_s8.run(call);
}

TW_CMSIS_NN_KERNEL(reduce_mean_s8, run, check);
