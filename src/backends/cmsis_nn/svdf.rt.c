/* The filter layer by CMSIS-NN. The library moves the memory on where it stands, so the old one is copied
 * to where the new one is to be, unless they are one. */
#include "backends/cmsis_nn/image.h"
#include "backends/cmsis_nn/svdf.h"
#include "ops/svdf.h"

enum { X, FEATURE, TIME, BIAS, STATE };

/* Bytes of a memory that stands in scratch; 0: it is an output. */
static uint64_t kept_bytes(const tw_call *call)
{
    return call->out_count > 1 && call->out[1].tensor ? 0 : tw_tensor_bytes(call->in[STATE].tensor);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_svdf_attributes *a = (const tw_svdf_attributes *)call->attributes;
    const tw_tensor *f, *y;
    if (tw_k_svdf_s8.check(call, work) != TW_OK)
        return TW_E_CHECK;
    f = call->in[FEATURE].tensor;
    y = call->out[0].tensor;
    return call->in[STATE].tensor->zero_point == 0 && a->rank <= INT16_MAX && f->dim[0] > 0 &&
                   f->dim[1] > 0 && y->dim[0] > 0 && tw_is_dense(call->in[X].tensor) &&
                   tw_is_dense(call->in[STATE].tensor) && tw_is_dense(y) &&
                   (call->out_count < 2 || !call->out[1].tensor ||
                    tw_is_dense(call->out[1].tensor)) &&
                   call->in[X].tensor->zero_point >= INT8_MIN &&
                   call->in[X].tensor->zero_point <= INT8_MAX &&
                   call->clamp_low.s32 <= call->clamp_high.s32 &&
                   call->scratch_bytes >=
                       tw_cmsis_nn_svdf_scratch(y->dim[0], f->dim[0], y->dim[1], kept_bytes(call))
               ? TW_OK
               : TW_E_CHECK;
}

/* Is every operand there whole? */
static int all_whole(const tw_call *call, int gives_state)
{
    return tw_is_whole(&call->in[X]) && tw_is_whole(&call->in[FEATURE]) &&
           tw_is_whole(&call->in[TIME]) && tw_is_whole(&call->in[STATE]) &&
           (!call->in[BIAS].tensor || tw_is_whole(&call->in[BIAS])) && tw_is_whole(&call->out[0]) &&
           (!gives_state || tw_is_whole(&call->out[1]));
}

static tw_status run(const tw_call *call)
{
    const tw_svdf_attributes *a = (const tw_svdf_attributes *)call->attributes;
    const tw_svdf_scales *s = (const tw_svdf_scales *)call->blobs[TW_SVDF_BLOB_SCALES].data;
    const tw_tensor *f = call->in[FEATURE].tensor, *t = call->in[TIME].tensor;
    const tw_tensor *y = call->out[0].tensor, *state = call->in[STATE].tensor;
    const uint32_t kept = (uint32_t)kept_bytes(call), bytes = tw_tensor_bytes(state);
    const int32_t most = state->dtype == TW_S16 ? INT16_MAX : INT8_MAX;
    uint8_t *scratch = (uint8_t *)call->scratch;
    void *memory = kept ? scratch : call->out[1].data;
    cmsis_nn_context sums, results, prepared;
    cmsis_nn_svdf_params params;
    cmsis_nn_per_tensor_quant_params in_scale, out_scale;
    cmsis_nn_dims input, states, features, times, bias, output;
    if (!all_whole(call, kept == 0))
        return TW_E_SCHEDULE;
    if (memory != call->in[STATE].data)
        memmove(memory, call->in[STATE].data, bytes);
    sums.buf = scratch + (kept + 3u) / 4u * 4u;
    sums.size = y->dim[0] * f->dim[0] * 4;
    results.buf = (uint8_t *)sums.buf + sums.size;
    results.size = y->dim[0] * y->dim[1] * 4;
    prepared.buf = tw_cmsis_nn_table(call, TW_SVDF_BLOB_FEATURE, 0); /* sums of weights, for MVE */
    prepared.size = f->dim[0] * 4;
    params.rank = a->rank;
    params.input_offset = call->in[X].tensor->zero_point;
    params.output_offset = y->zero_point;
    params.input_activation.min = -most - 1;
    params.input_activation.max = most;
    params.output_activation = tw_cmsis_nn_activation(call);
    in_scale.multiplier = s->feature_multiplier;
    in_scale.shift = s->feature_shift;
    out_scale.multiplier = s->out_multiplier;
    out_scale.shift = s->out_shift;
    input = tw_cmsis_nn_dims(y->dim[0], f->dim[1], 1, 1);
    states = tw_cmsis_nn_dims(y->dim[0], state->dim[1], 1, 1);
    features = tw_cmsis_nn_dims(f->dim[0], f->dim[1], 1, 1);
    times = tw_cmsis_nn_dims(t->dim[0], t->dim[1], 1, 1);
    bias = tw_cmsis_nn_dims(y->dim[1], 1, 1, 1);
    output = tw_cmsis_nn_dims(y->dim[0], y->dim[1], 1, 1);
    if (state->dtype == TW_S16)
        return tw_cmsis_nn_status(arm_svdf_state_s16_s8(
            &sums, &results, &params, &in_scale, &out_scale, &input,
            (const int8_t *)call->in[X].data, &states, (int16_t *)memory, &features,
            (const int8_t *)call->in[FEATURE].data, &times, (const int16_t *)call->in[TIME].data,
            &bias, tw_cmsis_nn_table(call, TW_SVDF_BLOB_BIAS, 0), &output,
            (int8_t *)call->out[0].data));
    return tw_cmsis_nn_status(arm_svdf_s8(
        &prepared, &sums, &results, &params, &in_scale, &out_scale, &input,
        (const int8_t *)call->in[X].data, &states, (int8_t *)memory, &features,
        (const int8_t *)call->in[FEATURE].data, &times, (const int8_t *)call->in[TIME].data, &bias,
        tw_cmsis_nn_table(call, TW_SVDF_BLOB_BIAS, 0), &output, (int8_t *)call->out[0].data));
}

TW_CMSIS_NN_KERNEL(svdf_s8, run, check);
