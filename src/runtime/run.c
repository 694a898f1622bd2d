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
    r->step = (tw_counter *)(void *)(fast + r->segment->counters);
    r->stream = r->step + r->segment->step_count;
    r->end = r->segment->step_count;
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
    const tw_plan_step *s = tw_step_at(r, index);
    int32_t room = TW_ALL_ROWS;
    uint32_t i;
    for (i = 0; i < s->output_count; i++) {
        const tw_plan_operand *o = &r->model->operands[s->first_operand + s->input_count + i];
        if (o->tensor == TW_ABSENT || tw_tensor_of(r, o)->window == 0 ||
            tw_tensor_of(r, o)->window > (uint32_t)TW_ALL_ROWS ||
            tw_leader_of(r, o->stream) != o->stream)
            continue;
        room = tw_min32(
            room, (int32_t)tw_tensor_of(r, o)->window -
                      (tw_min32(r->step[index].a, tw_rows_of(r, o)) - r->stream[o->stream].a));
    }
    return room;
}

/* What a step could do now. */
typedef struct tw_reach {
    int32_t allowed;   /* output rows (virtual) its inputs allow */
    int32_t fresh;     /* accumulated input rows ready to be taken; -1: it does not accumulate */
    int32_t remaining; /* accumulated input rows not yet taken */
} tw_reach;

static tw_reach reach_of(const tw_runner *r, uint32_t index)
{
    const tw_plan_step *s = tw_step_at(r, index);
    tw_reach reach = {TW_ALL_ROWS, -1, 0};
    uint32_t i;
    for (i = 0; i < s->input_count; i++) {
        const tw_plan_operand *o = &r->model->operands[s->first_operand + i];
        int32_t v;
        if (o->tensor == TW_ABSENT || (o->stream == TW_ABSENT && o->rows != TW_ROWS_ACCUMULATED))
            continue; /* what is no stream is all there */
        v = tw_available(r, o);
        if (o->rows == TW_ROWS_MAPPED) {
            reach.allowed = tw_min32(reach.allowed, allowed_by(r, s, o, v));
        } else if (o->rows == TW_ROWS_WHOLE) {
            if (v < tw_rows_of(r, o))
                reach.allowed = 0;
        } else {
            int32_t ready = tw_min32(v, tw_rows_of(r, o)) - r->step[index].b;
            reach.fresh = reach.fresh < 0 ? ready : tw_min32(reach.fresh, ready);
            reach.remaining = tw_rows_of(r, o) - r->step[index].b;
        }
    }
    return reach;
}

/* Rows to fire by: of the output, or of the accumulated input. -1: it cannot fire now. */
static int32_t rows_to_fire(const tw_runner *r, uint32_t index, const tw_reach *reach)
{
    const tw_plan_step *s = tw_step_at(r, index);
    const int32_t band = s->band > (uint32_t)TW_ALL_ROWS ? TW_ALL_ROWS : (int32_t)s->band;
    const int32_t made = r->step[index].a;
    int32_t made_room;
    if (reach->fresh >= 0) {
        if (made >= TW_ALL_ROWS || reach->allowed == 0)
            return -1;
        return reach->fresh > 0 || reach->remaining == 0 ? tw_min32(reach->fresh, band) : -1;
    }
    if (reach->allowed <= made)
        return -1;
    if (made >= tw_step_extent(r, s))
        return 0; /* only padding is added */
    made_room = tw_min32(band, room_of(r, index));
    if (r->segment->columns != 0) /* not beyond the end of a row */
        made_room = tw_min32(made_room, tw_step_width(r, s) - made % tw_step_width(r, s));
    return made_room > 0
               ? tw_min32(tw_min32(reach->allowed, tw_step_extent(r, s)) - made, made_room)
               : -1;
}

/* The view of all of a resident operand: weights, mostly. */
static void whole_view(const tw_runner *r, const tw_plan_operand *o, tw_view *v)
{
    const tw_tensor *t = tw_tensor_of(r, o);
    const uint32_t axis = r->segment->axis < t->rank ? r->segment->axis : 0;
    v->tensor = t;
    v->data = tw_region_base(r->context, r->model, t->region) + t->offset;
    v->axis = (int32_t)axis;
    v->row = v->fresh = v->column = v->columns = 0;
    v->rows = v->fresh_rows = t->dim[axis];
}

/* Views of all operands for output rows [row, row + rows), or, where the step accumulates, for
 * `rows` more input rows. */
static int make_views(const tw_runner *r, uint32_t index, int32_t rows, int accumulates,
                      tw_view *views)
{
    const tw_plan_step *s = tw_step_at(r, index);
    const int32_t made = accumulates ? 0 : r->step[index].a;
    uint32_t i, count = (uint32_t)s->input_count + s->output_count;
    for (i = 0; i < count; i++) {
        const tw_plan_operand *o = &r->model->operands[s->first_operand + i];
        int32_t first = 0, end;
        if (o->tensor == TW_ABSENT) {
            memset(&views[i], 0, sizeof views[i]);
            continue;
        }
        if (o->stream == TW_ABSENT && o->rows == TW_ROWS_WHOLE) {
            whole_view(r, o, &views[i]);
            continue;
        }
        end = tw_rows_of(r, o);
        if (i >= s->input_count) {
            if (o->rows == TW_ROWS_MAPPED && !accumulates) {
                first = made;
                end = made + rows;
            }
        } else if (o->rows == TW_ROWS_MAPPED) {
            first = tw_rows_first(o, made, end);
            end = tw_rows_needed(o, made + rows, end);
            if (end < first)
                end = first;
        } else if (o->rows == TW_ROWS_ACCUMULATED) {
            first = r->step[index].b;
            end = first + rows;
        }
        if (i < s->input_count && o->stream != TW_ABSENT &&
            end > tw_min32(tw_available(r, o), tw_rows_of(r, o)))
            return 0;
        if (!tw_make_view(r, o, first, end, &views[i]))
            return 0;
    }
    return 1;
}

static void make_call(const tw_runner *r, const tw_plan_step *s, const tw_view *views,
                      tw_blob *blobs, tw_call *call)
{
    const tw_model *m = r->model;
    uint8_t *fast = (uint8_t *)r->context->region[TW_REGION_FAST].pointer;
    uint32_t i;
    for (i = 0; i < s->blob_count; i++) {
        blobs[i].data = m->constants + m->blobs[s->first_blob + i].offset;
        blobs[i].bytes = m->blobs[s->first_blob + i].bytes;
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
    const tw_plan_step *s = tw_step_at(r, index);
    int32_t needed = TW_ALL_ROWS;
    uint32_t i;
    if (tw_is_done(r, index))
        return TW_ALL_ROWS;
    for (i = 0; i < s->input_count; i++) {
        const tw_plan_operand *o = &r->model->operands[s->first_operand + i];
        if (o->tensor == TW_ABSENT || o->stream != stream)
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
    const tw_plan_stream *s = &r->model->streams[r->segment->first_stream + stream];
    int32_t first = TW_ALL_ROWS;
    uint32_t i;
    for (i = s->first_reader; i <= s->last_reader; i++)
        first = tw_min32(first, still_needs(r, i, stream));
    return first;
}

/* Give up the rows of an input's window that no reader needs any more, neither of the window's own
 * stream nor of those that lie over it: the rest moves down. */
static void release(const tw_runner *r, const tw_plan_operand *o)
{
    const tw_plan_stream *streams = &r->model->streams[r->segment->first_stream];
    const tw_tensor *t;
    int32_t have, base, keep;
    uint32_t leader, i;
    if (o->tensor == TW_ABSENT || o->stream == TW_ABSENT || tw_tensor_of(r, o)->window == 0)
        return;
    leader = tw_leader_of(r, o->stream);
    t = &r->model->tensors[streams[leader].tensor];
    base = r->stream[leader].a;
    have = streams[leader].producer == TW_ABSENT ? r->stream[leader].b
                                                 : r->step[streams[leader].producer].a;
    have = tw_min32(have, tw_units(t, r->segment));
    keep = tw_min32(have, kept_from(r, leader));
    for (i = leader + 1; i < r->segment->stream_count && keep > base; i++)
        if (streams[i].over == leader)
            keep = tw_min32(keep, kept_from(r, i));
    if (keep > base) {
        uint32_t bytes = tw_unit_bytes(t, r->segment);
        uint8_t *data = tw_region_base(r->context, r->model, t->region) + t->offset;
        memmove(data, data + (uint32_t)(keep - base) * bytes, (uint32_t)(have - keep) * bytes);
        r->context->moved += (uint32_t)(have - keep) * bytes;
        r->stream[leader].a = keep;
    }
}

/* Does any step of the segment read the stream of an output? */
static int is_read(const tw_runner *r, const tw_plan_operand *o)
{
    const tw_plan_stream *s;
    if (o->stream == TW_ABSENT)
        return 0;
    s = &r->model->streams[r->segment->first_stream + o->stream];
    return s->first_reader <= s->last_reader;
}

static tw_status fire(tw_runner *r, uint32_t index, const tw_reach *reach, int32_t rows)
{
    const tw_plan_step *s = tw_step_at(r, index);
    tw_counter *count = &r->step[index];
    const int accumulates = reach->fresh >= 0;
    tw_firing firing;
    tw_view views[TW_MAX_OPERANDS];
    tw_blob blobs[TW_MAX_BLOBS];
    tw_call call;
    tw_status status;
    tw_hook hook = r->context->hook.function;
    uint32_t i;
    r->context->error_step = r->segment->first_step + index;
    r->context->error_operator = s->operator_code;
    if (r->segment->columns != 0 ? !r->model->parts->columns->views(r, index, rows, views)
                                 : !make_views(r, index, rows, accumulates, views))
        return TW_E_SCHEDULE;
    make_call(r, s, views, blobs, &call);
    status = r->model->kernels[s->kernel]->run(&call);
    if (status != TW_OK)
        return status;
    firing.row = accumulates ? count->b : count->a;
    if (accumulates) {
        count->b += rows;
        if (rows == reach->remaining)
            count->a = TW_ALL_ROWS;
    } else {
        count->a += rows;
    }
    r->context->firings++;
    if (r->model->parts->ends) {
        status = r->model->parts->ends->drain(r, index, views + s->input_count);
        if (status != TW_OK)
            return status;
    }
    if (hook) {
        firing.step = r->segment->first_step + index;
        firing.operator_code = s->operator_code;
        firing.rows = rows;
        firing.call = &call;
        if (hook(r->context->hook_user.pointer, r->context, &firing) != 0)
            return TW_E_CALLBACK;
    }
    for (i = 0; i < s->input_count; i++)
        release(r, &r->model->operands[s->first_operand + i]);
    for (; i < (uint32_t)s->input_count + s->output_count; i++)
        if (!is_read(r, &r->model->operands[s->first_operand + i]))
            release(r, &r->model->operands[s->first_operand + i]);
    return TW_OK;
}

/* Step `index` has moved: it, who reads its results, and steps before them may be able to fire. */
static void look_from(tw_runner *r, uint32_t index)
{
    const tw_plan_step *s = tw_step_at(r, index);
    uint32_t i;
    r->end = index + 1;
    for (i = 0; i < s->output_count; i++) {
        const tw_plan_operand *o = &r->model->operands[s->first_operand + s->input_count + i];
        if (o->tensor != TW_ABSENT && is_read(r, o) &&
            r->model->streams[r->segment->first_stream + o->stream].last_reader >= r->end)
            r->end = r->model->streams[r->segment->first_stream + o->stream].last_reader + 1;
    }
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
        tw_reach reach = reach_of(r, i);
        int32_t rows = rows_to_fire(r, i, &reach);
        if (rows >= 0)
            look_from(r, i);
        if (rows > 0 || (rows == 0 && reach.fresh >= 0)) {
            tw_status status = fire(r, i, &reach, rows);
            return status == TW_OK ? 1 : (int32_t)status;
        }
        if (rows == 0) {
            r->step[i].a = reach.allowed;
            return 1;
        }
    }
    if (is_complete(r))
        return 0;
    if (r->segment->source == TW_ABSENT)
        return (int32_t)TW_E_SCHEDULE;
    last = r->model->streams[r->segment->first_stream + r->segment->source].last_reader;
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
