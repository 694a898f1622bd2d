/* Fully connected layers over a map by rows, of int16 activations with int8 weights. In and out: as connected_map.rt.c.
 * Sums include the bias and are as wide as it. */
#include "ops/codes.h"
#include "ops/map_job.h"
#include "ops/product_s16.h"

typedef struct tw_map_s16 {
    tw_channels_s16 channels;
    void *sum; /* uint64_t or uint32_t */
} tw_map_s16;

static void put(const tw_map_s16 *of, int32_t o, uint64_t sum)
{
    if (of->channels.wide_bias)
        ((uint64_t *)of->sum)[o] = sum;
    else
        ((uint32_t *)of->sum)[o] = (uint32_t)sum;
}

static uint64_t sum_of(const tw_map_s16 *of, int32_t o)
{
    return of->channels.wide_bias ? ((const uint64_t *)of->sum)[o] : ((const uint32_t *)of->sum)[o];
}

static void add(const tw_map_job *job, const void *x, const void *w, void *context)
{
    const tw_map_s16 *of = (const tw_map_s16 *)context;
    int32_t o;
    for (o = 0; o < job->outputs; o++)
        put(of, o,
            sum_of(of, o) + tw_dot_s16((const int16_t *)x,
                                       (const int8_t *)w + o * job->product.w_output,
                                       job->product.depth));
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_map_check(call, TW_S16, TW_S8, 0, work);
    const tw_tensor *w = status == TW_OK ? call->in[1].tensor : NULL;
    if (!w)
        return status;
    return (w->dim[1] <= 1 || w->stride[1] == 1) && tw_channels_s16_check(call, w->dim[0]) &&
                   call->blobs[TW_BLOB_BIAS].bytes <= call->memory_bytes
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    int16_t *y = (int16_t *)call->out[0].data;
    tw_map_job job;
    tw_map_s16 of;
    int32_t o;
    const tw_status status = tw_map_open(call, &job);
    if (status != TW_OK)
        return status;
    tw_channels_s16_of(call, &of.channels);
    of.sum = call->memory;
    for (o = 0; job.begins && o < job.outputs; o++)
        put(&of, o, tw_channels_s16_bias(&of.channels, o));
    tw_map_each(&job, add, &of);
    for (o = 0; job.ends && o < job.outputs; o++)
        y[o] = tw_channels_s16_finish(&of.channels, o, sum_of(&of, o));
    return TW_OK;
}

TW_KERNEL(connected_map, s16, run, check);
