/* Executing a loaded plan. The runtime knows rows, windows and kernels; it knows no operator.
 *
 * A segment is run by one rule: fire the step nearest the sink whose inputs allow more rows than it
 * has made, by at most its band; if none can fire, the source advances by its band. Row counts are
 * virtual: they go on past a tensor's last row, because padding rows are rows too. After a firing
 * each window it read gives up the rows that no reader needs any more, and so does a window it wrote
 * that nobody reads: rows of an output that the caller has been given. */
#include "runtime/parts.h"

enum { FLAG_DIRTY = 1u };

static void open_segment(tw_runner *r)
{
    const tw_model *m = r->model;
    uint8_t *fast = (uint8_t *)r->context->region[TW_REGION_FAST].pointer;
    r->segment = &m->segments[r->context->segment];
    r->steps = m->steps + r->segment->first_step;
    r->streams = m->streams + r->segment->first_stream;
    r->step = (tw_counter *)(void *)(fast + r->segment->counters);
    r->stream = r->step + r->segment->step_count;
    r->end = r->segment->step_count;
    r->lying_over = r->segment->stream_count;
    while (r->lying_over > 0 && r->streams[r->lying_over - 1].over == TW_ABSENT)
        r->lying_over--;
}

static void begin_segment(tw_runner *r)
{
    open_segment(r);
    memset(r->step, 0, (r->segment->step_count + r->segment->stream_count) * sizeof *r->step);
}

/* Of a mapped operand of step s: see runtime/rows.h. */
static int32_t allowed_by(const tw_runner *r, const tw_plan_step *s, const tw_plan_operand *o,
                          int32_t v)
{
    return o->column != 0 ? r->model->parts->columns->allowed(r, s, o, v) : tw_rows_allowed(o, v);
}

static int32_t first_for(const tw_runner *r, const tw_plan_step *s, const tw_plan_operand *o,
                         int32_t row)
{
    return o->column != 0 ? r->model->parts->columns->first(r, s, o, row)
                          : tw_rows_first(o, row, tw_rows_of(r, o));
}

/* Rows for which there is room in the windows a step writes. */
static int32_t room_of(const tw_runner *r, uint32_t index)
{
    const tw_plan_step *s = &r->steps[index];
    const tw_plan_operand *o = tw_outputs_of(r, s), *end = o + s->output_count;
    int32_t room = TW_ALL_ROWS;
    for (; o < end; o++) {
        const tw_tensor *t;
        if (o->tensor == TW_ABSENT)
            continue;
        t = tw_tensor_of(r, o);
        if (t->window == 0 || t->window > (uint32_t)TW_ALL_ROWS ||
            r->streams[o->stream].over != TW_ABSENT)
            continue;
        room = tw_min32(room,
                        (int32_t)t->window - (tw_min32(r->step[index].a, tw_units(t, r->segment)) -
                                              r->stream[o->stream].a));
    }
    return room;
}

/* What a step could do now. */
typedef struct tw_reach {
    int32_t allowed;   /* output rows (virtual) its inputs allow */
    int32_t fresh;     /* accumulated input rows ready to be taken; -1: it does not accumulate */
    int32_t remaining; /* accumulated input rows not yet taken */
} tw_reach;

/* What the inputs of a step allow. False: nothing. */
static int can_reach(const tw_runner *r, uint32_t index, tw_reach *reach)
{
    const tw_plan_step *s = &r->steps[index];
    const tw_plan_operand *o = tw_inputs_of(r, s), *end = o + s->input_count;
    reach->allowed = TW_ALL_ROWS;
    reach->fresh = -1;
    for (; o < end; o++) {
        int32_t v;
        if (o->stream == TW_ABSENT && (o->rows != TW_ROWS_ACCUMULATED || o->tensor == TW_ABSENT))
            continue; /* what is no stream is all there */
        v = tw_available(r, o);
        if (o->rows == TW_ROWS_MAPPED) {
            reach->allowed = tw_min32(reach->allowed, allowed_by(r, s, o, v));
        } else if (o->rows == TW_ROWS_WHOLE) {
            if (v < tw_rows_of(r, o))
                return 0;
        } else {
            const int32_t ready = tw_min32(v, tw_rows_of(r, o)) - r->step[index].b;
            reach->fresh = reach->fresh < 0 ? ready : tw_min32(reach->fresh, ready);
            reach->remaining = tw_rows_of(r, o) - r->step[index].b;
        }
    }
    return reach->allowed > r->step[index].a;
}

/* Rows to fire by: of the output, or of the accumulated input. -1: it cannot fire now. */
static int32_t rows_to_fire(const tw_runner *r, uint32_t index, tw_reach *reach)
{
    const tw_plan_step *s = &r->steps[index];
    const int32_t band = s->band > (uint32_t)TW_ALL_ROWS ? TW_ALL_ROWS : (int32_t)s->band;
    const int32_t made = r->step[index].a;
    int32_t extent, most;
    if (!can_reach(r, index, reach))
        return -1;
    if (reach->fresh >= 0)
        return reach->fresh > 0 || reach->remaining == 0 ? tw_min32(reach->fresh, band) : -1;
    extent = tw_step_extent(r, s);
    if (made >= extent)
        return 0; /* only padding is added */
    most = tw_min32(band, room_of(r, index));
    if (r->segment->columns != 0) /* not beyond the end of a row */
        most = tw_min32(most, tw_step_width(r, s) - made % tw_step_width(r, s));
    return most > 0 ? tw_min32(tw_min32(reach->allowed, extent) - made, most) : -1;
}

/* Narrow the view of a whole operand to rows [first, end). False: they are not where the plan says. */
static int narrow(const tw_runner *r, const tw_plan_operand *o, int32_t first, int32_t end,
                  tw_view *v)
{
    const tw_tensor *t = v->tensor;
    const int32_t base = o->stream == TW_ABSENT ? 0 : r->stream[tw_leader_of(r, o->stream)].a;
    v->row = v->fresh = first;
    v->rows = v->fresh_rows = end - first;
    if (end <= first)
        return 1;
    if (first < base || (t->window != 0 && (uint32_t)(end - base) > t->window))
        return 0;
    v->data = (uint8_t *)v->data +
              (uint32_t)(first - base) * (uint32_t)t->stride[v->axis] * tw_element_bytes[t->dtype];
    return 1;
}

/* Views of all operands for `rows` more output rows, or, where the step accumulates, for so many more
 * input rows. */
static int make_views(const tw_runner *r, uint32_t index, int32_t rows, int accumulates, tw_view *v)
{
    const tw_plan_step *s = &r->steps[index];
    const tw_plan_operand *o = tw_inputs_of(r, s), *outputs = tw_outputs_of(r, s);
    const tw_plan_operand *last = outputs + s->output_count;
    const int32_t made = accumulates ? 0 : r->step[index].a;
    for (; o < last; o++, v++) {
        const tw_tensor *t;
        int32_t first = 0, end;
        if (o->tensor == TW_ABSENT) {
            *v = tw_absent_view;
            continue;
        }
        t = tw_tensor_of(r, o);
        tw_whole_view(r, t, v);
        if ((o->rows == TW_ROWS_WHOLE && t->window == 0) || r->segment->axis >= t->rank)
            continue; /* weights, mostly; or it ends before the band axis */
        end = v->rows;
        if (o->rows == TW_ROWS_ACCUMULATED) {
            first = r->step[index].b;
            end = first + rows;
        } else if (o->rows == TW_ROWS_MAPPED && o < outputs) {
            first = tw_rows_first(o, made, end);
            end = tw_rows_needed(o, made + rows, end);
            if (accumulates && end > tw_available(r, o))
                return 0; /* one row more was within reach, several are asked for */
            if (end < first)
                end = first;
        } else if (o->rows == TW_ROWS_MAPPED && !accumulates) {
            first = made;
            end = made + rows;
        }
        if (!narrow(r, o, first, end, v))
            return 0;
    }
    return 1;
}

static void make_call(const tw_runner *r, const tw_plan_step *s, const tw_view *views,
                      tw_blob *blobs, tw_call *call)
{
    const tw_model *m = r->model;
    uint8_t *fast = (uint8_t *)r->context->region[TW_REGION_FAST].pointer;
    const tw_plan_blob *from = m->blobs + s->first_blob;
    uint32_t i;
    for (i = 0; i < s->blob_count; i++) {
        blobs[i].data = m->constants + from[i].offset;
        blobs[i].bytes = from[i].bytes;
    }
    call->in = views;
    call->out = views + s->input_count;
    call->in_count = s->input_count;
    call->out_count = s->output_count;
    call->attributes = m->attributes + s->first_attribute;
    call->attribute_bytes = s->attribute_words * 4u;
    call->blobs = blobs;
    call->blob_count = s->blob_count;
    call->clamp_low.bits = s->clamp_low;
    call->clamp_high.bits = s->clamp_high;
    call->scratch = fast + s->scratch_offset;
    call->scratch_bytes = s->scratch_bytes;
    call->memory = fast + s->memory_offset;
    call->memory_bytes = s->memory_bytes;
}

/* First row of a stream that step `index` still needs. */
static int32_t still_needs(const tw_runner *r, uint32_t index, uint32_t stream)
{
    const tw_plan_step *s = &r->steps[index];
    const tw_plan_operand *o = tw_inputs_of(r, s), *end = o + s->input_count;
    int32_t needed = TW_ALL_ROWS;
    if (tw_is_done(r, index))
        return TW_ALL_ROWS;
    for (; o < end; o++) {
        if (o->stream != stream)
            continue;
        if (o->rows == TW_ROWS_MAPPED)
            needed = tw_min32(needed, first_for(r, s, o, r->step[index].a));
        else if (o->rows == TW_ROWS_ACCUMULATED)
            needed = tw_min32(needed, r->step[index].b);
        else
            needed = 0;
    }
    return needed;
}

/* First row of a stream that any of its readers still needs. */
static int32_t kept_from(const tw_runner *r, uint32_t stream)
{
    const tw_plan_stream *s = &r->streams[stream];
    int32_t first = TW_ALL_ROWS;
    uint32_t i;
    for (i = s->first_reader; i <= s->last_reader; i++)
        first = tw_min32(first, still_needs(r, i, stream));
    return first;
}

/* Give up the rows of a stream's window that no reader needs any more, neither of the window's own
 * stream nor of those that lie over it: the rest moves down. */
static void release(const tw_runner *r, uint32_t stream)
{
    const uint32_t leader = tw_leader_of(r, stream);
    const tw_plan_stream *s = &r->streams[leader];
    const tw_tensor *t = &r->tensors[s->tensor];
    const int32_t base = r->stream[leader].a;
    int32_t have, keep;
    uint32_t i;
    if (t->window == 0)
        return;
    have = s->producer == TW_ABSENT ? r->stream[leader].b : r->step[s->producer].a;
    have = tw_min32(have, tw_units(t, r->segment));
    keep = tw_min32(have, kept_from(r, leader));
    for (i = leader + 1; i < r->lying_over && keep > base; i++)
        if (r->streams[i].over == leader)
            keep = tw_min32(keep, kept_from(r, i));
    if (keep > base) {
        const uint32_t bytes = tw_unit_bytes(t, r->segment);
        const uint32_t rest = (uint32_t)(have - keep) * bytes;
        uint8_t *data = tw_data_of(r, t);
        memmove(data, data + (uint32_t)(keep - base) * bytes, rest);
        r->context->moved += rest;
        r->stream[leader].a = keep;
    }
}

/* Does any step of the segment read the stream? */
static int is_read(const tw_plan_stream *s)
{
    return s->first_reader <= s->last_reader;
}

/* After a firing: windows that the step read, and those that it wrote and nobody reads. */
static void release_all(const tw_runner *r, const tw_plan_step *s)
{
    const tw_plan_operand *o = tw_inputs_of(r, s), *outputs = tw_outputs_of(r, s);
    const tw_plan_operand *end = outputs + s->output_count;
    for (; o < end; o++)
        if (o->stream != TW_ABSENT && (o < outputs || !is_read(&r->streams[o->stream])))
            release(r, o->stream);
}

static tw_status fire(tw_runner *r, uint32_t index, const tw_reach *reach, int32_t rows)
{
    const tw_plan_step *s = &r->steps[index];
    tw_context *c = r->context;
    tw_counter *count = &r->step[index];
    const int accumulates = reach->fresh >= 0;
    const int32_t row = accumulates ? count->b : count->a;
    tw_view views[TW_MAX_OPERANDS];
    tw_blob blobs[TW_MAX_BLOBS];
    tw_call call;
    tw_status status;
    c->error_step = r->segment->first_step + index;
    c->error_operator = s->operator_code;
    if (r->segment->columns != 0 ? !r->model->parts->columns->views(r, index, rows, views)
                                 : !make_views(r, index, rows, accumulates, views))
        return TW_E_SCHEDULE;
    make_call(r, s, views, blobs, &call);
    status = r->model->kernels[s->kernel]->run(&call);
    if (status != TW_OK)
        return status;
    if (!accumulates)
        count->a += rows;
    else
        count->b += rows;
    if (accumulates && rows == reach->remaining)
        count->a = TW_ALL_ROWS;
    c->firings++;
    if (r->model->parts->ends) {
        status = r->model->parts->ends->drain(r, index, call.out);
        if (status != TW_OK)
            return status;
    }
    if (c->hook.function) {
        tw_firing firing;
        firing.step = c->error_step;
        firing.operator_code = s->operator_code;
        firing.row = row;
        firing.rows = rows;
        firing.call = &call;
        if (c->hook.function(c->hook_user.pointer, c, &firing) != 0)
            return TW_E_CALLBACK;
    }
    release_all(r, s);
    return TW_OK;
}

/* Step `index` has moved: it, who reads its results, and steps before them may be able to fire. */
static void look_from(tw_runner *r, uint32_t index)
{
    const tw_plan_step *s = &r->steps[index];
    const tw_plan_operand *o = tw_outputs_of(r, s), *end = o + s->output_count;
    r->end = index + 1;
    for (; o < end; o++)
        if (o->stream != TW_ABSENT && is_read(&r->streams[o->stream]) &&
            r->streams[o->stream].last_reader >= r->end)
            r->end = r->streams[o->stream].last_reader + 1;
}

static int is_complete(const tw_runner *r)
{
    uint32_t i;
    for (i = 0; i < r->segment->step_count; i++)
        if (!tw_is_done(r, i))
            return 0;
    return 1;
}

/* One turn of the rule: 1 something moved, 0 the segment is complete, else an error. */
static int32_t turn(tw_runner *r)
{
    uint32_t i = r->end, last;
    while (i-- > 0) {
        tw_reach reach;
        const int32_t rows = rows_to_fire(r, i, &reach);
        if (rows < 0)
            continue;
        look_from(r, i);
        if (rows > 0 || reach.fresh >= 0) {
            tw_status status = fire(r, i, &reach, rows);
            return status == TW_OK ? 1 : (int32_t)status;
        }
        r->step[i].a = reach.allowed;
        return 1;
    }
    if (is_complete(r))
        return 0;
    if (r->segment->source == TW_ABSENT)
        return (int32_t)TW_E_SCHEDULE;
    last = r->streams[r->segment->source].last_reader;
    r->end = last < r->segment->step_count ? last + 1 : r->segment->step_count;
    return r->model->parts->ends->advance(r);
}

static tw_status fail(tw_context *context, const tw_model *model, tw_status status)
{
    if (model->header->state != 0)
        context->flags |= FLAG_DIRTY;
    context->segment = model->segment_count;
    return status;
}

/* From the place before a segment to the segment that runs next. */
static tw_status go_on(tw_runner *r)
{
    tw_status status = TW_OK;
    if (r->model->control_count != 0)
        status = r->model->parts->controls->follow(r->context, r->model);
    if (status == TW_OK && r->context->segment < r->model->segment_count)
        begin_segment(r);
    return status;
}

tw_status tw_run_some(tw_context *context, uint32_t firings)
{
    tw_runner r;
    uint32_t limit;
    tw_status status = TW_OK;
    if (!context || !context->model.constant)
        return TW_E_ARGUMENT;
    if (context->flags & FLAG_DIRTY)
        return TW_E_DIRTY;
    r.context = context;
    r.model = (const tw_model *)context->model.constant;
    r.operands = r.model->operands;
    r.tensors = r.model->tensors;
    if (context->segment >= r.model->segment_count) {
        if (r.model->position_count != 0)
            status = r.model->parts->positions->allow(context, r.model);
        if (status != TW_OK)
            return status;
        context->segment = 0;
        context->firings = 0;
        context->moved = 0;
        status = go_on(&r);
    } else {
        open_segment(&r);
    }
    limit = context->firings + firings;
    while (status == TW_OK && context->segment < r.model->segment_count) {
        int32_t moved;
        if (context->firings >= limit && limit >= firings)
            return TW_RUNNING;
        moved = turn(&r);
        if (moved < 0)
            return fail(context, r.model, (tw_status)moved);
        if (moved == 0) {
            context->segment++;
            status = go_on(&r);
        }
    }
    if (status < TW_OK)
        return fail(context, r.model, status);
    context->segment = r.model->segment_count;
    context->error_step = UINT32_MAX;
    context->error_operator = 0;
    return status;
}

tw_status tw_run(tw_context *context)
{
    return tw_run_some(context, UINT32_MAX);
}
