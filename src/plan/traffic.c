/* What a run will read and write, by memory. In: a schedule whose segments, bands, windows and buffers
 * stand. Out: calls and traffic of every step. The firings are those of the runtime's rule, simulated;
 * src/host/traffic.c measures the same on a real run, and the two are equal. */
#include <string.h>

#include "plan/roll_rows.h"
#include "plan/scene.h"

/* A segment that is simulated: what the firings of its steps add to. */
typedef struct tw_firings {
    const tw_schedule *schedule;
    tw_step *steps; /* its first */
} tw_firings;

static uint32_t region_of(const tw_schedule *s, const tw_value *v)
{
    int b = s->places[v->index].buffer;
    return b < 0 ? TW_REGION_CONSTANT : s->buffers[b].region;
}

static int32_t extent_of(const tw_value *v, int axis)
{
    return axis < v->shape.rank ? v->shape.dim[axis] : 1;
}

/* Bytes of so many rows, or by columns of so many pixels; of a tensor that ends before the axis, all. */
static uint64_t bytes_of_rows(const tw_value *v, int axis, bool columns, int32_t rows)
{
    uint64_t bytes = tw_shape_bytes(&v->shape);
    int32_t extent = extent_of(v, axis) * (columns ? extent_of(v, axis + 1) : 1);
    if (axis >= v->shape.rank)
        return bytes;
    return extent ? bytes / (uint32_t)extent * (uint32_t)rows : 0;
}

/* Of a row map, those that [row, row + rows) of the output need. */
static int32_t mapped_rows(const tw_rowmap *map, int32_t row, int32_t rows, int32_t extent)
{
    const tw_roll_read read = {.map = *map};
    int32_t first = tw_read_first(&read, row, TW_ALL_ROWS, extent);
    int32_t end = tw_read_needed(&read, row + rows, extent);
    return end > first ? end - first : 0;
}

/* Rows of input i in the views of a firing that makes (or takes) [row, row + rows); by columns, where
 * these are pixels, pixels of the block. */
static int32_t rows_read(const tw_step *step, int i, bool columns, int32_t row, int32_t rows)
{
    const tw_value *v = step->node->in[i];
    int32_t extent = extent_of(v, step->axis);
    const tw_rowmap *map = &step->map[i];
    if (map->rows == TW_ROWS_ACCUMULATED)
        return rows;
    if (map->rows != TW_ROWS_MAPPED)
        return extent * (columns ? extent_of(v, step->axis + 1) : 1);
    if (columns) {
        int32_t width = extent_of(step->node->out[0], step->axis + 1);
        return mapped_rows(map, row / width, 1, extent) *
               mapped_rows(&step->column[i], row % width, rows, extent_of(v, step->axis + 1));
    }
    return mapped_rows(map, step->accumulates ? 0 : row, rows, extent);
}

/* Bytes that a firing makes of its first output. */
static uint64_t bytes_made(const tw_step *step, bool columns, int32_t rows)
{
    const tw_value *v = step->node->out[0];
    return step->accumulates ? tw_shape_bytes(&v->shape)
                             : bytes_of_rows(v, step->axis, columns, rows);
}

static void add_firing(const tw_schedule *s, tw_step *step, int32_t row, int32_t rows)
{
    const tw_node *node = step->node;
    const bool columns = s->segments[step->segment].columns;
    bool complete = row + rows >= step->extent;
    step->calls++;
    for (int i = 0; i < node->in_count; i++) {
        const tw_value *v = node->in[i];
        if (!v || tw_is_unread(&step->lowering, i))
            continue;
        uint64_t bytes =
            bytes_of_rows(v, step->axis, columns, rows_read(step, i, columns, row, rows));
        uint64_t made = bytes_made(step, columns, rows);
        bool part = node->op->kind == TW_MOVE && step->map[i].rows == TW_ROWS_WHOLE;
        step->traffic.read[region_of(s, v)] += part && made < bytes ? made : bytes;
    }
    for (int i = 0; i < step->lowering.blob_count; i++)
        step->traffic.read[TW_REGION_CONSTANT] += step->lowering.blob[i].bytes;
    for (int i = 0; i < node->out_count; i++) {
        const tw_value *v = node->out[i];
        if (!v)
            continue;
        bool final =
            step->accumulates || (node->op->final_output && node->op->final_output(node, i));
        if (!final)
            step->traffic.written[region_of(s, v)] += bytes_of_rows(v, step->axis, columns, rows);
        else if (complete)
            step->traffic.written[region_of(s, v)] += tw_shape_bytes(&v->shape);
    }
}

static void on_firing(void *user, int step, int32_t row, int32_t rows)
{
    const tw_firings *f = user;
    add_firing(f->schedule, &f->steps[step], row, rows);
}

/* The rows, windows and bands of the schedule, put into the problem as the search saw it. */
static void take_windows(const tw_scene *scene, const tw_segment *g, tw_roll *roll, const int *of)
{
    const tw_schedule *s = scene->schedule;
    for (int i = 0; i < roll->step_count; i++)
        roll->steps[i].band = s->steps[g->first_step + i].band;
    roll->source_band = g->source_band;
    for (int i = 0; i < roll->stream_count; i++) {
        tw_roll_stream *stream = &roll->streams[i];
        const tw_window *w = &s->windows[scene->values[of[i]].value->index];
        stream->whole = w->rows == 0;
        stream->rows = w->rows ? w->rows : stream->extent;
        stream->over = w->over ? stream->over : -1;
        stream->reader_count = 0; /* counted again below */
    }
}

static bool simulate(const tw_scene *scene, const tw_segment *g, tw_firings *firings)
{
    const tw_schedule *s = scene->schedule;
    tw_arena *arena = tw_arena_new();
    int streams = 1, to = g->first_step + g->step_count;
    for (int i = g->first_step; i < to; i++)
        streams += s->steps[i].node->out_count;
    int *of = tw_alloc_array(arena, (size_t)streams, sizeof *of);
    tw_roll roll;
    tw_roll_run run;
    bool ok = tw_scene_roll(scene, g->first_step, to, g->columns ? -1 : 1, &roll, of, arena);
    if (ok) {
        take_windows(scene, g, &roll, of);
        tw_roll_index(&roll, arena);
        roll.fired = on_firing;
        roll.fired_user = firings;
        ok = tw_roll_simulate(&roll, &run, NULL, arena);
    }
    tw_arena_free(arena);
    return ok;
}

/* A step of its own, every row in bands: what it writes it has room for. */
static void run_alone(const tw_schedule *s, tw_step *step)
{
    int32_t row = 0;
    if (step->extent == 0 && step->accumulates)
        add_firing(s, step, 0, 0);
    while (row < step->extent) {
        int32_t rows = tw_min32(step->band, step->extent - row);
        add_firing(s, step, row, rows);
        row += rows;
    }
}

void tw_plan_traffic(tw_schedule *s)
{
    tw_arena *arena = tw_arena_new();
    tw_scene scene;
    tw_scene_build(&scene, s, arena);
    for (int i = 0; i < s->step_count; i++) {
        scene.alone[i] = false; /* who may share a segment has been decided */
        s->steps[i].calls = 0;
        s->steps[i].traffic = (tw_traffic){{0}, {0}};
    }
    for (int i = 0; i < s->segment_count; i++) {
        const tw_segment *g = &s->segments[i];
        tw_firings firings = {s, &s->steps[g->first_step]};
        if (g->step_count == 1 && s->steps[g->first_step].band >= s->steps[g->first_step].extent &&
            g->source_band == 0)
            run_alone(s, firings.steps);
        else if (!simulate(&scene, g, &firings) && g->step_count == 1)
            run_alone(s, firings.steps);
    }
    tw_arena_free(arena);
}
