/* Fully connected kernels. See product.h for the order of sums. */
#include "ops/connected_job.h"

#include "ops/codes.h"
#include "ops/packed.h"

typedef struct tw_connected_s8 {
    tw_connected_job job;
    tw_channels channels;
    const int8_t *unpacked; /* null: all weights are there; else those of the outputs of a round */
    tw_range round;
} tw_connected_s8;

typedef struct tw_connected_short {
    tw_connected_job job;
    const float *w; /* of the outputs of a round */
    tw_range round;
} tw_connected_short;

tw_status tw_connected_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint64_t *work)
{
    const tw_tensor *x, *w, *y;
    int32_t extents[TW_MAX_RANK + 1];
    int i;
    if (call->in_count < 2 || call->in_count > 3 || call->out_count != 1 ||
        !tw_operand_check(&call->in[0], dtype, 1, TW_MAX_RANK) ||
        !tw_extents_check(&call->in[1], weights, 2, 2) ||
        !tw_operand_check(&call->out[0], dtype, 1, TW_MAX_RANK))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    w = call->in[1].tensor;
    y = call->out[0].tensor;
    if (x->rank != y->rank || x->dim[x->rank - 1] != w->dim[1] || y->dim[y->rank - 1] != w->dim[0])
        return TW_E_CHECK;
    for (i = 0; i < (int)y->rank - 1; i++)
        if (x->dim[i] != y->dim[i])
            return TW_E_CHECK;
    for (i = 0; i < (int)y->rank; i++)
        extents[i] = y->dim[i];
    extents[i] = w->dim[1];
    return tw_work(work, extents, i + 1) ? TW_OK : TW_E_CHECK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_connected_check(call, TW_F32, TW_F32, work);
    return status != TW_OK || tw_bias_check(call, call->in[1].tensor->dim[0]) ? status : TW_E_CHECK;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_connected_check(call, TW_S8, TW_S8, work);
    const tw_tensor *w = status == TW_OK ? call->in[1].tensor : NULL;
    if (!w)
        return status;
    return (w->dim[1] <= 1 || w->stride[1] == 1) && w->zero_point >= INT8_MIN &&
                   w->zero_point <= INT8_MAX && tw_channels_check(call, w->dim[0])
               ? TW_OK
               : TW_E_CHECK;
}

static void visit_f32(const void *of, const tw_matrix_part *part)
{
    const tw_connected_job *job = (const tw_connected_job *)of;
    const tw_patch patch = tw_connected_patch(part->rows);
    tw_product_f32(&job->product, &patch, (const float *)job->x + part->a,
                   (const float *)job->w + part->b,
                   job->bias ? (const float *)job->bias + job->outputs.begin : NULL,
                   (float *)job->y + part->out, job->outputs.end - job->outputs.begin);
}

static void visit_short(const void *of, const tw_matrix_part *part)
{
    const tw_connected_short *all = (const tw_connected_short *)of;
    const tw_connected_job *job = &all->job;
    const tw_patch patch = tw_connected_patch(part->rows);
    tw_product_f32(&job->product, &patch, (const float *)job->x + part->a, all->w,
                   job->bias ? (const float *)job->bias + all->round.begin : NULL,
                   (float *)job->y + part->out + (all->round.begin - job->outputs.begin),
                   all->round.end - all->round.begin);
}

static void visit_s8(const void *of, const tw_matrix_part *part)
{
    const tw_connected_s8 *all = (const tw_connected_s8 *)of;
    const tw_product *p = &all->job.product;
    const tw_patch patch = tw_connected_patch(1);
    const tw_range present = all->unpacked ? all->round : all->job.outputs;
    const int32_t outputs = present.end - present.begin;
    int8_t *y = (int8_t *)all->job.y + part->out + (present.begin - all->job.outputs.begin);
    tw_product_s8 job = {p, &all->channels, NULL, 0, 0, 0, 0, 0};
    tw_panel panel;
    int32_t row;
    panel.count = 0;
    job.w = all->unpacked ? all->unpacked : (const int8_t *)all->job.w + part->b;
    job.room = (outputs - 1) * p->w_output + p->depth;
    job.first = present.begin;
    job.outputs = outputs;
    for (row = 0; row < part->rows; row++)
        if (tw_panel_add(&panel, &patch, (const int8_t *)all->job.x + part->a + row * p->x_pixel,
                         y + row * p->y_pixel) ||
            row + 1 == part->rows) {
            tw_product_panel(&job, &panel);
            panel.count = 0;
        }
}

/* A vector as a matrix of one row. */
static tw_view as_matrix(const tw_view *view, tw_tensor *matrix)
{
    tw_view result = *view;
    if (view->tensor->rank != 1)
        return result;
    *matrix = *view->tensor;
    matrix->rank = 2;
    matrix->dim[1] = matrix->dim[0];
    matrix->stride[1] = matrix->stride[0];
    matrix->dim[0] = 1;
    matrix->stride[0] = 0;
    result.tensor = matrix;
    result.axis = 1;
    return result;
}

tw_status tw_connected_run(const tw_call *call, tw_connected_job *job, tw_matrix_function visit,
                           void *context)
{
    tw_tensor x_matrix, y_matrix;
    const tw_view x = as_matrix(&call->in[0], &x_matrix), y = as_matrix(&call->out[0], &y_matrix);
    const tw_tensor *w = call->in[1].tensor;
    const int rank = (int)y.tensor->rank;
    tw_product *p = &job->product;
    memset(p, 0, sizeof *p);
    job->x = x.data;
    job->w = call->in[1].data;
    job->y = y.data;
    job->outputs = tw_present(&y, rank - 1);
    p->rows = p->columns = 1;
    p->depth = w->dim[1];
    p->x_pixel = x.tensor->stride[rank - 2];
    p->y_pixel = y.tensor->stride[rank - 2];
    p->w_output = w->stride[0];
    p->w_depth = w->stride[1];
    p->low = call->clamp_low;
    p->high = call->clamp_high;
    return tw_matrix_walk(&x, &call->in[1], 1, &y, visit, context);
}

/* 0 where only a part of the bias is there. */
static int open_bias(const tw_call *call, tw_connected_job *job)
{
    const tw_view *bias = call->in_count == 3 && call->in[2].tensor ? &call->in[2] : NULL;
    job->bias = bias ? bias->data : NULL;
    return !bias || tw_is_whole(bias);
}

static tw_status run_f32(const tw_call *call)
{
    tw_connected_job job;
    return open_bias(call, &job) ? tw_connected_run(call, &job, visit_f32, &job) : TW_E_DATA;
}

static tw_status check_f32w16(const tw_call *call, uint64_t *work)
{
    tw_packed packed;
    return tw_short_open(call, &packed) ? check_f32(&packed.call, work) : TW_E_CHECK;
}

/* All rows for the outputs of a round, then for those of the next. */
static tw_status run_f32w16(const tw_call *call)
{
    const tw_range present = tw_present(&call->out[0], (int)call->out[0].tensor->rank - 1);
    tw_packed packed;
    tw_connected_short all;
    tw_status status = TW_OK;
    int32_t begin;
    if (!tw_short_open(call, &packed) || !open_bias(call, &all.job))
        return TW_E_DATA;
    for (begin = present.begin; begin < present.end && status == TW_OK; begin = all.round.end) {
        all.round = tw_packed_round(&packed, present, begin);
        all.w = tw_short_weights(&packed, all.round);
        status = tw_connected_run(&packed.call, &all.job, visit_short, &all);
    }
    return status;
}

static tw_status run_s8(const tw_call *call)
{
    tw_connected_s8 all;
    tw_channels_of(call, &all.channels);
    all.channels.w_zero = call->in[1].tensor->zero_point;
    all.unpacked = NULL;
    return tw_connected_run(call, &all.job, visit_s8, &all);
}

static tw_status check_s8w4(const tw_call *call, uint64_t *work)
{
    tw_packed packed;
    return tw_packed_open(call, TW_PACKED_FIRST, &packed) ? check_s8(&packed.call, work)
                                                          : TW_E_CHECK;
}

/* All rows for the outputs of a round, then for those of the next. */
static tw_status run_s8w4(const tw_call *call)
{
    const tw_range present = tw_present(&call->out[0], (int)call->out[0].tensor->rank - 1);
    tw_packed packed;
    tw_connected_s8 all;
    tw_status status = TW_OK;
    int32_t begin;
    if (!tw_packed_open(call, TW_PACKED_FIRST, &packed))
        return TW_E_DATA;
    tw_channels_of(call, &all.channels);
    for (begin = present.begin; begin < present.end && status == TW_OK; begin = all.round.end) {
        all.round = tw_packed_round(&packed, present, begin);
        all.unpacked = tw_packed_weights(&packed, all.round);
        status = tw_connected_run(&packed.call, &all.job, visit_s8, &all);
    }
    return status;
}

TW_KERNEL(fully_connected, f32, run_f32, check_f32);
TW_KERNEL(fully_connected, s8, run_s8, check_s8);
TW_KERNEL(fully_connected, s8w4, run_s8w4, check_s8w4);
TW_KERNEL(fully_connected, f32w16, run_f32w16, check_f32w16);
