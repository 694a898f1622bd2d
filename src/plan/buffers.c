/* Buffers and their lifetimes. A view shares its source's buffer; a step whose operator allows it
 * writes its result over an input that nothing reads any more. */
#include <string.h>

#include "plan/control.h"
#include "plan/ends.h"
#include "plan/joins.h"

static uint32_t align_up(uint32_t bytes)
{
    return (bytes + TW_PLAN_ALIGN - 1) / TW_PLAN_ALIGN * TW_PLAN_ALIGN;
}

static int add_buffer(tw_schedule *s, const char *name, tw_buffer_use use, uint32_t bytes,
                      int first, int last)
{
    tw_grow(s->arena, &s->buffers, s->buffer_count, &s->buffer_capacity, sizeof *s->buffers);
    s->buffers[s->buffer_count] = (tw_buffer){.name = name,
                                              .use = use,
                                              .bytes = align_up(bytes),
                                              .first = first,
                                              .last = last,
                                              .region = TW_REGION_FAST,
                                              .bed = -1};
    return s->buffer_count++;
}

/* The steps of a segment run interleaved: what one of them uses is live while any of them runs. */
static int segment_first(const tw_schedule *s, int step)
{
    return s->segments[s->steps[step].segment].first_step;
}

static int segment_last(const tw_schedule *s, int step)
{
    const tw_segment *g = &s->segments[s->steps[step].segment];
    return g->first_step + g->step_count - 1;
}

static int add_step_buffer(tw_schedule *s, const char *name, tw_buffer_use use, uint32_t bytes,
                           int step)
{
    return add_buffer(s, name, use, bytes, segment_first(s, step), segment_last(s, step));
}

static void extend(tw_schedule *s, const tw_value *v, int step)
{
    int b = s->places[v->index].buffer;
    int last = tw_live_until(s, tw_maker_of(s, v), segment_last(s, step));
    if (b >= 0 && s->buffers[b].last < last)
        s->buffers[b].last = last;
}

static void read_at(const tw_schedule *s, int *last, const tw_value *v, int step)
{
    int until = tw_live_until(s, tw_maker_of(s, v), step);
    if (last[v->index] < until)
        last[v->index] = until;
}

/* For each value, the last step that reads it or a view of it; step_count: a graph output. */
static int *last_reads(const tw_schedule *s, tw_arena *arena)
{
    const tw_graph *g = s->graph;
    int *last = tw_alloc_array(arena, (size_t)g->value_count + 1, sizeof *last);
    for (int v = 0; v < g->value_count; v++)
        last[v] = (g->values[v]->is_output && g->values[v] != s->drained) || g->values[v]->is_state
                      ? s->step_count
                      : -1;
    for (int i = 0; i < s->control_count; i++)
        if (s->controls[i].value)
            read_at(s, last, s->controls[i].value, s->controls[i].at);
    int step = s->step_count;
    for (int n = g->node_count - 1; n >= 0; n--) {
        const tw_node *node = g->nodes[n];
        bool view = node->op->kind == TW_VIEW;
        if (!view)
            step--;
        for (int i = 0; i < node->in_count; i++) {
            if (!node->in[i])
                continue;
            if (!view)
                read_at(s, last, node->in[i], step);
            else if (last[node->in[i]->index] < last[node->out[0]->index])
                last[node->in[i]->index] = last[node->out[0]->index];
        }
        for (int i = 0; i < node->out_count; i++)
            if (node->out[i] && node->out[i]->into)
                read_at(s, last, node->out[i]->into, step);
    }
    return last;
}

/* Has it all of its buffer, without gaps? */
static bool is_plain(const tw_schedule *s, const tw_value *v)
{
    const tw_place *place = &s->places[v->index];
    return place->offset == 0 && !place->stride &&
           (place->buffer < 0 ||
            s->buffers[place->buffer].bytes == align_up(tw_shape_bytes(&v->shape)));
}

/* The input that step `index` may write its first output over, or -1. A buffer's every reader so
 * far must be done: `last` is per value, so the root's own and all its views' must be over. */
static int in_place_input(const tw_schedule *s, int index, const int *root_last)
{
    const tw_node *node = s->steps[index].node;
    if (!s->steps[index].over || node->out_count != 1 || s->windows[node->out[0]->index].rows ||
        s->windows[node->out[0]->index].bed || s->segments[s->steps[index].segment].step_count != 1)
        return -1; /* in a rolling segment other readers of the input may still be behind */
    for (int i = 0; i < node->in_count; i++) {
        const tw_value *in = node->in[i];
        if (!in || in->data || s->windows[in->index].rows || !is_plain(s, in))
            continue;
        int b = s->places[in->index].buffer;
        if (b < 0 || root_last[b] > index || !tw_may_lie_over(&s->steps[index], i) ||
            tw_shape_bytes(&in->shape) != tw_shape_bytes(&node->out[0]->shape))
            continue;
        if (tw_is_slow(s, s->places[in->index].root) != tw_is_slow(s, node->out[0]))
            continue;
        bool twice = false; /* another operand in the same buffer would be overwritten */
        for (int k = 0; k < node->in_count; k++)
            twice |= k != i && node->in[k] && s->places[node->in[k]->index].buffer == b &&
                     !tw_may_lie_over(&s->steps[index], k);
        if (!twice)
            return i;
    }
    return -1;
}

/* The buffer of input 0, which dies here, where the one call of step `index` may write its result into
 * the same memory (plan/overlap.c finds the distance); or -1. */
static int overlapped_buffer(const tw_schedule *s, int index, const int *root_last)
{
    const tw_step *step = &s->steps[index];
    const tw_node *node = step->node;
    const tw_window *window = &s->windows[node->out[0]->index];
    if (!step->lowering.overlap.may || step->side == TW_SIDE_APART || step->band < step->extent ||
        s->segments[step->segment].step_count != 1 || s->segments[step->segment].columns ||
        window->rows || window->bed || !node->in[0])
        return -1;
    int b = s->places[node->in[0]->index].buffer;
    if (b < 0 || root_last[b] > index || s->buffers[b].region != TW_REGION_FAST ||
        s->windows[node->in[0]->index].rows || !is_plain(s, node->in[0]))
        return -1;
    for (int k = 1; k < node->in_count; k++)
        if (node->in[k] && s->places[node->in[k]->index].buffer == b)
            return -1;
    return b;
}

static void name_value(tw_schedule *s, tw_value *v, int buffer, const tw_value *root)
{
    s->places[v->index] = (tw_place){buffer, root, 0, NULL};
}

static void place_view(tw_schedule *s, const tw_node *node, const int *last, int *root_last)
{
    const tw_place *from = &s->places[node->in[0]->index];
    name_value(s, node->out[0], from->buffer, from->root);
    int read = last[node->out[0]->index];
    if (from->buffer >= 0 && root_last[from->buffer] < read)
        root_last[from->buffer] = read;
}

/* Bytes of a value's window, or of all of it. */
static uint32_t kept_bytes(const tw_schedule *s, const tw_step *step, const tw_value *v,
                           const tw_window *window)
{
    const bool columns = s->segments[step->segment].columns;
    uint32_t bytes = tw_shape_bytes(&v->shape);
    if (window->rows == 0)
        return bytes;
    bytes /= (uint32_t)v->shape.dim[step->axis];
    if (columns)
        bytes /= (uint32_t)v->shape.dim[step->axis + 1];
    return bytes * (uint32_t)window->rows;
}

/* Only one step fires at a time: the scratch of a segment is as large as its largest. */
static void share_scratch(tw_schedule *s, int index)
{
    tw_step *step = &s->steps[index];
    uint32_t bytes = align_up(step->lowering.scratch);
    for (int i = segment_first(s, index); i < index; i++) {
        if (s->steps[i].scratch < 0)
            continue;
        step->scratch = s->steps[i].scratch;
        if (s->buffers[step->scratch].bytes < bytes)
            s->buffers[step->scratch].bytes = bytes;
        return;
    }
    step->scratch = add_step_buffer(s, step->node->name, TW_BUFFER_SCRATCH, bytes, index);
}

/* A value inside another, whose buffer is made here if this is the first of it. */
static void place_inside(tw_schedule *s, const tw_value *v, const tw_join *join, int index,
                         const int *last, int *root_last)
{
    tw_place *whole = &s->places[join->whole->index];
    if (whole->buffer < 0) {
        whole->buffer = add_step_buffer(s, join->whole->name, TW_BUFFER_ACTIVATION,
                                        tw_shape_bytes(&join->whole->shape), index);
        root_last[whole->buffer] = last[join->whole->index];
    }
    s->places[v->index] = (tw_place){whole->buffer, v, join->offset, join->stride};
    if (root_last[whole->buffer] < last[v->index])
        root_last[whole->buffer] = last[v->index];
    extend(s, v, index);
}

/* The first output of a step, in a buffer of its own or one that it shares. */
static void place_output(tw_schedule *s, int index, tw_value *out, int shared, const int *last,
                         int *root_last)
{
    const tw_window *window = &s->windows[out->index];
    int b = shared >= 0 ? shared
                        : add_step_buffer(s, out->name, TW_BUFFER_ACTIVATION,
                                          kept_bytes(s, &s->steps[index], out, window), index);
    name_value(s, out, b, out);
    if (tw_is_slow(s, out))
        s->buffers[b].region = TW_REGION_SLOW;
    if (window->bed && !tw_is_kept(s, out)) {
        s->buffers[b].bed = s->places[window->bed->index].buffer;
        s->buffers[b].lead = window->lead;
    }
    if (shared < 0 || root_last[b] < last[out->index])
        root_last[b] = last[out->index];
    extend(s, out, index);
}

static void place_outputs(tw_schedule *s, int index, bool in_place, const int *last, int *root_last)
{
    tw_step *step = &s->steps[index];
    const tw_node *node = step->node;
    in_place = in_place && !tw_is_kept(s, node->out[0]);
    int over = in_place ? in_place_input(s, index, root_last) : -1;
    int bed = in_place && over < 0 ? overlapped_buffer(s, index, root_last) : -1;
    for (int i = 0; i < node->out_count; i++) {
        tw_value *out = node->out[i];
        if (!out)
            continue;
        const tw_value *under = s->windows[out->index].over;
        const tw_join *join = in_place ? tw_join_of(s, out) : NULL;
        int state = tw_state_written(s->graph, out), begun = s->places[out->index].buffer;
        if (out->into) {
            name_value(s, out, s->places[out->into->index].buffer, out);
            extend(s, out->into, index);
        } else if (state >= 0) {
            const tw_value *current = s->graph->states[state].current;
            name_value(s, out, s->places[current->index].buffer, out);
        } else if (under) { /* a rolling segment's in place: one window for both */
            name_value(s, out, s->places[under->index].buffer, out);
        } else if (join) {
            place_inside(s, out, join, index, last, root_last);
        } else {
            bool shares = over >= 0 && begun < 0;
            place_output(s, index, out, shares ? s->places[node->in[over]->index].buffer : begun,
                         last, root_last);
            if (bed >= 0 && begun < 0 && !tw_is_slow(s, out)) {
                s->buffers[s->places[out->index].buffer].bed = bed;
                s->buffers[s->places[out->index].buffer].overlap = &step->lowering.overlap;
                s->buffers[s->places[out->index].buffer].side = step->side;
            }
        }
    }
}

static void place_step(tw_schedule *s, int index, bool in_place, const int *last, int *root_last)
{
    tw_step *step = &s->steps[index];
    const tw_node *node = step->node;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i])
            extend(s, node->in[i], index);
    place_outputs(s, index, in_place, last, root_last);
    step->scratch = step->memory = -1;
    if (step->lowering.scratch)
        share_scratch(s, index);
    if (step->lowering.memory)
        step->memory =
            add_step_buffer(s, node->name, TW_BUFFER_MEMORY, step->lowering.memory, index);
}

/* The window of an input that comes by rows lives in the one segment that reads it. */
static int add_window(tw_schedule *s, const tw_value *in)
{
    for (int i = 0; i < s->step_count; i++)
        for (int k = 0; k < s->steps[i].node->in_count; k++)
            if (s->steps[i].node->in[k] == in)
                return add_step_buffer(s, in->name, TW_BUFFER_ACTIVATION,
                                       kept_bytes(s, &s->steps[i], in, &s->windows[in->index]), i);
    return add_buffer(s, in->name, TW_BUFFER_ACTIVATION, 0, 0, 0); /* nobody reads it */
}

/* Conditions are there when they are asked for; the rounds of a loop, as long as it runs. */
static void place_controls(tw_schedule *s)
{
    for (int i = 0; i < s->control_count; i++) {
        tw_control *e = &s->controls[i];
        if (e->value && s->places[e->value->index].buffer >= 0)
            extend(s, e->value, e->at);
        if (e->kind == TW_CONTROL_LOOP)
            e->buffer = add_buffer(s, "rounds of a loop", TW_BUFFER_CONTEXT, sizeof(uint32_t),
                                   e->at, s->controls[s->controls[e->partner].partner].at - 1);
    }
}

void tw_plan_buffers(tw_schedule *s, bool in_place)
{
    const tw_graph *g = s->graph;
    tw_arena *scratch = tw_arena_new();
    s->buffer_count = 0;
    s->places = tw_alloc_array(s->arena, (size_t)g->value_count + 1, sizeof *s->places);
    for (int v = 0; v < g->value_count; v++) {
        g->values[v]->index = v;
        s->places[v] = (tw_place){-1, g->values[v], 0, NULL};
    }
    int *last = last_reads(s, scratch);
    /* Per buffer: the last read of anything in it. At most three buffers a node, one an input. */
    size_t most = (size_t)g->input_count + (size_t)g->state_count +
                  (size_t)g->node_count * (TW_MAX_OPERANDS + 2) + 1;
    int *root_last = tw_alloc_array(scratch, most, sizeof *root_last);
    int end = s->step_count > 0 ? s->step_count - 1 : 0;
    for (int i = 0; i < g->input_count; i++) {
        tw_value *in = g->inputs[i];
        int b = s->windows[in->index].rows ? add_window(s, in)
                                           : add_buffer(s, in->name, TW_BUFFER_ACTIVATION,
                                                        tw_shape_bytes(&in->shape), 0, 0);
        name_value(s, in, b, in);
        s->buffers[b].is_input = true;
        if (tw_is_slow(s, in))
            s->buffers[b].region = TW_REGION_SLOW;
        root_last[b] = last[in->index];
    }
    for (int i = 0; i < g->state_count; i++) {
        tw_value *v = g->states[i].current;
        int b = add_buffer(s, v->name, TW_BUFFER_STATE, tw_shape_bytes(&v->shape), 0, end);
        s->buffers[b].region = TW_REGION_STATE;
        name_value(s, v, b, v);
        root_last[b] = s->step_count;
    }
    int step = 0;
    for (int n = 0; n < g->node_count; n++) {
        if (g->nodes[n]->op->kind == TW_VIEW)
            place_view(s, g->nodes[n], last, root_last);
        else
            place_step(s, step++, in_place, last, root_last);
    }
    place_controls(s);
    for (int i = 0; i < g->output_count; i++) {
        int b = s->places[g->outputs[i]->index].buffer;
        if (b >= 0) {
            s->buffers[b].is_output = true;
            if (g->outputs[i] != s->drained)
                s->buffers[b].last = end;
            if (tw_is_kept(s, tw_view_root(g->outputs[i])))
                s->buffers[b].first = 0;
        }
    }
    for (int i = 0; i < s->segment_count; i++) {
        tw_segment *segment = &s->segments[i];
        segment->counters = add_step_buffer(s, "row counters", TW_BUFFER_CONTEXT,
                                            tw_counter_bytes(s, segment), segment->first_step);
    }
    tw_arena_free(scratch);
}
