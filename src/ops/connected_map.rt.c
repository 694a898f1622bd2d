/* Fully connected layers over a map by rows: the calls' share of the map, and the kernels for float and int8. In: rows
 * in order, each once; sums in step memory from call to call. Out: results, with the last row. product.h has the order
 * of sums. */
#include "ops/map_job.h"

#include "ops/codes.h"
#include "runtime/move.h"

tw_status tw_map_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint32_t sum_bytes,
                       uint64_t *work)
{
    const tw_tensor *x, *w, *y;
    int k;
    if (call->in_count < 2 || call->in_count > 3 || call->out_count != 1 ||
        !tw_operand_check(&call->in[0], dtype, 1, TW_MAX_RANK) ||
        !tw_extents_check(&call->in[1], weights, 2, 2) ||
        !tw_operand_check(&call->out[0], dtype, 1, TW_MAX_RANK))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    w = call->in[1].tensor;
    y = call->out[0].tensor;
    for (k = 0; k + 1 < (int)y->rank; k++)
        if (y->dim[k] != 1)
            return TW_E_CHECK;
    if (y->dim[k] < 1 || y->dim[k] != w->dim[0] || w->dim[1] < 1 ||
        tw_element_count(x) != w->dim[1] ||
        (uint64_t)(uint32_t)w->dim[0] * sum_bytes > call->memory_bytes)
        return TW_E_CHECK;
    return tw_work(work, w->dim, 2) ? TW_OK : TW_E_CHECK;
}

tw_status tw_map_open(const tw_call *call, tw_map_job *job)
{
    const tw_view *x = &call->in[0];
    const tw_tensor *t = x->tensor, *w = call->in[1].tensor;
    const uint32_t bytes = tw_dtype_bytes(t->dtype), w_bytes = tw_dtype_bytes(w->dtype);
    const int rank = (int)t->rank, axis = tw_map_axis(rank, t->dim), by_rows = x->axis == axis;
    const int32_t first = by_rows ? x->fresh : 0, rows = by_rows ? x->fresh_rows : t->dim[axis];
    ptrdiff_t step[TW_MAX_RANK] = {0}, next = tw_step(w->stride[1], w_bytes);
    int k;
    if (first < 0 || !tw_is_whole(&call->in[1]) || !tw_is_whole(&call->out[0]) ||
        !tw_holds(x, by_rows ? first : 0, by_rows ? rows : t->dim[x->axis]))
        return TW_E_SCHEDULE;
    memset(&job->product, 0, sizeof job->product);
    job->product.rows = job->product.columns = 1;
    job->product.w_output = w->stride[0];
    job->product.w_depth = w->stride[1];
    job->outputs = w->dim[0];
    job->element = (ptrdiff_t)bytes;
    job->begins = first == 0;
    job->ends = (int64_t)first + rows >= t->dim[axis];
    for (k = rank - 1; k >= axis; k--) {
        step[k] = next;
        next = (ptrdiff_t)((size_t)next * (size_t)t->dim[k]);
    }
    tw_walk_begin(
        &job->walk, (char *)call->in[1].data + (ptrdiff_t)((size_t)first * (size_t)step[axis]),
        (const char *)x->data + (by_rows ? first - x->row : 0) * tw_step(t->stride[axis], bytes));
    for (k = axis; k < rank; k++)
        tw_walk_axis(&job->walk, k == axis ? rows : t->dim[k], step[k],
                     tw_step(t->stride[k], bytes));
    return TW_OK;
}

void tw_map_each(tw_map_job *job, tw_map_function add, void *context)
{
    tw_walk *w = &job->walk;
    int32_t last, loops;
    if (!tw_walk_open(w))
        return;
    last = loops = w->rank - 1;
    job->product.depth = w->extent[last];
    if (w->from_step[last] != job->element && w->extent[last] > 1) {
        job->product.depth = 1;
        loops = w->rank;
    }
    job->product.x_column = job->product.depth;
    do
        add(job, w->from, w->to, context);
    while (tw_walk_next(w, loops));
}

/* ---- float ---- */

static void add_f32(const tw_map_job *job, const void *x, const void *w, void *context)
{
    float *sum = (float *)context;
    tw_patch patch;
    memset(&patch, 0, sizeof patch);
    patch.pixels = patch.rows.last = patch.columns.last = 1;
    tw_product_f32(&job->product, &patch, (const float *)x, (const float *)w, sum, sum,
                   job->outputs);
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_map_check(call, TW_F32, TW_F32, sizeof(float), work);
    return status != TW_OK || tw_bias_check(call, call->in[1].tensor->dim[0]) ? status : TW_E_CHECK;
}

static tw_status run_f32(const tw_call *call)
{
    float *sum = (float *)call->memory, *y = (float *)call->out[0].data;
    const int biased = call->in_count == 3 && call->in[2].tensor != NULL;
    tw_map_job job;
    int32_t o;
    tw_status status = tw_map_open(call, &job);
    if (status == TW_OK && biased && !tw_is_whole(&call->in[2]))
        status = TW_E_DATA;
    if (status != TW_OK)
        return status;
    for (o = 0; job.begins && o < job.outputs; o++)
        sum[o] = biased ? ((const float *)call->in[2].data)[o] : 0.0f;
    job.product.low.f32 = -__builtin_inff();
    job.product.high.f32 = __builtin_inff();
    tw_map_each(&job, add_f32, sum);
    for (o = 0; job.ends && o < job.outputs; o++)
        y[o] = sum[o] < call->clamp_low.f32    ? call->clamp_low.f32
               : sum[o] > call->clamp_high.f32 ? call->clamp_high.f32
                                               : sum[o];
    return TW_OK;
}

/* ---- int8 ---- */

typedef struct tw_map_s8 {
    tw_channels channels;
    uint32_t *sum;
} tw_map_s8;

static void add_s8(const tw_map_job *job, const void *x, const void *w, void *context)
{
    const tw_map_s8 *of = (const tw_map_s8 *)context;
    tw_product_s8 run = {&job->product, &of->channels, NULL, 0, 0, 0, 0, 0};
    run.w = (const int8_t *)w;
    run.outputs = job->outputs;
    run.room = (run.outputs - 1) * job->product.w_output + job->product.depth;
    tw_product_sums(&run, (const int8_t *)x, of->sum);
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_map_check(call, TW_S8, TW_S8, sizeof(uint32_t), work);
    const tw_tensor *w = status == TW_OK ? call->in[1].tensor : NULL;
    if (!w)
        return status;
    return (w->dim[1] <= 1 || w->stride[1] == 1) && w->zero_point >= INT8_MIN &&
                   w->zero_point <= INT8_MAX && tw_channels_check(call, w->dim[0])
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run_s8(const tw_call *call)
{
    tw_map_job job;
    tw_map_s8 of;
    const tw_status status = tw_map_open(call, &job);
    if (status != TW_OK)
        return status;
    tw_channels_of(call, &of.channels);
    of.channels.w_zero = call->in[1].tensor->zero_point;
    of.sum = (uint32_t *)call->memory;
    if (job.begins)
        memset(of.sum, 0, (size_t)job.outputs * sizeof *of.sum);
    tw_map_each(&job, add_s8, &of);
    if (job.ends)
        tw_channels_store(&of.channels, 0, of.sum, 0, (int8_t *)call->out[0].data, job.outputs);
    return TW_OK;
}

TW_KERNEL(connected_map, f32, run_f32, check_f32);
TW_KERNEL(connected_map, s8, run_s8, check_s8);
