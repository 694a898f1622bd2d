/* Rolling execution of one segment, by rows. */
#include "plan/roll.h"

#include <string.h>

#include "runtime/rows.h"

static int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static tw_plan_operand operand_of(const tw_rowmap *m)
{
    return (tw_plan_operand){0, 0, (uint32_t)m->rows, m->num, m->den, m->off, m->off2, 0};
}

/* Rows of the input that are needed to have `rows` output rows (or, accumulating, taken). */
static int32_t rows_needed(const tw_rowmap *m, int32_t rows, int32_t extent)
{
    tw_plan_operand o = operand_of(m);
    if (rows <= 0)
        return 0;
    if (m->rows == TW_ROWS_MAPPED)
        return tw_rows_needed(&o, rows, extent);
    return m->rows == TW_ROWS_ACCUMULATED ? min32(rows, extent) : extent;
}

/* First row of the input still needed when `rows` of `all` have been made (or taken). */
static int32_t first_needed(const tw_rowmap *m, int32_t rows, int32_t all, int32_t extent)
{
    tw_plan_operand o = operand_of(m);
    if (rows >= all)
        return TW_ALL_ROWS;
    if (m->rows == TW_ROWS_MAPPED)
        return tw_rows_first(&o, rows, extent);
    return m->rows == TW_ROWS_ACCUMULATED ? rows : 0;
}

/* The stream whose window this one lives in. */
static int leader_of(const tw_roll *r, int stream)
{
    while (r->streams[stream].over >= 0)
        stream = r->streams[stream].over;
    return stream;
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

/* ---- closed form ---- */

/* Rows every step must have made (or taken) when the sinks stand at part/parts. A step whose results
 * nobody in the segment reads, or that are read after it, is a sink. */
static void demands(const tw_roll *r, int64_t part, int64_t parts, int32_t *demand)
{
    for (int i = r->step_count - 1; i >= 0; i--) {
        const tw_roll_step *s = &r->steps[i];
        int32_t want = demand[i]; /* set by its readers, which come later */
        bool sink = false, read = false;
        for (int k = 0; k < s->write_count; k++)
            sink |= r->streams[s->writes[k]].whole;
        for (int j = i + 1; j < r->step_count && !read; j++)
            for (int k = 0; k < r->steps[j].read_count; k++)
                read |= r->steps[j].reads[k].stream >= 0 &&
                        r->streams[r->steps[j].reads[k].stream].producer == i;
        if (s->accumulates && want > 0)
            want = s->extent; /* a reader wants the result: all of the input */
        if (sink || !read)
            want = max32(want, (int32_t)((s->extent * part + parts - 1) / parts));
        demand[i] = want = min32(want, s->extent);
        for (int k = 0; k < s->read_count; k++) {
            if (s->reads[k].stream < 0)
                continue;
            const tw_roll_stream *in = &r->streams[s->reads[k].stream];
            if (in->producer >= 0) {
                int32_t rows = rows_needed(&s->reads[k].map, want, in->extent);
                demand[in->producer] = max32(demand[in->producer], rows);
            }
        }
    }
}

/* First row of a stream that any reader still needs at these demands. */
static int32_t kept_from(const tw_roll *r, int stream, const int32_t *demand)
{
    int32_t first = TW_ALL_ROWS;
    for (int i = 0; i < r->step_count; i++)
        for (int k = 0; k < r->steps[i].read_count; k++)
            if (r->steps[i].reads[k].stream == stream)
                first = min32(first, first_needed(&r->steps[i].reads[k].map, demand[i],
                                                  r->steps[i].extent, r->streams[stream].extent));
    return first;
}

static int32_t wanted_rows(const tw_roll *r, int stream, const int32_t *demand)
{
    const tw_roll_stream *s = &r->streams[stream];
    int32_t rows = 0;
    if (s->producer >= 0)
        return r->steps[s->producer].accumulates ? s->extent : demand[s->producer];
    for (int i = 0; i < r->step_count; i++)
        for (int k = 0; k < r->steps[i].read_count; k++)
            if (r->steps[i].reads[k].stream == stream)
                rows = max32(rows, rows_needed(&r->steps[i].reads[k].map, demand[i], s->extent));
    return rows;
}

/* The window of a stream that one step reads, once: what a firing needs, at most. */
static int32_t single_window(const tw_roll *r, int step, const tw_roll_read *read)
{
    const tw_roll_step *s = &r->steps[step];
    int32_t extent = r->streams[read->stream].extent, most = 1;
    for (int32_t m = 0; m < s->extent; m++) {
        int32_t end = rows_needed(&read->map, min32(m + s->band, s->extent), extent);
        int32_t first = first_needed(&read->map, m, s->extent, extent);
        most = max32(most, end - min32(first, end));
        if (m == 2 * s->band + 64 && s->extent - m > 2 * s->band + 64)
            m = s->extent - s->band - 64; /* the middle repeats */
    }
    return most;
}

static int reader_count(const tw_roll *r, int stream, int *step, const tw_roll_read **read)
{
    int count = 0;
    for (int i = 0; i < r->step_count; i++)
        for (int k = 0; k < r->steps[i].read_count; k++)
            if (r->steps[i].reads[k].stream == stream) {
                count++;
                *step = i;
                *read = &r->steps[i].reads[k];
            }
    return count;
}

static bool is_overlaid(const tw_roll *r, int stream)
{
    for (int i = 0; i < r->stream_count; i++)
        if (r->streams[i].over == stream)
            return true;
    return false;
}

/* Rows every step has made (or taken) as soon as possible when part/parts of every resident input has
 * been let in. Virtual: counts go on past the last row. */
static void supplies(const tw_roll *r, int64_t part, int64_t parts, int32_t *supply)
{
    for (int i = 0; i < r->step_count; i++) {
        const tw_roll_step *s = &r->steps[i];
        int32_t rows = TW_ALL_ROWS;
        for (int k = 0; k < s->read_count; k++) {
            const tw_roll_read *read = &s->reads[k];
            tw_plan_operand o = operand_of(&read->map);
            int producer = read->stream < 0 ? -1 : r->streams[read->stream].producer;
            int32_t v = producer >= 0 ? supply[producer]
                                      : (int32_t)((read->extent * part + parts - 1) / parts);
            if (producer >= 0 && r->steps[producer].accumulates)
                v = v >= r->steps[producer].extent ? TW_ALL_ROWS : 0;
            if (read->map.rows == TW_ROWS_MAPPED)
                rows = min32(rows, tw_rows_allowed(&o, v));
            else if (read->map.rows == TW_ROWS_ACCUMULATED)
                rows = min32(rows, v);
            else if (v < read->extent)
                rows = 0;
        }
        if (s->accumulates)
            rows = min32(rows, s->extent);
        supply[i] = rows > supply[i] ? rows : supply[i];
    }
}

/* One pass over a plain schedule: the largest span of rows each marked stream holds from what its
 * readers still need to what has been made. */
static void span_windows(const tw_roll *r, const bool *by_span, bool late, int32_t *rows,
                         tw_arena *arena)
{
    int64_t parts = 1, padding = 0;
    size_t steps = (size_t)r->step_count;
    int32_t *now = tw_alloc_array(arena, steps, sizeof *now);
    int32_t *next = tw_alloc_array(arena, steps, sizeof *next);
    int32_t *kept = tw_alloc_array(arena, (size_t)r->stream_count, sizeof *kept);
    for (int i = 0; i < r->step_count; i++) {
        const tw_roll_step *s = &r->steps[i];
        int64_t firings = (s->extent + s->band - 1) / max32(s->band, 1);
        parts = firings > parts ? firings : parts;
        for (int k = 0; !late && k < s->read_count; k++) {
            firings = (s->reads[k].extent + s->band - 1) / max32(s->band, 1);
            if (s->reads[k].stream < 0 && s->reads[k].map.rows == TW_ROWS_MAPPED)
                parts = firings > parts ? firings : parts;
        }
    }
    if (!late)
        padding = parts; /* past the last row, until everything is flushed */
    for (int64_t part = 0; part < parts + padding; part++) {
        bool complete = true;
        if (late) {
            memset(next, 0, sizeof *next * steps);
            demands(r, part + 1, parts, next);
        } else {
            supplies(r, part + 1, parts, next);
        }
        for (int i = 0; i < r->stream_count; i++)
            kept[i] = kept_from(r, i, now);
        for (int i = 0; i < r->stream_count; i++) /* overlays come after what they lie over */
            if (r->streams[i].over >= 0) {
                int l = leader_of(r, i);
                kept[l] = min32(kept[l], min32(kept[i], wanted_rows(r, i, now)));
            }
        for (int i = 0; i < r->stream_count; i++) {
            int32_t end = min32(wanted_rows(r, i, next), r->streams[i].extent);
            if (by_span[i])
                rows[i] = max32(rows[i], end - min32(kept[i], end));
            complete &= end == r->streams[i].extent;
        }
        memcpy(now, next, sizeof *now * steps);
        if (complete)
            break;
    }
}

/* Windows where several readers or an overlay meet. */
static void meet_windows(tw_roll *r, const bool *by_span, tw_arena *arena)
{
    int64_t bytes[2] = {0, 0};
    int32_t *rows[2];
    for (int late = 0; late < 2; late++) {
        rows[late] = tw_alloc_array(arena, (size_t)r->stream_count, sizeof(int32_t));
        span_windows(r, by_span, late, rows[late], arena);
        for (int i = 0; i < r->stream_count; i++)
            bytes[late] += by_span[i] ? rows[late][i] * r->streams[i].row_bytes : 0;
    }
    int best = bytes[1] < bytes[0];
    for (int i = 0; i < r->stream_count; i++)
        if (by_span[i])
            r->streams[i].rows = max32(rows[best][i], 1);
}

bool tw_roll_estimate(tw_roll *r, tw_arena *arena)
{
    bool *by_span = tw_alloc_array(arena, (size_t)r->stream_count + 1, sizeof(bool));
    bool any = false;
    for (int i = 0; i < r->stream_count; i++) {
        tw_roll_stream *s = &r->streams[i];
        int step = 0;
        const tw_roll_read *read = NULL;
        s->rows = s->whole ? s->extent : 1;
        if (s->whole || s->over >= 0)
            continue;
        int readers = reader_count(r, i, &step, &read);
        if (readers == 0)
            s->rows = s->producer >= 0 ? min32(r->steps[s->producer].band, s->extent) : 1;
        else if (readers == 1 && !is_overlaid(r, i))
            s->rows = single_window(r, step, read);
        else
            any = by_span[i] = true;
    }
    if (any)
        meet_windows(r, by_span, arena);
    for (int i = 0; i < r->stream_count; i++)
        if (r->streams[i].over >= 0)
            r->streams[i].rows = r->streams[leader_of(r, i)].rows;
    return !any;
}

/* ---- the runtime's rule ---- */

typedef struct tw_roll_state {
    const tw_roll *r;
    int32_t *made, *taken; /* by step */
    int32_t *base;         /* by stream: first row in the window (of the leader) */
    int32_t *arrived;      /* by stream: rows of a source */
} tw_roll_state;

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
            rows = min32(rows,
                         out->rows - (min32(s->made[step], out->extent) - s->base[t->writes[k]]));
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
        tw_plan_operand o = operand_of(&read->map);
        if (read->map.rows == TW_ROWS_MAPPED)
            *allowed = min32(*allowed, tw_rows_allowed(&o, v));
        else if (read->map.rows == TW_ROWS_ACCUMULATED)
            fresh = min32(fresh, min32(v, extent) - s->taken[step]);
        else if (v < extent)
            *allowed = 0;
    }
    if (t->accumulates) {
        int32_t left = t->extent - s->taken[step];
        if (s->made[step] >= TW_ALL_ROWS || *allowed == 0)
            return -1;
        fresh = min32(fresh, left);
        return fresh > 0 || left == 0 ? min32(fresh, t->band) : -1;
    }
    if (*allowed <= s->made[step])
        return -1;
    if (s->made[step] >= t->extent)
        return 0;
    int32_t rows = min32(min32(*allowed, t->extent) - s->made[step], min32(t->band, room(s, step)));
    return rows > 0 ? rows : -1;
}

static int32_t still_needed(const tw_roll_state *s, int stream)
{
    const tw_roll *r = s->r;
    int32_t first = TW_ALL_ROWS;
    for (int i = 0; i < r->step_count; i++)
        for (int k = 0; k < r->steps[i].read_count; k++)
            if (r->steps[i].reads[k].stream == stream) {
                int32_t at = r->steps[i].accumulates ? s->taken[i] : s->made[i];
                bool done = r->steps[i].accumulates ? s->made[i] > 0 : at >= r->steps[i].extent;
                if (!done)
                    first =
                        min32(first, first_needed(&r->steps[i].reads[k].map, at, r->steps[i].extent,
                                                  r->streams[stream].extent));
            }
    return first;
}

/* Rows of a window that somebody still needs, its overlays' included. */
static void release(tw_roll_state *s, int stream, tw_roll_run *run)
{
    const tw_roll *r = s->r;
    int leader = leader_of(r, stream);
    if (r->streams[leader].whole)
        return;
    int32_t have = min32(available(s, leader), r->streams[leader].extent), keep = have;
    for (int i = 0; i < r->stream_count; i++)
        if (leader_of(r, i) == leader)
            keep = min32(keep, still_needed(s, i));
    if (keep > s->base[leader]) {
        run->moved_bytes += (have - keep) * r->streams[leader].row_bytes;
        s->base[leader] = keep;
    }
}

/* Rows written in place of an input's rows are ones that nobody else still needs. */
static bool may_replace(const tw_roll_state *s, int step, int stream, int32_t end)
{
    const tw_roll *r = s->r;
    for (int i = 0; i < r->step_count; i++)
        for (int k = 0; i != step && k < r->steps[i].read_count; k++) {
            int32_t at = r->steps[i].accumulates ? s->taken[i] : s->made[i];
            if (r->steps[i].reads[k].stream == stream &&
                first_needed(&r->steps[i].reads[k].map, at, r->steps[i].extent,
                             r->streams[stream].extent) < end)
                return false;
        }
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
        int32_t first = first_needed(&read->map, at, TW_ALL_ROWS, in->extent);
        int32_t end = rows_needed(&read->map, at + rows, in->extent);
        if (end > first && first < s->base[leader_of(s->r, read->stream)])
            return false;
    }
    return true;
}

static bool fire(tw_roll_state *s, int step, int32_t rows, tw_roll_run *run, int32_t *held)
{
    const tw_roll_step *t = &s->r->steps[step];
    if (!is_safe(s, step, rows))
        return false;
    run->firings++;
    if (t->accumulates) {
        s->taken[step] += rows;
        if (s->taken[step] == t->extent)
            s->made[step] = TW_ALL_ROWS;
    } else {
        s->made[step] += rows;
    }
    for (int k = 0; held && k < t->write_count; k++) {
        int32_t end = min32(s->made[step], s->r->streams[t->writes[k]].extent);
        int32_t base = s->base[leader_of(s->r, t->writes[k])];
        held[t->writes[k]] = max32(held[t->writes[k]], end - base);
    }
    for (int k = 0; k < t->read_count; k++)
        if (t->reads[k].stream >= 0)
            release(s, t->reads[k].stream, run);
    return true;
}

/* One turn of the rule: 1 moved, 0 complete, -1 stuck. */
static int turn(tw_roll_state *s, tw_roll_run *run, int32_t *held)
{
    const tw_roll *r = s->r;
    bool complete = true;
    for (int i = r->step_count - 1; i >= 0; i--) {
        int32_t allowed, rows = rows_to_fire(s, i, &allowed);
        bool done = r->steps[i].accumulates ? s->made[i] > 0 : s->made[i] >= r->steps[i].extent;
        complete &= done || out_extent(r, i) == 0;
        if (rows > 0 || (rows == 0 && r->steps[i].accumulates))
            return fire(s, i, rows, run, held) ? 1 : -1;
        if (rows == 0) {
            s->made[i] = allowed;
            return 1;
        }
    }
    if (complete)
        return 0;
    for (int i = 0; i < r->stream_count; i++) {
        const tw_roll_stream *in = &r->streams[i];
        if (in->producer >= 0 || s->arrived[i] >= in->extent + 65536)
            continue;
        int32_t space =
            in->whole ? TW_ALL_ROWS : in->rows - (min32(s->arrived[i], in->extent) - s->base[i]);
        int32_t rows = s->arrived[i] < in->extent ? min32(r->source_band, space) : r->source_band;
        if (rows <= 0)
            return -1;
        s->arrived[i] += rows;
        if (held)
            held[i] = max32(held[i], min32(s->arrived[i], in->extent) - s->base[i]);
        return 1;
    }
    return -1;
}

bool tw_roll_simulate(const tw_roll *r, tw_roll_run *run, int32_t *held, tw_arena *arena)
{
    size_t steps = (size_t)r->step_count, streams = (size_t)r->stream_count;
    tw_roll_state s = {r, NULL, NULL, NULL, NULL};
    (void)arena;
    tw_arena *own = tw_arena_new();
    s.made = tw_alloc_array(own, steps, sizeof(int32_t));
    s.taken = tw_alloc_array(own, steps, sizeof(int32_t));
    s.base = tw_alloc_array(own, streams, sizeof(int32_t));
    s.arrived = tw_alloc_array(own, streams, sizeof(int32_t));
    *run = (tw_roll_run){0, 0};
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
        if (leader_of(r, i) == leader)
            r->streams[i].rows = rows;
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
                r->streams[i].rows = max32(held[i], 1);
        for (int i = 0; i < r->stream_count; i++)
            r->streams[i].rows = max32(r->streams[leader_of(r, i)].rows, 1);
        if (!tw_roll_simulate(r, run, held, arena))
            return false;
    }
    bool *done = tw_alloc_array(arena, streams, sizeof *done);
    for (int n = 0; n < r->stream_count; n++) {
        int costly = -1; /* the stream of the widest rows not yet tried */
        for (int i = 0; i < r->stream_count; i++)
            if (!done[i] && !r->streams[i].whole && r->streams[i].over < 0 &&
                (costly < 0 || r->streams[i].row_bytes > r->streams[costly].row_bytes))
                costly = i;
        if (costly < 0)
            break;
        done[costly] = true;
        int32_t low = 1, high = r->streams[costly].rows; /* high works */
        while (low < high) {
            int32_t middle = (low + high) / 2;
            tw_roll_run trial;
            set_rows(r, costly, middle);
            if (tw_roll_simulate(r, &trial, NULL, arena))
                high = middle;
            else
                low = middle + 1;
        }
        set_rows(r, costly, high);
    }
    return tw_roll_simulate(r, run, NULL, arena);
}
