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
    const tw_plan_step *steps; /* of the segment, as are the streams */
    const tw_plan_stream *streams;
    const tw_plan_operand *operands; /* of the plan, as are the tensors */
    const tw_tensor *tensors;
    tw_counter *step, *stream;
    uint32_t lying_over; /* streams from here on lie over no other */
    uint32_t end;        /* steps from here on cannot fire: nothing that they look at has changed */
} tw_runner;

/* Where a tensor's first element (or the first row of its window) lies. */
static inline uint8_t *tw_data_of(const tw_runner *r, const tw_tensor *t)
{
    return (uint8_t *)r->context->region[t->region].pointer + t->offset;
}

static inline const tw_tensor *tw_tensor_of(const tw_runner *r, const tw_plan_operand *o)
{
    return &r->tensors[o->tensor];
}

static inline const tw_plan_operand *tw_inputs_of(const tw_runner *r, const tw_plan_step *s)
{
    return &r->operands[s->first_operand];
}

static inline const tw_plan_operand *tw_outputs_of(const tw_runner *r, const tw_plan_step *s)
{
    return &r->operands[s->first_operand + s->input_count];
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
    s = &r->streams[o->stream];
    return s->producer == TW_ABSENT ? r->stream[o->stream].b : r->step[s->producer].a;
}

static inline int32_t tw_min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Rows a step makes in all (of its first output). */
static inline int32_t tw_step_extent(const tw_runner *r, const tw_plan_step *s)
{
    return tw_rows_of(r, tw_outputs_of(r, s));
}

/* Columns of a step's first output; 1 where rows are counted. */
static inline int32_t tw_step_width(const tw_runner *r, const tw_plan_step *s)
{
    return tw_width(tw_tensor_of(r, tw_outputs_of(r, s)), r->segment);
}

static inline int tw_is_done(const tw_runner *r, uint32_t index)
{
    return r->step[index].a >= tw_step_extent(r, &r->steps[index]);
}

/* The stream whose window (and first row kept) is this one's. */
static inline uint32_t tw_leader_of(const tw_runner *r, uint32_t stream)
{
    const uint32_t over = r->streams[stream].over;
    return over == TW_ABSENT ? stream : over;
}

/* The view of all of a tensor. */
static inline void tw_whole_view(const tw_runner *r, const tw_tensor *t, tw_view *v)
{
    const uint32_t axis = r->segment->axis < t->rank ? r->segment->axis : 0;
    v->tensor = t;
    v->data = tw_data_of(r, t);
    v->axis = (int32_t)axis;
    v->row = v->fresh = v->column = v->columns = 0;
    v->rows = v->fresh_rows = t->dim[axis];
}

#endif
