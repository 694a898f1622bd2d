/* What the segment search knows of the steps. */
#include "plan/scene.h"

#include <limits.h>
#include <string.h>

#include "plan/control.h"
#include "plan/ends.h"
#include "plan/overlap.h"

static int64_t aligned(int64_t bytes)
{
    return (bytes + TW_PLAN_ALIGN - 1) / TW_PLAN_ALIGN * TW_PLAN_ALIGN;
}

/* In slow memory, a whole tensor takes nothing of what is searched for. */
static bool is_slow(const tw_scene *scene, const tw_value *v)
{
    return scene->schedule->slow && scene->schedule->slow[v->index];
}

static int add_value(tw_scene *scene, int *index_of, const tw_value *v, int maker)
{
    scene->values[scene->value_count] =
        (tw_scene_value){.value = v,
                         .bytes = is_slow(scene, v) ? 0 : aligned(tw_shape_bytes(&v->shape)),
                         .maker = maker,
                         .first = INT_MAX,
                         .last = maker < 0 ? 0 : maker};
    index_of[v->index] = ++scene->value_count;
    return scene->value_count - 1;
}

/* May a step that shares no segment run in bands? What it makes are rows, and states complete at its end. */
static bool has_bands(const tw_schedule *s, const tw_step *step)
{
    const tw_node *node = step->node;
    for (int i = 0; i < node->out_count; i++) {
        const tw_value *v = node->out[i];
        bool final = node->op->final_output && node->op->final_output(node, i);
        if (v && final != (tw_state_written(s->graph, v) >= 0))
            return false;
    }
    return !step->at_once && !step->accumulates && step->extent > 1;
}

static void read_at(const tw_scene *scene, int value, int step)
{
    tw_scene_value *read = &scene->values[value];
    const int until = tw_live_until(scene->schedule, read->maker, step);
    read->last = until > read->last ? until : read->last;
}

static void add_step(tw_scene *scene, int step, int *index_of)
{
    tw_schedule *s = scene->schedule;
    const tw_node *node = s->steps[step].node;
    tw_scene_read *reads = tw_alloc_array(scene->arena, (size_t)node->in_count + 1, sizeof *reads);
    int *makes = tw_alloc_array(scene->arena, (size_t)node->out_count + 1, sizeof *makes);
    scene->reads[step] = reads;
    scene->makes[step] = makes;
    scene->alone[step] = s->steps[step].at_once || s->steps[step].alone ||
                         s->steps[step].extent == 0 || tw_is_controlled(s, step);
    scene->cut[step] = tw_is_awaited(s, step);
    scene->banded[step] = has_bands(s, &s->steps[step]) && !tw_is_controlled(s, step);
    scene->first_make[step] = scene->value_count;
    for (int i = 0; i < node->in_count; i++) {
        const tw_value *root = node->in[i] ? tw_view_root(node->in[i]) : NULL;
        reads[i].value = root ? index_of[root->index] - 1 : -1;
        reads[i].view = root != node->in[i];
        if (reads[i].value >= 0) {
            tw_scene_value *read = &scene->values[reads[i].value];
            read_at(scene, reads[i].value, step);
            read->first = step < read->first ? step : read->first;
        }
    }
    for (int i = 0; i < node->out_count; i++) {
        const tw_value *v = node->out[i];
        bool state = v && tw_state_written(s->graph, v) >= 0;
        if (v && v->into && index_of[v->into->index])
            read_at(scene, index_of[v->into->index] - 1, step);
        makes[i] = v && !state && !v->into ? add_value(scene, index_of, v, step) : -1;
        scene->alone[step] |= state;
    }
}

static bool is_fed(const tw_scene *scene, int step)
{
    const tw_node *node = scene->schedule->steps[step].node;
    for (int i = 0; i < node->in_count; i++) {
        int v = scene->reads[step][i].value;
        if (v >= 0 && scene->values[v].fed)
            return true;
    }
    return false;
}

static bool is_drained(const tw_scene *scene, int step)
{
    const tw_node *node = scene->schedule->steps[step].node;
    for (int i = 0; i < node->out_count; i++) {
        int v = scene->makes[step][i];
        if (v >= 0 && scene->values[v].drained)
            return true;
    }
    return false;
}

bool tw_scene_is_by_rows(const tw_scene *scene, int step)
{
    return is_fed(scene, step) || is_drained(scene, step);
}

void tw_scene_build(tw_scene *scene, tw_schedule *s, tw_arena *arena)
{
    const tw_graph *g = s->graph;
    size_t steps = (size_t)s->step_count + 1, values = (size_t)g->value_count + 1;
    *scene = (tw_scene){.schedule = s, .arena = arena};
    scene->values = tw_alloc_array(arena, values, sizeof *scene->values);
    scene->reads = tw_alloc_array(arena, steps, sizeof *scene->reads);
    scene->makes = tw_alloc_array(arena, steps, sizeof *scene->makes);
    scene->first_make = tw_alloc_array(arena, steps, sizeof *scene->first_make);
    scene->base = tw_alloc_array(arena, steps + 1, sizeof *scene->base);
    scene->alone = tw_alloc_array(arena, steps, sizeof *scene->alone);
    scene->cut = tw_alloc_array(arena, steps, sizeof *scene->cut);
    scene->banded = tw_alloc_array(arena, steps, sizeof *scene->banded);
    scene->windows = tw_alloc_array(arena, values, sizeof *scene->windows);
    int *index_of = tw_alloc_array(arena, values, sizeof *index_of);
    for (int i = 0; i < g->value_count; i++)
        g->values[i]->index = i;
    for (int i = 0; i < g->input_count; i++)
        scene->values[add_value(scene, index_of, g->inputs[i], -1)].fed = g->inputs[i] == s->fed;
    for (int i = 0; i < s->step_count; i++)
        add_step(scene, i, index_of);
    for (int i = 0; i < s->control_count; i++) {
        const tw_value *asked = s->controls[i].value;
        int v = asked ? index_of[tw_view_root(asked)->index] - 1 : -1;
        if (v >= 0)
            read_at(scene, v, s->controls[i].at);
    }
    for (int i = 0; i < g->output_count; i++) {
        int v = index_of[tw_view_root(g->outputs[i])->index] - 1;
        if (v >= 0 && g->outputs[i] == s->drained)
            scene->values[v].drained = true;
        else if (v >= 0)
            scene->values[v].last = s->step_count;
    }
    /* bytes alive across the start of each step */
    int64_t *change = tw_alloc_array(arena, steps + 2, sizeof *change);
    for (int v = 0; v < scene->value_count; v++) {
        if (scene->values[v].fed || scene->values[v].drained)
            continue; /* only its window is ever here */
        change[scene->values[v].maker + 1] += scene->values[v].bytes;
        int end = scene->values[v].last < s->step_count ? scene->values[v].last + 1 : s->step_count;
        change[end] -= scene->values[v].bytes;
    }
    int64_t live = 0;
    for (int i = 0; i < s->step_count; i++) {
        live += change[i];
        scene->base[i] = live;
    }
    /* A value nobody reads is live at its own step only: made there, it is not part of the base. */
}

static int32_t extent_of(const tw_value *v, int axis)
{
    return axis < v->shape.rank ? v->shape.dim[axis] : 1;
}

/* Columns of a value where a segment counts pixels, else 1. */
static int32_t width_of(const tw_value *v, int axis, bool columns)
{
    return columns ? extent_of(v, axis + 1) : 1;
}

/* What a segment counts of a value: rows or pixels. */
static int32_t units_of(const tw_value *v, int axis, bool columns)
{
    return extent_of(v, axis) * width_of(v, axis, columns);
}

/* The stream among the reads of `step` that its only result may replace row by row, or -1. One that
 * nobody else reads: another reader may be behind, and would have to be held ahead. */
static int overlay(const tw_roll *roll, const tw_scene *scene, int from, int step, int out)
{
    const tw_roll_step *s = &roll->steps[step];
    const tw_step *planned = &scene->schedule->steps[from + step];
    const tw_node *node = planned->node;
    int read = 0;
    if (!planned->over || s->write_count != 1 || s->accumulates)
        return -1;
    for (int i = 0; i < node->in_count; i++) {
        int v = scene->reads[from + step][i].value;
        if (v < 0)
            continue;
        const tw_roll_read *r = &s->reads[read++];
        if (r->stream < 0)
            continue;
        const tw_roll_stream *in = &roll->streams[r->stream];
        bool ours = scene->values[v].first == from + step && scene->values[v].last == from + step;
        if (ours && in->producer >= 0 && !in->whole && r->map.rows == TW_ROWS_MAPPED &&
            in->row_bytes == roll->streams[out].row_bytes &&
            in->extent == roll->streams[out].extent && tw_may_lie_over(planned, i))
            return r->stream;
    }
    return -1;
}

/* The stream of an input that comes by rows: all its readers must be in the segment. */
static bool add_source(const tw_scene *scene, int from, int to, int v, tw_roll *roll, int *of,
                       int *source)
{
    const tw_scene_value *value = &scene->values[v];
    int axis = scene->schedule->steps[from].axis;
    int32_t extent = units_of(value->value, axis, roll->columns);
    int32_t width = width_of(value->value, axis, roll->columns);
    if (*source >= 0)
        return of[*source] == v;
    if (value->first < from || value->last >= to || extent == 0 || axis >= value->value->shape.rank)
        return false;
    *source = roll->stream_count++;
    roll->streams[*source] =
        (tw_roll_stream){.producer = -1,
                         .extent = extent,
                         .row_bytes = tw_shape_bytes(&value->value->shape) / (uint32_t)extent,
                         .width = width,
                         .over = -1};
    if (roll->columns)
        roll->source_band = width;
    of[*source] = v;
    return true;
}

static bool add_roll_step(const tw_scene *scene, int from, int to, int step, tw_roll *roll, int *of,
                          int *stream_of, int *source, int32_t band, tw_arena *arena)
{
    const tw_step *s = &scene->schedule->steps[step];
    tw_roll_step *r = &roll->steps[step - from];
    const int first = scene->first_make[from]; /* stream_of counts from here */
    r->reads = tw_alloc_array(arena, (size_t)s->node->in_count + 1, sizeof *r->reads);
    r->writes = tw_alloc_array(arena, (size_t)s->node->out_count + 1, sizeof *r->writes);
    r->width = width_of(s->node->out[0], s->axis, roll->columns);
    r->extent = s->extent * r->width;
    r->band = s->extent;
    if (band < 0)
        r->band = (r->width - band - 1) / -band;
    else if (band < s->extent && (!scene->alone[step] || scene->banded[step]))
        r->band = band;
    r->accumulates = s->accumulates;
    for (int i = 0; i < s->node->in_count; i++) {
        int v = scene->reads[step][i].value;
        if (v < 0)
            continue; /* a constant or a state */
        bool fed = scene->values[v].fed, inside = fed || scene->values[v].maker >= from;
        if (inside && scene->reads[step][i].view)
            return false;
        if (fed && !add_source(scene, from, to, v, roll, of, source))
            return false;
        if (inside && roll->columns && s->map[i].rows != TW_ROWS_MAPPED)
            return false;
        r->reads[r->read_count++] = (tw_roll_read){fed      ? *source
                                                   : inside ? stream_of[v - first]
                                                            : -1,
                                                   units_of(s->node->in[i], s->axis, roll->columns),
                                                   s->map[i],
                                                   s->column[i],
                                                   width_of(s->node->in[i], s->axis, roll->columns),
                                                   roll->columns ? r->width : 0};
    }
    for (int i = 0; i < s->node->out_count; i++) {
        int v = scene->makes[step][i];
        if (v < 0)
            continue;
        const tw_value *value = scene->values[v].value;
        int k = roll->stream_count++;
        int32_t extent = units_of(value, s->axis, roll->columns);
        if (extent == 0)
            return false;
        bool later = scene->values[v].last >= to, drained = scene->values[v].drained;
        if (drained && (later || roll->columns))
            return false;
        roll->streams[k] = (tw_roll_stream){
            .producer = step - from,
            .extent = extent,
            .row_bytes = tw_shape_bytes(&value->shape) / (uint32_t)extent,
            .width = 1,
            .whole = later || (s->accumulates && !drained) || s->axis >= value->shape.rank,
            .over = -1};
        stream_of[v - first] = k;
        of[k] = v;
        r->writes[r->write_count++] = k;
        if (roll->streams[k].whole && is_slow(scene, value))
            roll->streams[k].row_bytes = 0;
        if (!roll->streams[k].whole)
            roll->streams[k].over = overlay(roll, scene, from, step - from, k);
    }
    return true;
}

bool tw_scene_roll(const tw_scene *scene, int from, int to, int32_t band, tw_roll *roll, int *of,
                   tw_arena *arena)
{
    int streams = 0;
    for (int i = from; i < to; i++) {
        bool alone = scene->alone[i] && (to - from > 1 || (is_fed(scene, i) && !scene->banded[i]));
        if (alone || (i > from && scene->cut[i]) ||
            scene->schedule->steps[i].axis != scene->schedule->steps[from].axis ||
            (band < 0 && !scene->schedule->steps[i].columns))
            return false;
        streams += scene->schedule->steps[i].node->out_count;
    }
    *roll = (tw_roll){.source_band = band, .columns = band < 0, .bed.stream = -1};
    roll->step_count = to - from;
    roll->steps = tw_alloc_array(arena, (size_t)(to - from), sizeof *roll->steps);
    int source = -1;
    roll->streams = tw_alloc_array(arena, (size_t)streams + 1, sizeof *roll->streams);
    int *stream_of = tw_alloc_array(arena, (size_t)streams + 1, sizeof *stream_of);
    int *own = of ? of : tw_alloc_array(arena, (size_t)streams + 1, sizeof *own);
    for (int i = from; i < to; i++)
        if (!add_roll_step(scene, from, to, i, roll, own, stream_of, &source, band, arena))
            return false;
    tw_roll_index(roll, arena);
    return true;
}

/* The last step of a segment that reads a stream or what lies over it, or makes it. */
static int last_step(const tw_roll *roll, int stream)
{
    int last = 0;
    for (; stream >= 0; stream = roll->streams[stream].above) {
        const tw_roll_stream *s = &roll->streams[stream];
        last = s->producer > last ? s->producer : last;
        if (s->reader_count && s->readers[s->reader_count - 1].step > last)
            last = s->readers[s->reader_count - 1].step;
    }
    return last;
}

/* The window of a value in the steps from its maker to `end`. */
static const tw_scene_window *window_of(const tw_scene *scene, int value, int end, int32_t band)
{
    const tw_scene_value *v = &scene->values[value];
    for (tw_scene_window *w = scene->windows[value]; w; w = w->next)
        if (w->end == end && w->band == band)
            return w;
    tw_scene_window *w = tw_alloc(scene->arena, sizeof *w);
    *w = (tw_scene_window){end, band, 1, false, scene->windows[value]};
    scene->windows[value] = w;
    tw_arena *arena = tw_arena_new();
    tw_roll roll;
    int from = v->maker < 0 ? v->first : v->maker, streams = 1;
    for (int i = from; i <= end; i++)
        streams += scene->schedule->steps[i].node->out_count;
    int *of = tw_alloc_array(arena, (size_t)streams, sizeof *of);
    if (tw_scene_roll(scene, from, end + 1, band, &roll, of, arena))
        for (int i = 0; i < roll.stream_count; i++)
            if (of[i] == value)
                w->rows = tw_roll_window(&roll, i, &w->exact);
    tw_arena_free(arena);
    return w;
}

bool tw_scene_estimate(const tw_scene *scene, int from, int32_t band, tw_roll *roll, const int *of)
{
    bool exact = true;
    for (int i = 0; i < roll->stream_count; i++) {
        tw_roll_stream *s = &roll->streams[i];
        s->rows = s->extent;
        if (s->whole)
            continue;
        if (s->leader != i) {
            s->rows = roll->streams[s->leader].rows;
            continue;
        }
        const tw_scene_window *w = window_of(scene, of[i], from + last_step(roll, i), band);
        s->rows = w->rows;
        s->exact = w->exact;
        exact &= w->exact;
    }
    return exact;
}

/* The largest stream that is whole and made row by row, or -1. */
static int largest_whole(const tw_roll *roll)
{
    int largest = -1;
    for (int i = 0; i < roll->stream_count; i++) {
        const tw_roll_stream *s = &roll->streams[i];
        if (s->whole && s->producer >= 0 && !roll->steps[s->producer].accumulates &&
            (largest < 0 || s->row_bytes * s->extent >
                                roll->streams[largest].row_bytes * roll->streams[largest].extent))
            largest = i;
    }
    return largest;
}

/* Is this value read in these steps only, by rows of its own, and then no more? */
static bool may_be_bed(const tw_scene *scene, int value, int from, int to)
{
    const tw_scene_value *v = &scene->values[value];
    int axis = scene->schedule->steps[from].axis;
    if (v->maker >= from || v->fed || v->drained || v->last >= to || v->last < from ||
        axis >= v->value->shape.rank || v->value->shape.dim[axis] == 0)
        return false;
    for (int a = 0; a < axis; a++)
        if (v->value->shape.dim[a] != 1)
            return false;
    for (int i = from; i < to; i++)
        for (int k = 0; k < scene->schedule->steps[i].node->in_count; k++)
            if (scene->reads[i][k].value == value && scene->reads[i][k].view)
                return false;
    return true;
}

static int find_bed(const tw_scene *scene, int from, int to)
{
    int bed = -1;
    for (int i = from; i < to; i++)
        for (int k = 0; k < scene->schedule->steps[i].node->in_count; k++) {
            int v = scene->reads[i][k].value;
            if (v >= 0 && (bed < 0 || scene->values[v].bytes > scene->values[bed].bytes) &&
                may_be_bed(scene, v, from, to))
                bed = v;
        }
    return bed;
}

int tw_scene_bed(const tw_scene *scene, int from, int to, tw_roll *roll, tw_arena *arena)
{
    int stream = largest_whole(roll), value = stream < 0 ? -1 : find_bed(scene, from, to), most = 0;
    if (value < 0)
        return -1;
    for (int i = 0; i < roll->step_count; i++)
        most += roll->steps[i].read_count;
    const tw_shape *shape = &scene->values[value].value->shape;
    int32_t extent =
        units_of(scene->values[value].value, scene->schedule->steps[from].axis, roll->columns);
    roll->bed =
        (tw_roll_bed){.readers = tw_alloc_array(arena, (size_t)most, sizeof *roll->bed.readers),
                      .extent = extent,
                      .row_bytes = tw_shape_bytes(shape) / (uint32_t)extent,
                      .stream = stream};
    for (int i = from; i < to; i++)
        for (int k = 0, read = 0; k < scene->schedule->steps[i].node->in_count; k++) {
            if (scene->reads[i][k].value < 0)
                continue;
            const tw_roll_read *r = &roll->steps[i - from].reads[read++];
            if (scene->reads[i][k].value == value)
                roll->bed.readers[roll->bed.reader_count++] = (tw_roll_reader){i - from, r};
        }
    return value;
}

int64_t tw_scene_bed_saves(const tw_scene *scene, int bed, const tw_roll *roll, int64_t lead)
{
    const tw_roll_stream *s = &roll->streams[roll->bed.stream];
    int64_t below = scene->values[bed].bytes, above = aligned(s->row_bytes * s->extent);
    int64_t together = aligned(lead) + below > above ? aligned(lead) + below : above;
    return below + above > together ? below + above - together : 0;
}

/* One step whole: its result may share memory with an input that dies. */
static int64_t saved_over_input(const tw_scene *scene, int step)
{
    const tw_node *node = scene->schedule->steps[step].node;
    int in = node->in_count ? scene->reads[step][0].value : -1, out = scene->makes[step][0];
    if (in < 0 || out < 0 || scene->values[in].last != step || scene->values[in].fed)
        return 0;
    for (int i = 1; i < node->in_count; i++)
        if (scene->reads[step][i].value == in)
            return 0;
    return tw_overlap_saves(&scene->schedule->steps[step].lowering.overlap, scene->values[in].bytes,
                            scene->values[out].bytes);
}

/* One step whole: what it may write in place costs nothing more. */
static int64_t saved_in_place(const tw_scene *scene, int step)
{
    const tw_step *planned = &scene->schedule->steps[step];
    const tw_node *node = planned->node;
    if (!planned->over || node->out_count != 1 || scene->makes[step][0] < 0)
        return 0;
    for (int i = 0; i < node->in_count; i++) {
        int v = scene->reads[step][i].value;
        if (v >= 0 && scene->values[v].last == step && tw_may_lie_over(planned, i) &&
            scene->values[v].bytes == scene->values[scene->makes[step][0]].bytes)
            return scene->values[v].bytes;
    }
    return 0;
}

/* One step whole that joins or cuts: what it makes may lie where its input is, or the other way round
 * (plan/joins.h). What that costs elsewhere, the placement shows. */
static int64_t saved_by_joining(const tw_scene *scene, int step)
{
    const tw_node *node = scene->schedule->steps[step].node;
    int out = !scene->apart && node->op->part && node->out_count == 1 ? scene->makes[step][0] : -1;
    for (int i = 0; out >= 0 && i < node->in_count; i++) {
        tw_part part = {0};
        int in = scene->reads[step][i].value;
        if (in < 0 || scene->reads[step][i].view || !node->op->part(node, i, &part))
            return 0;
        if (part.of_input ? scene->values[out].last == scene->schedule->step_count
                          : scene->values[in].maker < 0 || scene->values[in].last > step)
            return 0;
    }
    return out < 0 ? 0 : scene->values[out].bytes;
}

int64_t tw_scene_bytes(const tw_scene *scene, int from, int to, const tw_roll *roll)
{
    int64_t bytes = scene->base[from], scratch = 0;
    for (int i = from; i < to; i++) {
        const tw_lowering *l = &scene->schedule->steps[i].lowering;
        scratch = aligned(l->scratch) > scratch ? aligned(l->scratch) : scratch;
        bytes += aligned(l->memory);
    }
    if (roll) {
        bytes += tw_roll_bytes(roll);
    } else {
        for (int i = 0; i < scene->schedule->steps[from].node->out_count; i++)
            if (scene->makes[from][i] >= 0)
                bytes += scene->values[scene->makes[from][i]].bytes;
        int64_t in_place = saved_in_place(scene, from), joined = saved_by_joining(scene, from);
        bytes -= in_place ? in_place : joined ? joined : saved_over_input(scene, from);
    }
    tw_segment segment = {from, to - from, 0, false, 0, -1};
    return bytes + scratch + aligned(tw_counter_bytes(scene->schedule, &segment));
}
