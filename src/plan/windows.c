/* Closed forms: how many rows of a stream a rolling segment keeps. In: a segment's rows (plan/roll.h).
 * Out: the height of one window. What is exact is said so; the rest is put right by simulation. */
#include <string.h>

#include "plan/roll.h"
#include "plan/roll_rows.h"

/* ---- one reader ---- */

/* Pixels a firing of the reader needs, at most. A source's come by whole rows. */
static int32_t single_window_of_pixels(const tw_roll_step *s, const tw_roll_read *read,
                                       const tw_roll_stream *stream)
{
    const int32_t edge = 16; /* rows looked at at either end; the middle repeats */
    const int32_t rows = s->extent / s->width;
    int32_t most = 1;
    for (int32_t row = 0; row < rows; row++) {
        if (row == edge && rows > 2 * edge)
            row = rows - edge;
        for (int32_t column = 0; column < s->width; column += s->band) {
            int32_t made = row * s->width + column;
            int32_t end = made + tw_min32(s->band, s->width - column);
            end = tw_read_needed(read, end, stream->extent);
            end = (end + stream->width - 1) / stream->width * stream->width;
            int32_t first = tw_read_first(read, made, s->extent, stream->extent);
            most = tw_max32(most, end - tw_min32(first, end));
        }
    }
    return most;
}

/* What a firing of the reader needs, at most. */
static int32_t single_window(const tw_roll *r, const tw_roll_reader *reader,
                             const tw_roll_stream *stream)
{
    const tw_roll_step *s = &r->steps[reader->step];
    const int32_t extent = stream->extent;
    int32_t most = 1;
    if (r->columns)
        return single_window_of_pixels(s, reader->read, stream);
    for (int32_t m = 0; m < s->extent; m++) {
        int32_t end = tw_read_needed(reader->read, tw_min32(m + s->band, s->extent), extent);
        int32_t first = tw_read_first(reader->read, m, s->extent, extent);
        most = tw_max32(most, end - tw_min32(first, end));
        if (m == 2 * s->band + 64 && s->extent - m > 2 * s->band + 64)
            m = s->extent - s->band - 64; /* the middle repeats */
    }
    return most;
}

/* ---- paths meet: two plain schedules ---- */

/* A step whose results nobody in the segment reads, or that are read after it. */
static bool is_sink(const tw_roll *r, int step)
{
    bool read = false;
    for (int k = 0; k < r->steps[step].write_count; k++) {
        const tw_roll_stream *out = &r->streams[r->steps[step].writes[k]];
        if (out->whole)
            return true;
        read |= out->reader_count > 0;
    }
    return !read;
}

/* As late as possible: rows every step must have made (or taken) when the sinks stand at
 * part/parts. */
static void demands(const tw_roll *r, int64_t part, int64_t parts, int32_t *demand)
{
    memset(demand, 0, sizeof *demand * (size_t)r->step_count);
    for (int i = r->step_count - 1; i >= 0; i--) {
        const tw_roll_step *s = &r->steps[i];
        int32_t want = demand[i]; /* set by its readers, which come later */
        if (s->accumulates && want > 0)
            want = s->extent; /* a reader wants the result: all of the input */
        if (is_sink(r, i))
            want = tw_max32(want, (int32_t)((s->extent * part + parts - 1) / parts));
        demand[i] = want = tw_min32(want, s->extent);
        for (int k = 0; k < s->read_count; k++) {
            int stream = s->reads[k].stream;
            int producer = stream < 0 ? -1 : r->streams[stream].producer;
            if (producer < 0)
                continue;
            int32_t rows = tw_read_needed(&s->reads[k], want, r->streams[stream].extent);
            demand[producer] = tw_max32(demand[producer], rows);
        }
    }
}

/* As soon as possible: rows every step has made (or taken) when part/parts of every input from
 * outside has been let in. Virtual: counts go on past the last row. */
static void supplies(const tw_roll *r, int64_t part, int64_t parts, int32_t *supply)
{
    for (int i = 0; i < r->step_count; i++) {
        const tw_roll_step *s = &r->steps[i];
        int32_t rows = TW_ALL_ROWS;
        for (int k = 0; k < s->read_count; k++) {
            const tw_roll_read *read = &s->reads[k];
            int producer = read->stream < 0 ? -1 : r->streams[read->stream].producer;
            int32_t v = producer >= 0 ? supply[producer]
                                      : (int32_t)((read->extent * part + parts - 1) / parts);
            if (producer >= 0 && r->steps[producer].accumulates)
                v = v >= r->steps[producer].extent ? TW_ALL_ROWS : 0;
            if (read->map.rows == TW_ROWS_MAPPED)
                rows = tw_min32(rows, tw_read_allowed(read, v));
            else if (read->map.rows == TW_ROWS_ACCUMULATED)
                rows = tw_min32(rows, v);
            else if (v < read->extent && read->stream >= 0)
                rows = 0;
        }
        if (s->accumulates)
            rows = tw_min32(rows, s->extent);
        supply[i] = tw_max32(supply[i], rows);
    }
}

/* First row of a stream that any reader still needs when every step stands at `at`. */
static int32_t kept_from(const tw_roll *r, int stream, const int32_t *at)
{
    const tw_roll_stream *s = &r->streams[stream];
    int32_t first = TW_ALL_ROWS;
    for (int k = 0; k < s->reader_count; k++) {
        int step = s->readers[k].step;
        first = tw_min32(
            first, tw_read_first(s->readers[k].read, at[step], r->steps[step].extent, s->extent));
    }
    return first;
}

/* Rows of a stream that are there when every step stands at `at`. */
static int32_t rows_made(const tw_roll *r, int stream, const int32_t *at)
{
    const tw_roll_stream *s = &r->streams[stream];
    int32_t rows = 0;
    if (s->producer >= 0)
        return r->steps[s->producer].accumulates ? s->extent : at[s->producer];
    for (int k = 0; k < s->reader_count; k++)
        rows =
            tw_max32(rows, tw_read_needed(s->readers[k].read, at[s->readers[k].step], s->extent));
    return rows;
}

/* Into how many parts a schedule is cut: the firings of the step that fires most. */
static int64_t parts_of(const tw_roll *r, bool late)
{
    int64_t parts = 1;
    for (int i = 0; i < r->step_count; i++) {
        const tw_roll_step *s = &r->steps[i];
        int32_t band = tw_max32(s->band, 1);
        int64_t firings = (s->extent + band - 1) / band;
        parts = firings > parts ? firings : parts;
        for (int k = 0; !late && k < s->read_count; k++) {
            firings = (s->reads[k].extent + band - 1) / band;
            if (s->reads[k].stream < 0 && s->reads[k].map.rows == TW_ROWS_MAPPED)
                parts = firings > parts ? firings : parts;
        }
    }
    return parts;
}

static void stand(const tw_roll *r, bool late, int64_t part, int64_t parts, int32_t *at)
{
    if (late)
        demands(r, part, parts, at);
    else
        supplies(r, part, parts, at);
}

/* The largest span of rows the window holds over a plain schedule, from what the readers of its
 * streams still need to what has been made. */
static int32_t span_window(const tw_roll *r, int leader, bool late, tw_arena *arena)
{
    const int64_t edge = 300; /* parts looked at at either end; the middle repeats */
    const tw_roll_stream *s = &r->streams[leader];
    int64_t parts = parts_of(r, late);
    int64_t end = late ? parts : 2 * parts; /* past the last row, until everything is flushed */
    int32_t *now = tw_alloc_array(arena, (size_t)r->step_count, sizeof *now);
    int32_t span = 1;
    for (int64_t part = 0; part < end; part++) {
        if (part == edge && parts > 2 * edge)
            stand(r, late, part = parts - edge, parts, now);
        int32_t kept = kept_from(r, leader, now);
        for (int i = s->above; i >= 0; i = r->streams[i].above)
            kept = tw_min32(kept, tw_min32(kept_from(r, i, now), rows_made(r, i, now)));
        stand(r, late, part + 1, parts, now);
        int32_t made = tw_min32(rows_made(r, leader, now), s->extent);
        span = tw_max32(span, made - tw_min32(kept, made));
        if (made == s->extent)
            break;
    }
    return span;
}

int32_t tw_roll_window(const tw_roll *r, int stream, bool *exact)
{
    const tw_roll_stream *s = &r->streams[stream];
    *exact = true;
    if (s->producer >= 0 && r->steps[s->producer].accumulates)
        return s->extent; /* all at once */
    if (s->reader_count == 0)
        return s->producer >= 0 ? tw_min32(r->steps[s->producer].band, s->extent) : 1;
    if (s->reader_count == 1 && s->above < 0)
        return single_window(r, &s->readers[0], s);
    *exact = false;
    tw_arena *arena = tw_arena_new();
    int32_t soon = span_window(r, stream, false, arena), late = span_window(r, stream, true, arena);
    tw_arena_free(arena);
    return tw_min32(soon, late);
}
