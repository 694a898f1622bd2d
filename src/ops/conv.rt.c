/* Convolution kernels. See conv.h for the formula and product.h for the order of sums. */
#include "ops/conv_job.h"

#include "ops/codes.h"
#include "ops/packed.h"

typedef struct tw_conv_s8 {
    tw_conv_job job;
    tw_channels channels;
    /* The outputs whose weights are there: those of output round.begin at w, `room` elements in all. */
    tw_range round;
    const int8_t *w;
    ptrdiff_t room;
    tw_panel *panel;
    int may_extend; /* a panel reads all of its pixels before it writes any */
} tw_conv_s8;

typedef struct tw_conv_short {
    tw_conv_job job;
    tw_range round; /* as of int8 */
    const float *w;
} tw_conv_short;

static void kernel_of(const tw_tensor *w, int32_t kernel[2])
{
    kernel[0] = w->rank == 4 ? w->dim[1] : 1;
    kernel[1] = w->dim[w->rank - 2];
}

int tw_conv_window(const tw_call *call, tw_window_spans *window)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    int32_t kernel[2];
    kernel_of(call->in[1].tensor, kernel);
    return tw_window_read(window, call->in[0].tensor, call->out[0].tensor, kernel, &lists, 0);
}

tw_status tw_conv_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint64_t *work)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_tensor *x, *w, *y;
    tw_window_spans window;
    int32_t extents[7];
    if (call->in_count < 2 || call->in_count > 3 || call->out_count != 1 ||
        call->attribute_bytes != sizeof *a || !tw_operand_check(&call->in[0], dtype, 3, 4) ||
        !tw_operand_check(&call->out[0], dtype, 3, 4))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    y = call->out[0].tensor;
    w = call->in[1].tensor;
    if (!tw_extents_check(&call->in[1], weights, x->rank, x->rank) ||
        !tw_conv_window(call, &window))
        return TW_E_CHECK;
    if (!tw_groups_check(x, w, y, a->group))
        return TW_E_CHECK;
    extents[0] = y->dim[0];
    extents[1] = window.axis[0].out;
    extents[2] = window.axis[1].out;
    extents[3] = w->dim[0];
    extents[4] = window.axis[0].kernel;
    extents[5] = window.axis[1].kernel;
    extents[6] = w->dim[w->rank - 1];
    return tw_work(work, extents, 7) ? TW_OK : TW_E_CHECK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_conv_check(call, TW_F32, TW_F32, work);
    return status != TW_OK || tw_bias_check(call, call->in[1].tensor->dim[0]) ? status : TW_E_CHECK;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_conv_check(call, TW_S8, TW_S8, work);
    if (status != TW_OK)
        return status;
    return tw_is_dense(call->in[1].tensor) && tw_channels_check(call, call->in[1].tensor->dim[0])
               ? TW_OK
               : TW_E_CHECK;
}

/* The visitors: one group's outputs after the other. */

/* Outputs present and in `round`; w: the weights of its first. */
static void visit_round(const tw_conv_job *job, const tw_patch *patch, tw_range round,
                        const float *w)
{
    const tw_product *p = &job->product;
    const int32_t begin = job->begin > round.begin ? job->begin : round.begin;
    const int32_t end = job->end < round.end ? job->end : round.end;
    int32_t o, next;
    for (o = begin; o < end; o = next) {
        next = tw_conv_group_end(job, o);
        next = next < end ? next : end;
        tw_product_f32(p, patch, (const float *)job->x + patch->in + tw_conv_group_depth(job, o),
                       w + (o - round.begin) * p->w_output,
                       job->bias ? (const float *)job->bias + o : NULL,
                       (float *)job->y + patch->out + (o - job->begin), next - o);
    }
}

static void visit_f32(const void *of, const tw_patch *patch)
{
    const tw_conv_job *job = (const tw_conv_job *)of;
    const tw_range all = {0, INT32_MAX};
    visit_round(job, patch, all, (const float *)job->w);
}

static void visit_short(const void *of, const tw_patch *patch)
{
    const tw_conv_short *all = (const tw_conv_short *)of;
    visit_round(&all->job, patch, all->round, all->w);
}

static void flush(const tw_conv_s8 *all)
{
    const tw_conv_job *job = &all->job;
    const tw_product *p = &job->product;
    tw_product_s8 group = {p, &all->channels, NULL, 0, 0, 0, 0, 0};
    const int32_t begin = job->begin > all->round.begin ? job->begin : all->round.begin;
    const int32_t end = job->end < all->round.end ? job->end : all->round.end;
    int32_t o, next;
    for (o = begin; o < end; o = next) {
        const ptrdiff_t before = (o - all->round.begin) * p->w_output;
        next = tw_conv_group_end(job, o);
        next = next < end ? next : end;
        group.w = all->w + before;
        group.room = all->room - before;
        group.x = tw_conv_group_depth(job, o);
        group.y = o - job->begin;
        group.first = o;
        group.outputs = next - o;
        tw_product_panel(&group, all->panel);
    }
    all->panel->count = 0;
}

/* A panel takes one pixel more where that is the last: it is better off there than in one of its own. */
static int is_full(const tw_conv_s8 *all, int64_t left)
{
    const int32_t count = all->panel->count;
    return count >= TW_PANEL_PIXELS && (count == TW_PANEL_ROOM || left != 1 || !all->may_extend);
}

static void visit_s8(const void *of, const tw_patch *patch)
{
    const tw_conv_s8 *all = (const tw_conv_s8 *)of;
    const tw_product *p = &all->job.product;
    const int8_t *x = (const int8_t *)all->job.x + patch->in;
    int8_t *y = (int8_t *)all->job.y + patch->out;
    int32_t pixel;
    for (pixel = 0; pixel < patch->pixels; pixel++) {
        (void)tw_panel_add(all->panel, patch, x + pixel * p->x_pixel, y + pixel * p->y_pixel);
        if (is_full(all, patch->behind + patch->pixels - pixel - 1))
            flush(all);
    }
    if (patch->closes && all->panel->count > 0)
        flush(all);
}

tw_status tw_conv_run(const tw_call *call, tw_conv_job *job, tw_patch_function visit, void *context)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_tensor *w = call->in[1].tensor;
    tw_product *p = &job->product;
    tw_window_spans window;
    tw_image in, out;
    int32_t kernel[2];
    if (!tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    kernel_of(w, kernel);
    tw_window_of(&window, call->in[0].tensor, call->out[0].tensor, kernel, &lists);
    tw_image_of(&call->in[0], &in);
    tw_image_of(&call->out[0], &out);
    job->x = call->in[0].data;
    job->w = call->in[1].data;
    job->y = call->out[0].data;
    job->group_outputs = w->dim[0] / a->group;
    job->begin = out.begin[3];
    job->end = out.end[3];
    p->rows = window.axis[0].kernel;
    p->columns = window.axis[1].kernel;
    p->depth = w->dim[w->rank - 1];
    p->x_pixel = tw_steps(window.axis[1].stride, in.stride[2]);
    p->x_column = tw_steps(window.axis[1].dilation, in.stride[2]);
    p->x_row = tw_steps(window.axis[0].dilation, in.stride[1]);
    p->w_output = w->stride[0];
    p->w_row = w->rank == 4 ? w->stride[1] : 0;
    p->w_column = w->stride[w->rank - 2];
    p->w_depth = w->stride[w->rank - 1];
    p->y_pixel = out.stride[2];
    p->low = call->clamp_low;
    p->high = call->clamp_high;
    return tw_window_walk(&window, &in, &out, visit, context);
}

/* 0 where only a part of the bias is there. */
static int open_bias(const tw_call *call, tw_conv_job *job)
{
    const tw_view *bias = call->in_count == 3 && call->in[2].tensor ? &call->in[2] : NULL;
    job->bias = bias ? bias->data : NULL;
    return !bias || tw_is_whole(bias);
}

static tw_status run_f32(const tw_call *call)
{
    tw_conv_job job;
    return open_bias(call, &job) ? tw_conv_run(call, &job, visit_f32, &job) : TW_E_DATA;
}

static tw_status check_f32w16(const tw_call *call, uint64_t *work)
{
    tw_packed packed;
    return tw_short_open(call, &packed) ? check_f32(&packed.call, work) : TW_E_CHECK;
}

/* The whole band for the outputs of a round, then for those of the next. */
static tw_status run_f32w16(const tw_call *call)
{
    const tw_range present = tw_present(&call->out[0], (int)call->out[0].tensor->rank - 1);
    tw_packed packed;
    tw_conv_short all;
    tw_status status = TW_OK;
    int32_t begin;
    if (!tw_short_open(call, &packed) || !open_bias(call, &all.job))
        return TW_E_DATA;
    for (begin = present.begin; begin < present.end && status == TW_OK; begin = all.round.end) {
        all.round = tw_packed_round(&packed, present, begin);
        all.w = tw_short_weights(&packed, all.round);
        status = tw_conv_run(&packed.call, &all.job, visit_short, &all);
    }
    return status;
}

static void open_panel(const tw_call *call, tw_panel *panel, tw_conv_s8 *all)
{
    const tw_tensor *w = call->in[1].tensor;
    panel->count = 0;
    all->panel = panel;
    all->may_extend = ((const tw_conv_attributes *)call->attributes)->group == 1 && w->dim[0] > 0 &&
                      tw_element_count(w) / w->dim[0] <= TW_PANEL_COPIED_TAPS;
}

static tw_status run_s8(const tw_call *call)
{
    tw_panel panel;
    tw_conv_s8 all;
    tw_status status;
    open_panel(call, &panel, &all);
    all.round.begin = 0;
    all.round.end = call->in[1].tensor->dim[0];
    all.w = (const int8_t *)call->in[1].data;
    all.room = (ptrdiff_t)tw_element_count(call->in[1].tensor);
    tw_channels_of(call, &all.channels);
    status = tw_conv_run(call, &all.job, visit_s8, &all);
    if (panel.count > 0)
        flush(&all);
    return status;
}

static tw_status check_s8w4(const tw_call *call, uint64_t *work)
{
    tw_packed packed;
    return tw_packed_open(call, TW_PACKED_FIRST, &packed) ? check_s8(&packed.call, work)
                                                          : TW_E_CHECK;
}

/* The whole band for the outputs of a round, then for those of the next. */
static tw_status run_s8w4(const tw_call *call)
{
    const tw_range present = tw_present(&call->out[0], (int)call->out[0].tensor->rank - 1);
    tw_panel panel;
    tw_packed packed;
    tw_conv_s8 all;
    tw_status status = TW_OK;
    int32_t begin;
    if (!tw_packed_open(call, TW_PACKED_FIRST, &packed))
        return TW_E_DATA;
    open_panel(&packed.call, &panel, &all);
    tw_channels_of(call, &all.channels);
    for (begin = present.begin; begin < present.end && status == TW_OK; begin = all.round.end) {
        all.round = tw_packed_round(&packed, present, begin);
        all.w = tw_packed_weights(&packed, all.round);
        all.room = (ptrdiff_t)(all.round.end - begin) * packed.taps;
        status = tw_conv_run(&packed.call, &all.job, visit_s8, &all);
        if (panel.count > 0)
            flush(&all);
    }
    return status;
}

TW_KERNEL_BLOCKS(conv, f32, run_f32, check_f32);
TW_KERNEL_BLOCKS(conv, s8, run_s8, check_s8);
TW_KERNEL_BLOCKS(conv, s8w4, run_s8w4, check_s8w4);
TW_KERNEL_BLOCKS(conv, f32w16, run_f32w16, check_f32w16);
