/* Inputs and outputs that go by rows, between the execution loop and the caller. */
#include "runtime/parts.h"

/* The input with this tensor, or TW_ABSENT. */
static uint32_t input_of(const tw_model *m, uint32_t tensor)
{
    uint32_t i;
    for (i = 0; i < m->input_count; i++)
        if (m->inputs[i] == tensor)
            return i;
    return TW_ABSENT;
}

/* Let rows of the source in: real ones through the feed, as far as the window has room; then padding.
 * 1, or an error. */
static int32_t advance_source(tw_runner *r)
{
    const uint32_t source = r->segment->source;
    const tw_plan_stream *s = &r->streams[source];
    const tw_tensor *t = &r->tensors[s->tensor];
    const int32_t extent = tw_units(t, r->segment), width = tw_width(t, r->segment);
    tw_counter *count = &r->stream[source];
    int32_t rows = r->segment->source_band > (uint32_t)TW_ALL_ROWS
                       ? TW_ALL_ROWS
                       : (int32_t)r->segment->source_band;
    tw_feed feed = r->context->feed.function;
    if (count->b >= extent) { /* a bound on padding: no layer looks so far past the end */
        if (count->b >= tw_min32(extent, TW_ALL_ROWS - 65536) + 65536)
            return (int32_t)TW_E_SCHEDULE;
        count->b = tw_min32(TW_ALL_ROWS, count->b + rows);
        return 1;
    }
    rows = tw_min32(rows, extent - count->b);
    if (t->window != 0 && t->window <= (uint32_t)TW_ALL_ROWS)
        rows = tw_min32(rows, (int32_t)t->window - (count->b - count->a));
    rows -= rows % width; /* the caller gives whole rows */
    if (rows <= 0)
        return (int32_t)TW_E_SCHEDULE;
    if (!feed || feed(r->context->feed_user.pointer, input_of(r->model, s->tensor),
                      count->b / width, rows / width,
                      tw_data_of(r, t) +
                          (uint32_t)(count->b - count->a) * tw_unit_bytes(t, r->segment)) != 0)
        return (int32_t)TW_E_CALLBACK;
    count->b += rows;
    return 1;
}

/* Give the caller the rows that a firing has made of outputs that go by rows; those that are complete
 * only when the step is, all at once. */
static tw_status drain(const tw_runner *r, uint32_t index, const tw_view *out)
{
    const tw_plan_step *s = &r->steps[index];
    const tw_model *m = r->model;
    tw_drain give = r->context->drain.function;
    uint32_t i, k;
    for (i = 0; i < s->output_count; i++) {
        const tw_plan_operand *o = &tw_outputs_of(r, s)[i];
        if (o->tensor == TW_ABSENT || tw_tensor_of(r, o)->window == 0 ||
            (o->rows != TW_ROWS_MAPPED && !tw_is_done(r, index)))
            continue;
        for (k = 0; k < m->output_count; k++)
            if (m->outputs[k] == o->tensor && /* NOLINTNEXTLINE: every operand's view is made */
                (!give || give(r->context->drain_user.pointer, k, out[i].row, out[i].rows,
                               out[i].data) != 0))
                return TW_E_CALLBACK;
    }
    return TW_OK;
}

const tw_end_part tw_part_ends = {advance_source, drain};
