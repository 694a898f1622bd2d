/* The execution loop's view of a segment in progress, for it and its parts. */
#ifndef TW_RUNTIME_RUNNER_H
#define TW_RUNTIME_RUNNER_H

#include "runtime/rows.h"

/* Per step: rows made (virtual) and accumulated input rows taken. Per stream: first row still in
 * the window, and for the source, rows arrived (virtual). */
typedef struct tw_counter {
    int32_t a, b;
} tw_counter;

typedef struct tw_runner {
    tw_context *context;
    const tw_model *model;
    const tw_plan_segment *segment;
    tw_counter *step, *stream;
    uint32_t end; /* steps from here on cannot fire: nothing that they look at has changed */
} tw_runner;

static inline uint8_t *tw_region_base(const tw_context *c, const tw_model *m, uint32_t region)
{
    return region == TW_REGION_CONSTANT ? (uint8_t *)(uintptr_t)m->constants
                                        : (uint8_t *)c->region[region].pointer;
}

static inline const tw_plan_step *tw_step_at(const tw_runner *r, uint32_t index)
{
    return &r->model->steps[r->segment->first_step + index];
}

static inline const tw_tensor *tw_tensor_of(const tw_runner *r, const tw_plan_operand *o)
{
    return &r->model->tensors[o->tensor];
}

/* What is counted of an operand's tensor: rows, or by columns, pixels. */
static inline int32_t tw_rows_of(const tw_runner *r, const tw_plan_operand *o)
{
    return tw_units(tw_tensor_of(r, o), r->segment);
}

/* Virtual rows that an input has. */
static inline int32_t tw_available(const tw_runner *r, const tw_plan_operand *o)
{
    const tw_plan_stream *s;
    if (o->stream == TW_ABSENT)
        return TW_ALL_ROWS;
    s = &r->model->streams[r->segment->first_stream + o->stream];
    return s->producer == TW_ABSENT ? r->stream[o->stream].b : r->step[s->producer].a;
}

static inline int32_t tw_min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Rows a step makes in all (of its first output). */
static inline int32_t tw_step_extent(const tw_runner *r, const tw_plan_step *s)
{
    return tw_rows_of(r, &r->model->operands[s->first_operand + s->input_count]);
}

/* Columns of a step's first output; 1 where rows are counted. */
static inline int32_t tw_step_width(const tw_runner *r, const tw_plan_step *s)
{
    return tw_width(tw_tensor_of(r, &r->model->operands[s->first_operand + s->input_count]),
                    r->segment);
}

static inline int tw_is_done(const tw_runner *r, uint32_t index)
{
    return r->step[index].a >= tw_step_extent(r, tw_step_at(r, index));
}

/* The stream whose window (and first row kept) is this one's. */
static inline uint32_t tw_leader_of(const tw_runner *r, uint32_t stream)
{
    const uint32_t over = r->model->streams[r->segment->first_stream + stream].over;
    return over == TW_ABSENT ? stream : over;
}

/* The view of rows [first, end) of an operand. False: they are not where the plan says. */
static inline int tw_make_view(const tw_runner *r, const tw_plan_operand *o, int32_t first,
                               int32_t end, tw_view *v)
{
    const tw_tensor *t = tw_tensor_of(r, o);
    int32_t base = o->stream == TW_ABSENT ? 0 : r->stream[tw_leader_of(r, o->stream)].a;
    v->tensor = t;
    v->axis = 0;
    v->row = v->fresh = v->column = v->columns = 0;
    v->rows = v->fresh_rows = t->dim[0];
    v->data = tw_region_base(r->context, r->model, t->region) + t->offset;
    if (r->segment->axis >= t->rank)
        return 1; /* it ends before the band axis: always whole */
    if (end > first && (first < base || (t->window != 0 && (uint32_t)(end - base) > t->window)))
        return 0;
    v->axis = (int32_t)r->segment->axis;
    v->row = v->fresh = first;
    v->rows = v->fresh_rows = end - first;
    if (end > first)
        v->data = (uint8_t *)v->data + (uint32_t)(first - base) * tw_unit_bytes(t, r->segment);
    return 1;
}

#endif
