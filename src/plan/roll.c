/* Rolling execution of one segment, by rows. */
#include "plan/roll.h"

#include <string.h>

#include "plan/roll_rows.h"

static void index_overlays(tw_roll *r)
{
    for (int i = 0; i < r->stream_count; i++)
        r->streams[i].above = -1;
    for (int i = 0; i < r->stream_count; i++) { /* what it lies over stands before it */
        tw_roll_stream *s = &r->streams[i];
        s->leader = s->over < 0 ? i : r->streams[s->over].leader;
        if (s->over >= 0)
            r->streams[s->over].above = i;
    }
}

void tw_roll_index(tw_roll *r, tw_arena *arena)
{
    int total = 0;
    index_overlays(r);
    for (int i = 0; i < r->step_count; i++)
        for (int k = 0; k < r->steps[i].read_count; k++)
            if (r->steps[i].reads[k].stream >= 0) {
                r->streams[r->steps[i].reads[k].stream].reader_count++;
                total++;
            }
    tw_roll_reader *readers = tw_alloc_array(arena, (size_t)total + 1, sizeof *readers);
    for (int i = 0; i < r->stream_count; i++) {
        r->streams[i].readers = readers;
        readers += r->streams[i].reader_count;
        r->streams[i].reader_count = 0;
    }
    for (int i = 0; i < r->step_count; i++)
        for (int k = 0; k < r->steps[i].read_count; k++) {
            const tw_roll_read *read = &r->steps[i].reads[k];
            tw_roll_stream *in = read->stream < 0 ? NULL : &r->streams[read->stream];
            if (in)
                ((tw_roll_reader *)in->readers)[in->reader_count++] = (tw_roll_reader){i, read};
        }
}

int64_t tw_roll_bytes(const tw_roll *r)
{
    int64_t bytes = 0;
    for (int i = 0; i < r->stream_count; i++)
        if (r->streams[i].over < 0)
            bytes += (r->streams[i].row_bytes * r->streams[i].rows + TW_PLAN_ALIGN - 1) /
                     TW_PLAN_ALIGN * TW_PLAN_ALIGN;
    return bytes;
}

/* ---- the runtime's rule ---- */

typedef struct tw_roll_state {
    const tw_roll *r;
    int32_t *made, *taken; /* by step */
    int32_t *base;         /* by stream: first row in the window (of the leader) */
    int32_t *arrived;      /* by stream: rows of a source */
    bool *waits; /* by step: it could not fire, and nothing that it looks at has changed */
    int highest; /* no step above this one can fire: nothing that it looks at has changed */
} tw_roll_state;

/* A stream has more rows: its readers may fire. */
static void wake_readers(tw_roll_state *s, const tw_roll_stream *stream)
{
    for (int k = 0; k < stream->reader_count; k++)
        s->waits[stream->readers[k].step] = false;
}

static int32_t available(const tw_roll_state *s, int stream)
{
    int producer = s->r->streams[stream].producer;
    return producer < 0 ? s->arrived[stream] : s->made[producer];
}

static int32_t out_extent(const tw_roll *r, int step)
{
    const tw_roll_step *s = &r->steps[step];
    return s->write_count ? r->streams[s->writes[0]].extent : s->extent;
}

/* Rows there is room for in the windows it writes. */
static int32_t room(const tw_roll_state *s, int step)
{
    int32_t rows = TW_ALL_ROWS;
    const tw_roll_step *t = &s->r->steps[step];
    for (int k = 0; k < t->write_count; k++) {
        const tw_roll_stream *out = &s->r->streams[t->writes[k]];
        if (!out->whole && out->over < 0)
            rows = tw_min32(
                rows, out->rows - (tw_min32(s->made[step], out->extent) - s->base[t->writes[k]]));
    }
    return rows;
}

/* Rows to fire by; -1: it cannot. *allowed: virtual rows its inputs allow. */
static int32_t rows_to_fire(const tw_roll_state *s, int step, int32_t *allowed)
{
    const tw_roll_step *t = &s->r->steps[step];
    int32_t fresh = TW_ALL_ROWS;
    *allowed = TW_ALL_ROWS;
    for (int k = 0; k < t->read_count; k++) {
        const tw_roll_read *read = &t->reads[k];
        int32_t v = read->stream < 0 ? TW_ALL_ROWS : available(s, read->stream);
        int32_t extent = read->extent;
        if (read->map.rows == TW_ROWS_MAPPED)
            *allowed = tw_min32(*allowed, tw_read_allowed(read, v));
        else if (read->map.rows == TW_ROWS_ACCUMULATED)
            fresh = tw_min32(fresh, tw_min32(v, extent) - s->taken[step]);
        else if (v < extent)
            *allowed = 0;
    }
    if (t->accumulates) {
        int32_t left = t->extent - s->taken[step];
        if (s->made[step] >= TW_ALL_ROWS || *allowed == 0)
            return -1;
        fresh = tw_min32(fresh, left);
        return fresh > 0 || left == 0 ? tw_min32(fresh, t->band) : -1;
    }
    if (*allowed <= s->made[step])
        return -1;
    if (s->made[step] >= t->extent)
        return 0;
    int32_t rows =
        tw_min32(tw_min32(*allowed, t->extent) - s->made[step], tw_min32(t->band, room(s, step)));
    if (t->width > 1)
        rows = tw_min32(rows, t->width - s->made[step] % t->width);
    return rows > 0 ? rows : -1;
}

/* First row of its input that a reader still needs. */
static int32_t reader_needs(const tw_roll_state *s, const tw_roll_reader *reader, int32_t extent)
{
    const tw_roll_step *t = &s->r->steps[reader->step];
    int32_t made = s->made[reader->step];
    if (t->accumulates ? made > 0 : made >= t->extent)
        return TW_ALL_ROWS;
    return tw_read_first(reader->read, t->accumulates ? s->taken[reader->step] : made, t->extent,
                         extent);
}

/* Rows of a window that somebody still needs, its overlays' included. */
static void release(tw_roll_state *s, int stream, tw_roll_run *run)
{
    const tw_roll_stream *streams = s->r->streams, *leader = &streams[streams[stream].leader];
    int32_t *base = &s->base[streams[stream].leader];
    if (leader->whole)
        return;
    int32_t have = tw_min32(available(s, streams[stream].leader), leader->extent), keep = have;
    for (const tw_roll_stream *in = leader;; in = &streams[in->above]) {
        for (int k = 0; k < in->reader_count; k++)
            keep = tw_min32(keep, reader_needs(s, &in->readers[k], in->extent));
        if (in->above < 0)
            break;
    }
    if (keep > *base) {
        run->moved_bytes += (have - keep) * leader->row_bytes;
        *base = keep;
        if (leader->producer >= 0)
            s->waits[leader->producer] = false; /* it has room */
    }
}

/* After a firing: windows it read, and those it wrote that nobody reads (rows that were given away). */
static void release_all(tw_roll_state *s, int step, tw_roll_run *run)
{
    const tw_roll_step *t = &s->r->steps[step];
    for (int k = 0; k < t->read_count; k++)
        if (t->reads[k].stream >= 0)
            release(s, t->reads[k].stream, run);
    for (int k = 0; k < t->write_count; k++)
        if (s->r->streams[t->writes[k]].reader_count == 0)
            release(s, t->writes[k], run);
}

/* Rows written in place of an input's rows are ones that nobody else still needs. */
static bool may_replace(const tw_roll_state *s, int step, int stream, int32_t end)
{
    const tw_roll_stream *in = &s->r->streams[stream];
    for (int k = 0; k < in->reader_count; k++)
        if (in->readers[k].step != step && reader_needs(s, &in->readers[k], in->extent) < end)
            return false;
    return true;
}

/* Every row a firing reads is in its window, every row it writes may be written. */
static bool is_safe(const tw_roll_state *s, int step, int32_t rows)
{
    const tw_roll_step *t = &s->r->steps[step];
    for (int k = 0; k < t->write_count; k++) {
        int over = s->r->streams[t->writes[k]].over;
        if (over >= 0 && !may_replace(s, step, over, s->made[step] + rows))
            return false;
    }
    for (int k = 0; k < t->read_count; k++) {
        const tw_roll_read *read = &t->reads[k];
        if (read->stream < 0)
            continue;
        const tw_roll_stream *in = &s->r->streams[read->stream];
        int32_t at = t->accumulates ? s->taken[step] : s->made[step];
        int32_t first = tw_read_first(read, at, TW_ALL_ROWS, in->extent);
        int32_t end = tw_read_needed(read, at + rows, in->extent);
        if (end > first && first < s->base[s->r->streams[read->stream].leader])
            return false;
    }
    return true;
}

/* Rows up to `end` are written: they must lie below what is still needed of the bed, the rows that
 * this very firing reads included. */
static void keep_lead(const tw_roll_state *s, int32_t end, tw_roll_run *run)
{
    const tw_roll_bed *bed = &s->r->bed;
    int32_t needed = bed->extent;
    for (int k = 0; k < bed->reader_count; k++)
        needed = tw_min32(needed, reader_needs(s, &bed->readers[k], bed->extent));
    int64_t lead = end * s->r->streams[bed->stream].row_bytes - needed * bed->row_bytes;
    run->lead = lead > run->lead ? lead : run->lead;
}

static bool fire(tw_roll_state *s, int step, int32_t rows, tw_roll_run *run, int32_t *held)
{
    const tw_roll_step *t = &s->r->steps[step];
    if (!is_safe(s, step, rows))
        return false;
    if (s->r->bed.stream >= 0 && s->r->streams[s->r->bed.stream].producer == step)
        keep_lead(s, s->made[step] + rows, run);
    run->firings++;
    if (s->r->fired)
        s->r->fired(s->r->fired_user, step, t->accumulates ? s->taken[step] : s->made[step], rows);
    if (t->accumulates) {
        s->taken[step] += rows;
        if (s->taken[step] == t->extent)
            s->made[step] = TW_ALL_ROWS;
    } else {
        s->made[step] += rows;
    }
    for (int k = 0; held && k < t->write_count; k++) {
        int32_t end = tw_min32(s->made[step], s->r->streams[t->writes[k]].extent);
        int32_t base = s->base[s->r->streams[t->writes[k]].leader];
        held[t->writes[k]] = tw_max32(held[t->writes[k]], end - base);
    }
    release_all(s, step, run);
    return true;
}

static int last_reader(const tw_roll_stream *stream)
{
    return stream->reader_count ? stream->readers[stream->reader_count - 1].step : -1;
}

/* After step i moved: it, what reads its results, and steps before it may be able to fire. */
static void look_from(tw_roll_state *s, int step)
{
    const tw_roll_step *t = &s->r->steps[step];
    s->highest = step;
    for (int k = 0; k < t->write_count; k++) {
        const tw_roll_stream *out = &s->r->streams[t->writes[k]];
        s->highest = tw_max32(s->highest, last_reader(out));
        wake_readers(s, out);
    }
}

static bool is_complete(const tw_roll_state *s)
{
    for (int i = 0; i < s->r->step_count; i++) {
        const tw_roll_step *t = &s->r->steps[i];
        bool done = t->accumulates ? s->made[i] > 0 : s->made[i] >= t->extent;
        if (!done && out_extent(s->r, i) != 0)
            return false;
    }
    return true;
}

/* The source lets rows in: 1 it moved, -1 it cannot. */
static int advance_source(tw_roll_state *s, int32_t *held)
{
    const tw_roll *r = s->r;
    for (int i = 0; i < r->stream_count; i++) {
        const tw_roll_stream *in = &r->streams[i];
        if (in->producer >= 0 || s->arrived[i] >= in->extent + 65536)
            continue;
        int32_t present = tw_min32(s->arrived[i], in->extent) - s->base[i];
        int32_t space = in->whole || s->arrived[i] >= in->extent ? TW_ALL_ROWS : in->rows - present;
        int32_t left = s->arrived[i] < in->extent ? in->extent - s->arrived[i] : TW_ALL_ROWS;
        int32_t rows = tw_min32(tw_min32(r->source_band, left), space);
        rows -= rows % in->width;
        if (rows <= 0)
            return -1;
        s->arrived[i] += rows;
        s->highest = last_reader(in);
        wake_readers(s, in);
        if (held)
            held[i] = tw_max32(held[i], tw_min32(s->arrived[i], in->extent) - s->base[i]);
        return 1;
    }
    return -1;
}

/* One turn of the rule: 1 moved, 0 complete, -1 stuck. */
static int turn(tw_roll_state *s, tw_roll_run *run, int32_t *held)
{
    for (int i = s->highest; i >= 0; i--) {
        int32_t allowed, rows = s->waits[i] ? -1 : rows_to_fire(s, i, &allowed);
        s->waits[i] = rows < 0;
        if (rows < 0)
            continue;
        look_from(s, i);
        if (rows > 0 || s->r->steps[i].accumulates)
            return fire(s, i, rows, run, held) ? 1 : -1;
        s->made[i] = allowed;
        return 1;
    }
    s->highest = -1;
    return is_complete(s) ? 0 : advance_source(s, held);
}

bool tw_roll_simulate(const tw_roll *r, tw_roll_run *run, int32_t *held, tw_arena *arena)
{
    size_t steps = (size_t)r->step_count, streams = (size_t)r->stream_count;
    tw_roll_state s = {.r = r, .highest = r->step_count - 1};
    (void)arena;
    tw_arena *own = tw_arena_new();
    s.made = tw_alloc_array(own, steps, sizeof(int32_t));
    s.taken = tw_alloc_array(own, steps, sizeof(int32_t));
    s.base = tw_alloc_array(own, streams, sizeof(int32_t));
    s.arrived = tw_alloc_array(own, streams, sizeof(int32_t));
    s.waits = tw_alloc_array(own, steps, sizeof(bool));
    *run = (tw_roll_run){0};
    if (held)
        memset(held, 0, sizeof *held * streams);
    int moved;
    do
        moved = turn(&s, run, held);
    while (moved > 0);
    tw_arena_free(own);
    return moved == 0;
}

/* ---- tightening ---- */

static void set_rows(tw_roll *r, int leader, int32_t rows)
{
    for (int i = 0; i < r->stream_count; i++)
        if (r->streams[i].leader == leader)
            r->streams[i].rows = rows;
}

static bool completes_with(tw_roll *r, int leader, int32_t rows, int64_t firings, tw_arena *arena)
{
    tw_roll_run trial;
    set_rows(r, leader, rows);
    return tw_roll_simulate(r, &trial, NULL, arena) && trial.firings <= firings;
}

/* The fewest rows of one window with which the segment completes, in so many firings. Most windows are as small as they go
 * already: steps down from there, of growing length, then halves what is left. */
static int32_t fewest_rows(tw_roll *r, int leader, int64_t firings, tw_arena *arena)
{
    int32_t low = 1, high = r->streams[leader].rows, step = 1; /* high works */
    while (low < high) {
        int32_t rows = step > 0 ? tw_max32(high - step, low) : (low + high) / 2;
        if (completes_with(r, leader, rows, firings, arena)) {
            high = rows;
            step *= 2;
        } else {
            low = rows + 1;
            step = 0;
        }
    }
    return high;
}

/* As many rows as lie in the bytes that these are given: rows may be single elements. */
static int32_t fill_up(const tw_roll_stream *stream, int32_t rows)
{
    const int64_t bytes =
        (stream->row_bytes * rows + TW_PLAN_ALIGN - 1) / TW_PLAN_ALIGN * TW_PLAN_ALIGN;
    return stream->row_bytes > 0
               ? (int32_t)tw_min32((int32_t)(bytes / stream->row_bytes), stream->extent)
               : rows;
}

bool tw_roll_tighten(tw_roll *r, tw_roll_run *run, tw_arena *arena)
{
    size_t streams = (size_t)r->stream_count + 1;
    int32_t *held = tw_alloc_array(arena, streams, sizeof *held);
    if (!tw_roll_simulate(r, run, NULL, arena)) {
        /* The closed form was too small somewhere: let everything run free and see what it holds. */
        for (int i = 0; i < r->stream_count; i++)
            r->streams[i].rows = r->streams[i].extent;
        if (!tw_roll_simulate(r, run, held, arena))
            return false;
        for (int i = 0; i < r->stream_count; i++)
            if (r->streams[i].over < 0 && !r->streams[i].whole)
                r->streams[i].rows = tw_max32(held[i], 1);
        for (int i = 0; i < r->stream_count; i++)
            r->streams[i].rows = tw_max32(r->streams[r->streams[i].leader].rows, 1);
        if (!tw_roll_simulate(r, run, held, arena))
            return false;
    }
    const int64_t firings = r->keeps_calls ? run->firings : INT64_MAX;
    bool *done = tw_alloc_array(arena, streams, sizeof *done);
    for (int i = 0; i < r->stream_count; i++) /* what is summed up comes all at once */
        done[i] = r->streams[i].producer >= 0 && r->steps[r->streams[i].producer].accumulates;
    for (int n = 0; n < r->stream_count; n++) {
        int costly = -1; /* the stream of the widest rows not yet tried */
        for (int i = 0; i < r->stream_count; i++)
            if (!done[i] && !r->streams[i].whole && r->streams[i].over < 0 &&
                (costly < 0 || r->streams[i].row_bytes > r->streams[costly].row_bytes))
                costly = i;
        if (costly < 0)
            break;
        done[costly] = true;
        if (r->quick && r->streams[costly].exact)
            continue;
        set_rows(r, costly, fill_up(&r->streams[costly], fewest_rows(r, costly, firings, arena)));
    }
    return tw_roll_simulate(r, run, NULL, arena);
}
